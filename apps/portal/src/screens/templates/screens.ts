import { FileText } from 'lucide-react';
import { screen, textOf } from '../../screen.ts';

export const templateScreens = [
  screen({
    path: '/workspaces/$w/templates',
    load: async () => (await import('./templates.tsx')).Templates,
    place: { in: 'build', name: 'Templates', icon: FileText },
  }),
  screen({
    path: '/workspaces/$w/templates/$t',
    search: (words) => textOf(words, 'channel', 'locale', 'beside'),
    load: async () => (await import('./template.tsx')).Template,
  }),
  screen({
    path: '/workspaces/$w/layouts/$t',
    load: async () => (await import('./shared-text.tsx')).Layout,
  }),
  screen({
    path: '/workspaces/$w/partials/$t',
    load: async () => (await import('./shared-text.tsx')).Partial,
  }),
] as const;
