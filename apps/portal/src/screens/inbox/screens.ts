import { Inbox } from 'lucide-react';
import { keyLine, screen, textOf } from '../../screen.ts';

export const inboxScreens = [
  screen({
    path: '/workspaces/$w/inbox',
    docs: '/docs/channels',
    search: (words) => textOf(words, 'open', 'view', 'recipient', 'channel'),
    load: async () => (await import('./inbox.tsx')).Inbox,
    place: { in: 'main', name: 'Inbox', icon: Inbox, key: 'i' },
    permission: { needs: 'bodies', of: 'workspace', what: 'the messages' },
    keys: [
      {
        title: 'Inbox',
        lines: [keyLine('HTML', 'h'), keyLine('As on a phone', 'p'), keyLine('Text', 't'), keyLine('Source', 's')],
      },
    ],
  }),
] as const;
