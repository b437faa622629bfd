import { createRoute, createRouter, lazyRouteComponent, redirect, type ParsedLocation } from '@tanstack/react-router';
import { queryClient } from './api/query-client.ts';
import { statusQuery } from './api/status.ts';
import { EVERY_WORKSPACE, lastWorkspace } from './frame/last-workspace.ts';
import { defaultWorkspace } from './frame/use-workspace.ts';
import { readDeliverySearch } from './screens/deliveries/delivery-search.ts';
import { rootRoute, textOf, under, type Words } from './root-route.ts';
import { settingsRoutes } from './settings-routes.ts';
import { Failed } from './ui/part.tsx';

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

const workspaces = createRoute({
  ...under,
  path: '/workspaces',
  validateSearch: (words: Words) => textOf(words, 'new', 'test'),
  component: lazyRouteComponent(() => import('./screens/workspaces/workspaces.tsx'), 'Workspaces'),
});
const workspace = createRoute({
  ...under,
  path: '/workspaces/$w',
  validateSearch: (words: Words) => textOf(words, 'last'),
  beforeLoad: ({ params }) => {
    // Numbers are of one workspace; of all of them together there is the list.
    if (params.w === EVERY_WORKSPACE) redirect({ to: '/workspaces/$w/deliveries', params, replace: true, throw: true });
  },
  component: lazyRouteComponent(() => import('./screens/overview/overview.tsx'), 'Overview'),
});
const workspaceSettings = createRoute({
  ...under,
  path: '/workspaces/$w/settings',
  beforeLoad: ({ params }) => {
    // Settings are of one workspace.
    if (params.w === EVERY_WORKSPACE) redirect({ to: '/workspaces', replace: true, throw: true });
  },
  component: lazyRouteComponent(() => import('./screens/workspaces/workspace-settings.tsx'), 'WorkspaceSettings'),
});
const deliveries = createRoute({
  ...under,
  path: '/workspaces/$w/deliveries',
  validateSearch: readDeliverySearch,
  component: lazyRouteComponent(() => import('./screens/deliveries/deliveries.tsx'), 'Deliveries'),
});
const inDoubt = createRoute({
  ...under,
  path: '/workspaces/$w/deliveries/in-doubt',
  validateSearch: (words: Words) => textOf(words, 'open'),
  component: lazyRouteComponent(() => import('./screens/deliveries/in-doubt.tsx'), 'InDoubt'),
});
const deadLetters = createRoute({
  ...under,
  path: '/workspaces/$w/deliveries/dead-letters',
  validateSearch: (words: Words) => textOf(words, 'open', 'redriven'),
  component: lazyRouteComponent(() => import('./screens/deliveries/dead-letters.tsx'), 'DeadLetters'),
});
const receipts = createRoute({
  ...under,
  path: '/workspaces/$w/deliveries/receipts',
  validateSearch: (words: Words) => textOf(words, 'open', 'parked'),
  component: lazyRouteComponent(() => import('./screens/deliveries/receipts.tsx'), 'Receipts'),
});
const suppressions = createRoute({
  ...under,
  path: '/workspaces/$w/suppressions',
  validateSearch: (words: Words) => textOf(words, 'open', 'address', 'channel', 'source'),
  component: lazyRouteComponent(() => import('./screens/left-out/suppressions.tsx'), 'Suppressions'),
});
const optOuts = createRoute({
  ...under,
  path: '/workspaces/$w/opt-outs',
  validateSearch: (words: Words) => textOf(words, 'open', 'person'),
  component: lazyRouteComponent(() => import('./screens/left-out/opt-outs.tsx'), 'OptOuts'),
});
const events = createRoute({
  ...under,
  path: '/workspaces/$w/events',
  component: lazyRouteComponent(() => import('./screens/deliveries/events.tsx'), 'Events'),
});
const event = createRoute({
  ...under,
  path: '/workspaces/$w/events/$id',
  validateSearch: (words: Words) => textOf(words, 'recipient'),
  component: lazyRouteComponent(() => import('./screens/deliveries/event.tsx'), 'EventStory'),
});
const why = createRoute({
  ...under,
  path: '/workspaces/$w/why',
  validateSearch: (words: Words) => textOf(words, 'who', 'notification', 'last', 'from', 'to', 'event'),
  beforeLoad: ({ params }) => {
    // A notification is of one workspace.
    if (params.w === EVERY_WORKSPACE) redirect({ to: '/workspaces', replace: true, throw: true });
  },
  component: lazyRouteComponent(() => import('./screens/why/why.tsx'), 'Why'),
});
const inbox = createRoute({
  ...under,
  path: '/workspaces/$w/inbox',
  validateSearch: (words: Words) => textOf(words, 'open', 'view', 'recipient', 'channel'),
  component: lazyRouteComponent(() => import('./screens/inbox/inbox.tsx'), 'Inbox'),
});
const drafts = createRoute({
  ...under,
  path: '/workspaces/$w/drafts',
  component: lazyRouteComponent(() => import('./screens/drafts/drafts.tsx'), 'Drafts'),
});
const versions = createRoute({
  ...under,
  path: '/workspaces/$w/versions',
  validateSearch: (words: Words) => textOf(words, 'open'),
  beforeLoad: ({ params }) => {
    // A history is of one workspace.
    if (params.w === EVERY_WORKSPACE) redirect({ to: '/workspaces', replace: true, throw: true });
  },
  component: lazyRouteComponent(() => import('./screens/versions/versions.tsx'), 'Versions'),
});
const copy = createRoute({
  ...under,
  path: '/workspaces/$w/copy',
  component: lazyRouteComponent(() => import('./screens/promote/copy.tsx'), 'Copy'),
});
const promote = createRoute({
  ...under,
  path: '/workspaces/$w/promote',
  validateSearch: (words: Words) => textOf(words, 'n'),
  component: lazyRouteComponent(() => import('./screens/promote/promote.tsx'), 'Promote'),
});
const notifications = createRoute({
  ...under,
  path: '/workspaces/$w/notifications',
  validateSearch: (words: Words) => textOf(words, 'new'),
  component: lazyRouteComponent(() => import('./screens/notifications/notifications.tsx'), 'Notifications'),
});
const notification = createRoute({
  ...under,
  path: '/workspaces/$w/notifications/$n',
  component: lazyRouteComponent(() => import('./screens/notifications/overview.tsx'), 'NotificationOverview'),
});
const notificationRules = createRoute({
  ...under,
  path: '/workspaces/$w/notifications/$n/rules',
  component: lazyRouteComponent(() => import('./screens/notifications/rules.tsx'), 'NotificationRules'),
});
const rule = createRoute({
  ...under,
  path: '/workspaces/$w/notifications/$n/rules/$r',
  validateSearch: (words: Words) => textOf(words, 'view', 'event'),
  component: lazyRouteComponent(() => import('./screens/rule/rule.tsx'), 'RuleEditor'),
});
const notificationChannels = createRoute({
  ...under,
  path: '/workspaces/$w/notifications/$n/channels',
  component: lazyRouteComponent(() => import('./screens/notifications/channels.tsx'), 'NotificationChannels'),
});
const notificationCadence = createRoute({
  ...under,
  path: '/workspaces/$w/notifications/$n/cadence',
  component: lazyRouteComponent(() => import('./screens/notifications/cadence.tsx'), 'NotificationCadence'),
});
const notificationSecure = createRoute({
  ...under,
  path: '/workspaces/$w/notifications/$n/secure',
  component: lazyRouteComponent(() => import('./screens/notifications/secure.tsx'), 'NotificationSecure'),
});
const notificationVersions = createRoute({
  ...under,
  path: '/workspaces/$w/notifications/$n/versions',
  validateSearch: (words: Words) => textOf(words, 'from', 'to'),
  component: lazyRouteComponent(() => import('./screens/notifications/versions.tsx'), 'NotificationVersions'),
});
const templates = createRoute({
  ...under,
  path: '/workspaces/$w/templates',
  component: lazyRouteComponent(() => import('./screens/templates/templates.tsx'), 'Templates'),
});
const template = createRoute({
  ...under,
  path: '/workspaces/$w/templates/$t',
  validateSearch: (words: Words) => textOf(words, 'channel', 'locale', 'beside'),
  component: lazyRouteComponent(() => import('./screens/templates/template.tsx'), 'Template'),
});
const layout = createRoute({
  ...under,
  path: '/workspaces/$w/layouts/$t',
  component: lazyRouteComponent(() => import('./screens/templates/shared-text.tsx'), 'Layout'),
});
const partial = createRoute({
  ...under,
  path: '/workspaces/$w/partials/$t',
  component: lazyRouteComponent(() => import('./screens/templates/shared-text.tsx'), 'Partial'),
});
const streams = createRoute({
  ...under,
  path: '/workspaces/$w/streams',
  component: lazyRouteComponent(() => import('./screens/streams/streams.tsx'), 'Streams'),
});
const stream = createRoute({
  ...under,
  path: '/workspaces/$w/streams/$s',
  component: lazyRouteComponent(() => import('./screens/streams/stream.tsx'), 'EventStreamPage'),
});
const integrations = createRoute({
  ...under,
  path: '/workspaces/$w/integrations',
  component: lazyRouteComponent(() => import('./screens/integrations/integrations.tsx'), 'Integrations'),
});
const integration = createRoute({
  ...under,
  path: '/workspaces/$w/integrations/$i',
  component: lazyRouteComponent(() => import('./screens/integrations/integration.tsx'), 'Integration'),
});
const accounts = createRoute({
  ...under,
  path: '/workspaces/$w/accounts',
  component: lazyRouteComponent(() => import('./screens/accounts/accounts.tsx'), 'Accounts'),
});
const account = createRoute({
  ...under,
  path: '/workspaces/$w/accounts/$a',
  component: lazyRouteComponent(() => import('./screens/accounts/account.tsx'), 'Account'),
});
const workspaceCadence = createRoute({
  ...under,
  path: '/workspaces/$w/cadence',
  component: lazyRouteComponent(() => import('./screens/cadence/workspace-cadence.tsx'), 'WorkspaceCadence'),
});
const welcome = createRoute({
  ...under,
  path: '/welcome',
  component: lazyRouteComponent(() => import('./screens/sign-in/welcome.tsx'), 'Welcome'),
});
const invitation = createRoute({
  ...under,
  path: '/invitation',
  component: lazyRouteComponent(() => import('./screens/sign-in/invitation.tsx'), 'Invitation'),
});
const confirm = createRoute({
  ...under,
  path: '/confirm',
  component: lazyRouteComponent(() => import('./screens/sign-in/confirm.tsx'), 'Confirm'),
});
const signIn = createRoute({
  ...under,
  path: '/sign-in',
  component: lazyRouteComponent(() => import('./screens/sign-in/sign-in.tsx'), 'SignIn'),
});

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
    workspaces,
    workspace,
    workspaceSettings,
    deliveries,
    inDoubt,
    deadLetters,
    receipts,
    suppressions,
    optOuts,
    events,
    event,
    why,
    inbox,
    drafts,
    versions,
    promote,
    copy,
    notifications,
    notification,
    notificationRules,
    rule,
    notificationChannels,
    notificationCadence,
    notificationSecure,
    notificationVersions,
    templates,
    template,
    layout,
    partial,
    streams,
    stream,
    integrations,
    integration,
    accounts,
    account,
    workspaceCadence,
    ...settingsRoutes,
    welcome,
    invitation,
    confirm,
    signIn,
  ]),
  parseSearch,
  stringifySearch,
  defaultPreload: 'intent',
  // In the place of the screen: the frame around it stays.
  defaultErrorComponent: Failed,
});

declare module '@tanstack/react-router' {
  interface Register {
    readonly router: typeof router;
  }
}
