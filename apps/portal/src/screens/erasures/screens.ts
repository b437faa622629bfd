import { screen, textOf } from '../../screen.ts';

export const erasureScreens = [
  screen({
    path: '/workspaces/$w/erasures',
    docs: '/docs/erasure',
    search: (words) => textOf(words, 'open'),
    load: async () => (await import('./erasures.tsx')).Erasures,
    insteadOfAll: '/workspaces',
    action: { name: 'Erase a person', isOfOne: true },
    permission: { needs: 'people', of: 'workspace', what: 'the erasures' },
  }),
] as const;
