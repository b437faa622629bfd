import { screen, textOf } from '../../screen.ts';

export const promoteScreens = [
  screen({
    path: '/workspaces/$w/promote',
    docs: '/docs/test-environments',
    search: (words) => textOf(words, 'n'),
    load: async () => (await import('./promote.tsx')).Promote,
    action: { name: 'Promote a test environment', isOfOne: true },
  }),
  screen({
    path: '/workspaces/$w/copy',
    docs: '/docs/test-environments',
    load: async () => (await import('./copy.tsx')).Copy,
  }),
] as const;
