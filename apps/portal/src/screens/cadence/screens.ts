import { Timer } from 'lucide-react';
import { screen } from '../../screen.ts';

export const cadenceScreens = [
  screen({
    path: '/workspaces/$w/cadence',
    docs: '/docs/cadence',
    load: async () => (await import('./workspace-cadence.tsx')).WorkspaceCadence,
    place: { in: 'build', name: 'Cadence', icon: Timer },
  }),
] as const;
