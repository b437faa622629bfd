import { createRoute, createRouter, redirect, type ParsedLocation } from '@tanstack/react-router';
import { queryClient } from './api/query-client.ts';
import { statusQuery } from './api/status.ts';
import { Frame } from './frame/frame.tsx';
import { EVERY_WORKSPACE, lastWorkspace } from './frame/last-workspace.ts';
import { defaultWorkspace } from './frame/use-workspace.ts';
import { lazyScreen, rootRoute, textOf, under, type Words } from './screen.ts';
import { readDeliverySearch } from './screens/deliveries/delivery-search.ts';
import { MAIN_SCREENS } from './screens/list.ts';
import { settingsIndex, settingsRoute, settingsScreens } from './screens/settings/screens.ts';
import { Unknown } from './screens/start/unknown.tsx';
import { Failed } from './ui/part.tsx';

// These three show the list of screens, so that the list cannot name them.
rootRoute.update({ component: Frame, notFoundComponent: Unknown, errorComponent: Failed });
settingsRoute.update({
  component: lazyScreen(async () => (await import('./screens/settings/settings-frame.tsx')).SettingsFrame),
});
settingsIndex.route.update({
  component: lazyScreen(async () => (await import('./screens/settings/settings.tsx')).Settings),
});

/** The workspace that an address without one means. */
const usual = async (): Promise<string> =>
  queryClient.ensureQueryData(statusQuery).then(
    ({ workspaces }) => defaultWorkspace(workspaces),
    () => lastWorkspace() ?? EVERY_WORKSPACE,
  );

/** An id after `#`, where the pages of earlier versions had it. */
const idIn = ({ hash }: ParsedLocation): string | undefined => (/^[a-z]{3}_[0-9A-Z]+$/.test(hash) ? hash : undefined);

const start = createRoute({
  ...under,
  path: '/',
  beforeLoad: async () => {
    redirect({ to: '/workspaces/$w', params: { w: await usual() }, replace: true, throw: true });
  },
});

/** The address of earlier versions: everything behind the question mark still counts. */
const earlierDeliveries = createRoute({
  ...under,
  path: '/deliveries',
  validateSearch: (words: Words) => ({ ...readDeliverySearch(words), ...textOf(words, 'workspace') }),
  beforeLoad: async ({ search: { workspace: w = EVERY_WORKSPACE, ...search }, location }) => {
    const open = idIn(location);
    if (open?.startsWith('evt_')) {
      redirect({ to: '/workspaces/$w/events/$id', params: { w, id: open }, replace: true, throw: true });
    }
    redirect({
      throw: true,
      to: '/workspaces/$w/deliveries',
      params: { w },
      search: { ...search, ...(open !== undefined && { open }) },
      replace: true,
    });
  },
});

const earlierInbox = createRoute({
  ...under,
  path: '/inbox',
  beforeLoad: async ({ location }) => {
    const open = idIn(location);
    redirect({
      throw: true,
      to: '/workspaces/$w/inbox',
      params: { w: open === undefined ? await usual() : EVERY_WORKSPACE },
      search: open === undefined ? {} : { open },
      replace: true,
    });
  },
});

/** The address of the group leads to its first screen. */
const identity = createRoute({
  getParentRoute: () => settingsRoute,
  path: 'identity',
  validateSearch: (words: Words) => textOf(words, 'workspace'),
  beforeLoad: ({ location, search }) => {
    if (location.pathname !== '/settings/identity') return;
    redirect({ to: '/settings/identity/api-keys', search, replace: true, throw: true });
  },
});

const workspacesInSettings = createRoute({
  getParentRoute: () => settingsRoute,
  path: 'workspaces',
  beforeLoad: () => {
    redirect({ to: '/workspaces', replace: true, throw: true });
  },
});

type RoutesOf<Screens extends readonly { readonly route: unknown }[]> = {
  readonly [At in keyof Screens]: Screens[At]['route'];
};
const routesOf = <const Screens extends readonly { readonly route: unknown }[]>(screens: Screens): RoutesOf<Screens> =>
  screens.map(({ route }) => route) as unknown as RoutesOf<Screens>;

/** Text stays text: an id of digits is no number. */
const parseSearch = (search: string): Record<string, string> => Object.fromEntries(new URLSearchParams(search));
function stringifySearch(search: Words): string {
  const words = new URLSearchParams();
  for (const [name, value] of Object.entries(search))
    if (typeof value === 'string' && value !== '') words.set(name, value);
  return words.size === 0 ? '' : `?${words}`;
}

export const router = createRouter({
  routeTree: rootRoute.addChildren([
    start,
    earlierDeliveries,
    earlierInbox,
    ...routesOf(MAIN_SCREENS),
    settingsRoute.addChildren([settingsIndex.route, identity, workspacesInSettings, ...routesOf(settingsScreens)]),
  ]),
  parseSearch,
  stringifySearch,
  defaultPreload: 'intent',
  // Replaces only the screen; the frame stays.
  defaultErrorComponent: Failed,
});

declare module '@tanstack/react-router' {
  interface Register {
    readonly router: typeof router;
  }
}
