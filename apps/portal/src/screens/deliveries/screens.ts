import { Send } from 'lucide-react';
import { keyLine, screen, textOf } from '../../screen.ts';
import { readDeliverySearch } from './delivery-search.ts';

export const deliveryScreens = [
  screen({
    path: '/workspaces/$w/deliveries',
    docs: '/docs/portal-deliveries',
    search: readDeliverySearch,
    load: async () => (await import('./deliveries.tsx')).Deliveries,
    place: { in: 'main', name: 'Deliveries', icon: Send, key: 'd' },
    keys: [
      {
        title: 'Deliveries',
        lines: [keyLine('Choose a state', 's'), keyLine('Send the open or chosen messages again', 'R')],
      },
    ],
  }),
  screen({
    path: '/workspaces/$w/deliveries/in-doubt',
    docs: '/docs/doubts-and-dead-letters',
    search: (words) => textOf(words, 'open'),
    load: async () => (await import('./in-doubt.tsx')).InDoubt,
    action: { name: 'Decide messages in doubt' },
    keys: [
      {
        title: 'Deliveries',
        lines: [
          keyLine('In doubt: mark as sent', '1'),
          keyLine('In doubt: mark as not sent', '2'),
          keyLine('In doubt: send again', '3'),
        ],
      },
    ],
  }),
  screen({
    path: '/workspaces/$w/deliveries/dead-letters',
    docs: '/docs/doubts-and-dead-letters',
    search: (words) => textOf(words, 'open', 'redriven'),
    load: async () => (await import('./dead-letters.tsx')).DeadLetters,
    keys: [{ title: 'Dead letters', lines: [keyLine('Redrive the open or chosen records', 'R')] }],
  }),
  screen({
    path: '/workspaces/$w/deliveries/receipts',
    docs: '/docs/unmatched-reports',
    search: (words) => textOf(words, 'open', 'parked'),
    load: async () => (await import('./receipts.tsx')).Receipts,
    permission: { needs: 'bodies', of: 'workspace', what: 'the receipts' },
  }),
  screen({
    path: '/workspaces/$w/events',
    docs: '/docs/why',
    load: async () => (await import('./events.tsx')).Events,
  }),
  screen({
    path: '/workspaces/$w/events/$id',
    docs: '/docs/why',
    search: (words) => textOf(words, 'recipient'),
    load: async () => (await import('./event.tsx')).EventStory,
  }),
] as const;
