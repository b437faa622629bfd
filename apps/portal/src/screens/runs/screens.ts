import { screen, textOf } from '../../screen.ts';

export const runScreens = [
  screen({
    path: '/workspaces/$w/runs',
    docs: '/docs/replay',
    load: async () => (await import('./runs.tsx')).Runs,
    insteadOfAll: '/workspaces',
    action: { name: 'Comparisons', isOfOne: true },
  }),
  screen({
    path: '/workspaces/$w/runs/$id',
    docs: '/docs/comparison-results',
    search: (words) => textOf(words, 'difference', 'slot', 'rule', 'day', 'open'),
    load: async () => (await import('./run.tsx')).RunPage,
    insteadOfAll: '/workspaces',
  }),
] as const;
