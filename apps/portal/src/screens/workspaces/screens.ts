import { LayoutGrid } from 'lucide-react';
import { screen, textOf } from '../../screen.ts';

export const workspaceScreens = [
  screen({
    path: '/workspaces/$w/settings',
    docs: '/docs/configuration-workspace',
    load: async () => (await import('./workspace-settings.tsx')).WorkspaceSettings,
    insteadOfAll: '/workspaces',
    action: { name: 'Change the settings of the workspace', isOfOne: true },
  }),
  screen({
    path: '/workspaces',
    docs: '/docs/portal',
    search: (words) => textOf(words, 'new', 'test'),
    load: async () => (await import('./workspaces.tsx')).Workspaces,
    place: { in: 'deployment', name: 'Workspaces', icon: LayoutGrid, isExact: true },
    settings: { group: 'Deployment', name: 'Workspaces', note: 'All that you can see' },
    action: { name: 'New workspace', search: { new: 'yes' } },
  }),
] as const;
