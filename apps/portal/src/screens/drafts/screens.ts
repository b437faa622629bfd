import { screen } from '../../screen.ts';

export const draftScreens = [
  screen({
    path: '/workspaces/$w/drafts',
    docs: '/docs/drafts-and-environments',
    load: async () => (await import('./drafts.tsx')).Drafts,
    action: { name: 'Review and publish', isOfOne: true },
  }),
] as const;
