import { FileText } from 'lucide-react';
import { screen, textOf } from '../../screen.ts';

export const templateScreens = [
  screen({
    path: '/workspaces/$w/templates',
    docs: '/docs/templates',
    load: async () => (await import('./templates.tsx')).Templates,
    place: { in: 'build', name: 'Templates', icon: FileText },
  }),
  screen({
    path: '/workspaces/$w/templates/$t',
    docs: '/docs/templates',
    search: (words) => textOf(words, 'channel', 'locale', 'beside'),
    load: async () => (await import('./template.tsx')).Template,
  }),
  screen({
    path: '/workspaces/$w/layouts/$t',
    docs: '/docs/layouts',
    load: async () => (await import('./shared-text.tsx')).Layout,
  }),
  screen({
    path: '/workspaces/$w/partials/$t',
    docs: '/docs/layouts',
    load: async () => (await import('./shared-text.tsx')).Partial,
  }),
] as const;
