import { KeyRound } from 'lucide-react';
import { screen } from '../../screen.ts';

export const accountScreens = [
  screen({
    path: '/workspaces/$w/accounts',
    docs: '/docs/accounts',
    load: async () => (await import('./accounts.tsx')).Accounts,
    place: { in: 'build', name: 'Accounts', icon: KeyRound },
  }),
  screen({
    path: '/workspaces/$w/accounts/$a',
    docs: '/docs/accounts',
    load: async () => (await import('./account.tsx')).Account,
  }),
] as const;
