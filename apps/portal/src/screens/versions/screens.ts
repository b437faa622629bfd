import { History } from 'lucide-react';
import { keyLine, screen, textOf } from '../../screen.ts';

export const VERSION_KEYS = { title: 'Versions', lines: [keyLine('Older', '['), keyLine('Newer', ']')] };

export const versionScreens = [
  screen({
    path: '/workspaces/$w/versions',
    docs: '/docs/versions',
    search: (words) => textOf(words, 'open'),
    load: async () => (await import('./versions.tsx')).Versions,
    insteadOfAll: '/workspaces',
    place: { in: 'build', name: 'Versions', icon: History },
    keys: [VERSION_KEYS],
  }),
] as const;
