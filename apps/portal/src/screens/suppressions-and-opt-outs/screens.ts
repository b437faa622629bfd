import { Ban, UserX } from 'lucide-react';
import { screen, textOf } from '../../screen.ts';

export const suppressionAndOptOutScreens = [
  screen({
    path: '/workspaces/$w/suppressions',
    docs: '/docs/suppressions',
    search: (words) => textOf(words, 'open', 'address', 'channel', 'source'),
    load: async () => (await import('./suppressions.tsx')).Suppressions,
    place: { in: 'build', name: 'Suppressions', icon: Ban },
    permission: { needs: 'bodies', of: 'workspace', what: 'the addresses' },
  }),
  screen({
    path: '/workspaces/$w/opt-outs',
    docs: '/docs/consent',
    search: (words) => textOf(words, 'open', 'person'),
    load: async () => (await import('./opt-outs.tsx')).OptOuts,
    place: { in: 'build', name: 'Opt-outs', icon: UserX },
    permission: { needs: 'bodies', of: 'workspace', what: 'the people' },
  }),
] as const;
