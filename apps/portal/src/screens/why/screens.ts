import { CircleHelp } from 'lucide-react';
import { screen, textOf } from '../../screen.ts';

export const whyScreens = [
  screen({
    path: '/workspaces/$w/why',
    docs: '/docs/why',
    search: (words) => textOf(words, 'who', 'notification', 'last', 'from', 'to', 'event', 'drafts', 'search'),
    load: async () => (await import('./why.tsx')).Why,
    insteadOfAll: '/workspaces',
    place: { in: 'ask', name: 'Why not?', icon: CircleHelp },
    action: { name: 'Ask why somebody was not notified' },
  }),
] as const;
