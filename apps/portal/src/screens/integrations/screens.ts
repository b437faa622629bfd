import { Cable } from 'lucide-react';
import { screen } from '../../screen.ts';

export const integrationScreens = [
  screen({
    path: '/workspaces/$w/integrations',
    load: async () => (await import('./integrations.tsx')).Integrations,
    place: { in: 'build', name: 'Integrations', icon: Cable },
  }),
  screen({
    path: '/workspaces/$w/integrations/$i',
    load: async () => (await import('./integration.tsx')).Integration,
  }),
] as const;
