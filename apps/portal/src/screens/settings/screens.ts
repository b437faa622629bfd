import { createRoute } from '@tanstack/react-router';
import { Settings } from 'lucide-react';
import {
  lazyScreen,
  textOf,
  under,
  type Place,
  type ScreenFacts,
  type ScreenOptions,
  type Words,
} from '../../screen.ts';

/** The frame of the settings; its screens stand below it. */
export const settingsRoute = createRoute({ ...under, path: '/settings' });

/** Declares a screen of the settings, at a path below `/settings`. */
function settingsScreen<const Path extends string, const Facts extends ScreenFacts, Search extends object = {}>({
  path,
  search,
  load,
  ...facts
}: ScreenOptions<Path, Search> & Facts) {
  const route = createRoute({
    getParentRoute: () => settingsRoute,
    path,
    validateSearch: search as (words: Words) => Search,
    component: lazyScreen(load),
    staticData: { permission: facts.permission },
  });
  return { ...facts, path: `/settings/${path}` as const, route };
}

const ofWorkspace = (words: Words) => textOf(words, 'workspace');

/** The page that lists the others. */
export const settingsIndex = {
  path: '/settings',
  place: { in: 'deployment', name: 'Settings', icon: Settings },
  route: createRoute({ getParentRoute: () => settingsRoute, path: '/' }),
} as const satisfies { readonly path: string; readonly place: Place; readonly route: unknown };

export const settingsScreens = [
  settingsScreen({
    path: 'identity/api-keys',
    docs: '/docs/securing-a-stream',
    search: ofWorkspace,
    load: async () => (await import('./identity/api-keys.tsx')).ApiKeys,
    settings: {
      group: 'Identity & Authentication',
      name: 'API Keys',
      note: 'For servers that send events',
    },
  }),
  settingsScreen({
    path: 'identity/jwt-providers',
    docs: '/docs/check-tokens',
    search: (words) => textOf(words, 'workspace', 'open'),
    load: async () => (await import('./identity/jwt-providers.tsx')).JwtProviders,
    settings: {
      group: 'Identity & Authentication',
      name: 'JWT Providers',
      note: 'For apps and browsers that send events',
    },
  }),
  settingsScreen({
    path: 'people',
    docs: '/docs/people',
    search: ofWorkspace,
    load: async () => (await import('./people/people.tsx')).People,
    settings: { group: 'People and access', name: 'People', note: 'Who may do what, and invitations' },
    permission: { needs: 'people', of: 'anywhere', what: 'the people' },
  }),
  settingsScreen({
    path: 'sign-in',
    docs: '/docs/sign-in',
    load: async () => (await import('./sign-in.tsx')).SignInSettings,
    settings: { group: 'People and access', name: 'Sign-in', note: 'Passwords and identity providers' },
    permission: { needs: 'read', of: 'deployment', what: 'how people sign in' },
  }),
  settingsScreen({
    path: 'tokens',
    docs: '/docs/roles',
    load: async () => (await import('./people/tokens.tsx')).Tokens,
    settings: { group: 'People and access', name: 'Tokens', note: 'For programs that call the management API' },
    permission: { needs: 'people', of: 'workspace', what: 'the tokens' },
  }),
  settingsScreen({
    path: 'profile',
    docs: '/docs/your-account',
    load: async () => (await import('./you/profile.tsx')).Profile,
    settings: { group: 'You', name: 'Profile', note: 'Name, address, password, authenticator' },
  }),
  settingsScreen({
    path: 'sessions',
    docs: '/docs/your-account',
    load: async () => (await import('./you/sessions.tsx')).Sessions,
    settings: { group: 'You', name: 'Sessions', note: 'Where you are signed in' },
  }),
  settingsScreen({
    path: 'secrets',
    docs: '/docs/secrets',
    search: ofWorkspace,
    load: async () => (await import('./secrets.tsx')).Secrets,
    settings: { group: 'Deployment', name: 'Secrets', note: 'Passwords of providers, by name and fingerprint' },
  }),
  settingsScreen({
    path: 'audit',
    docs: '/docs/audit',
    search: (words) => textOf(words, 'workspace', 'actor', 'action', 'target', 'from', 'to'),
    load: async () => (await import('./audit.tsx')).Audit,
    settings: {
      group: 'Deployment',
      name: 'Audit',
      note: 'Who did what, and whether a record was changed',
    },
    permission: { needs: 'audit', of: 'workspace', what: 'the audit' },
  }),
] as const;
