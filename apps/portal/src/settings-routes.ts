import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router';
import { textOf, under, type Words } from './root-route.ts';

const settings = createRoute({
  ...under,
  path: '/settings',
  component: lazyRouteComponent(() => import('./screens/settings/settings-frame.tsx'), 'SettingsFrame'),
});
const below = { getParentRoute: () => settings } as const;
const ofWorkspace = (words: Words) => textOf(words, 'workspace');

const index = createRoute({
  ...below,
  path: '/',
  component: lazyRouteComponent(() => import('./screens/settings/settings.tsx'), 'Settings'),
});
const identity = createRoute({
  ...below,
  path: 'identity',
  validateSearch: ofWorkspace,
  beforeLoad: ({ location, search }) => {
    if (location.pathname !== '/settings/identity') return;
    redirect({ to: '/settings/identity/api-keys', search, replace: true, throw: true });
  },
});
const apiKeys = createRoute({
  ...below,
  path: 'identity/api-keys',
  validateSearch: ofWorkspace,
  component: lazyRouteComponent(() => import('./screens/settings/identity/api-keys.tsx'), 'ApiKeys'),
});
const jwtProviders = createRoute({
  ...below,
  path: 'identity/jwt-providers',
  validateSearch: (words: Words) => textOf(words, 'workspace', 'open'),
  component: lazyRouteComponent(() => import('./screens/settings/identity/jwt-providers.tsx'), 'JwtProviders'),
});
const people = createRoute({
  ...below,
  path: 'people',
  validateSearch: ofWorkspace,
  component: lazyRouteComponent(() => import('./screens/settings/people/people.tsx'), 'People'),
});
const tokens = createRoute({
  ...below,
  path: 'tokens',
  component: lazyRouteComponent(() => import('./screens/settings/people/tokens.tsx'), 'Tokens'),
});
const signIn = createRoute({
  ...below,
  path: 'sign-in',
  component: lazyRouteComponent(() => import('./screens/settings/sign-in.tsx'), 'SignInSettings'),
});
const profile = createRoute({
  ...below,
  path: 'profile',
  component: lazyRouteComponent(() => import('./screens/settings/you/profile.tsx'), 'Profile'),
});
const sessions = createRoute({
  ...below,
  path: 'sessions',
  component: lazyRouteComponent(() => import('./screens/settings/you/sessions.tsx'), 'Sessions'),
});
const audit = createRoute({
  ...below,
  path: 'audit',
  validateSearch: (words: Words) => textOf(words, 'workspace', 'actor', 'action', 'target', 'from', 'to'),
  component: lazyRouteComponent(() => import('./screens/settings/audit.tsx'), 'Audit'),
});
const secrets = createRoute({
  ...below,
  path: 'secrets',
  validateSearch: ofWorkspace,
  component: lazyRouteComponent(() => import('./screens/settings/secrets.tsx'), 'Secrets'),
});
/** The portal's design names this address: it leads to the screen at `/workspaces`. */
const workspaces = createRoute({
  ...below,
  path: 'workspaces',
  beforeLoad: () => {
    redirect({ to: '/workspaces', replace: true, throw: true });
  },
});

/** Everything under `/settings`. */
export const settingsRoutes = [
  settings.addChildren([
    index,
    identity,
    apiKeys,
    jwtProviders,
    people,
    tokens,
    signIn,
    profile,
    sessions,
    audit,
    secrets,
    workspaces,
  ]),
] as const;
