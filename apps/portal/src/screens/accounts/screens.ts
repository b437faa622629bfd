import { KeyRound } from 'lucide-react';
import { screen } from '../../screen.ts';

export const accountScreens = [
  screen({
    path: '/workspaces/$w/accounts',
    load: async () => (await import('./accounts.tsx')).Accounts,
    place: { in: 'build', name: 'Accounts', icon: KeyRound },
  }),
  screen({
    path: '/workspaces/$w/accounts/$a',
    load: async () => (await import('./account.tsx')).Account,
  }),
] as const;
