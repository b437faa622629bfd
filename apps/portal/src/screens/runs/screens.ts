import { screen, textOf } from '../../screen.ts';

export const runScreens = [
  screen({
    path: '/workspaces/$w/runs',
    search: (words) => textOf(words, 'open', 'difference', 'slot'),
    load: async () => (await import('./runs.tsx')).Runs,
    insteadOfAll: '/workspaces',
    action: { name: 'Comparisons', isOfOne: true },
  }),
] as const;
