import { Cable } from 'lucide-react';
import { screen } from '../../screen.ts';

export const integrationScreens = [
  screen({
    path: '/workspaces/$w/integrations',
    docs: '/docs/portal-databases',
    load: async () => (await import('./integrations.tsx')).Integrations,
    place: { in: 'build', name: 'Integrations', icon: Cable },
  }),
  screen({
    path: '/workspaces/$w/integrations/$i',
    docs: '/docs/portal-databases',
    load: async () => (await import('./integration.tsx')).Integration,
  }),
] as const;
