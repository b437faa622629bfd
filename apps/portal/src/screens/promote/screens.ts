import { screen, textOf } from '../../screen.ts';

export const promoteScreens = [
  screen({
    path: '/workspaces/$w/promote',
    search: (words) => textOf(words, 'n'),
    load: async () => (await import('./promote.tsx')).Promote,
    action: { name: 'Promote a test environment', isOfOne: true },
  }),
  screen({
    path: '/workspaces/$w/copy',
    load: async () => (await import('./copy.tsx')).Copy,
  }),
] as const;
