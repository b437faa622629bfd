import { Gauge } from 'lucide-react';
import { keyLine, screen, textOf } from '../../screen.ts';

export const overviewScreens = [
  screen({
    path: '/workspaces/$w',
    docs: '/docs/portal',
    search: (words) => textOf(words, 'last'),
    load: async () => (await import('./overview.tsx')).Overview,
    // Its numbers are of one workspace.
    insteadOfAll: '/workspaces/$w/deliveries',
    place: { in: 'main', name: 'Overview', icon: Gauge, key: 'o', isExact: true },
    keys: [{ title: 'Overview', lines: [keyLine('An hour, a day or a week', 'r')] }],
  }),
] as const;
