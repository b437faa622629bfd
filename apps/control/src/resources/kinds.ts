import type { WrittenKind } from '@carillon/configuration';

/** Where the resources of a kind are in the management API, and how they are called. */
export type KindOfResource = {
  readonly kind: WrittenKind;
  /** Name of the kind in sentences, such as `there is no template x`. */
  readonly title: string;
  /** In names of operations and schemas. */
  readonly one: string;
  readonly many: string;
  readonly tag: string;
  /** Path of the list. Null if there is only one resource. */
  readonly listPath: string | null;
  readonly path: string;
  /**
   * Path of the versions and similar subresources. Workspaces use another path, because `versions` below a workspace
   * lists all changes within it.
   */
  readonly below: string;
  /** The address below it that says what writing a body would do. `check` proves credentials where a kind has any. */
  readonly asking: 'check' | 'plan';
  /** Whether it goes with DELETE. */
  readonly goes: boolean;
};

const WITH_CREDENTIALS: ReadonlySet<WrittenKind> = new Set(['integration', 'account', 'jwt_provider']);

const named = (kind: WrittenKind, segment: string, title: string, one: string, tag: string): KindOfResource => {
  const listPath = `/v1/workspaces/:workspace/${segment}`;
  const path = `${listPath}/:name`;
  const asking = WITH_CREDENTIALS.has(kind) ? 'plan' : 'check';
  return { kind, title, one, many: `${one}s`, tag, listPath, path, below: path, asking, goes: true };
};

/** Every kind that people write. */
export const KINDS_OF_RESOURCES: readonly KindOfResource[] = [
  named('notification', 'notifications', 'notification', 'Notification', 'Notifications'),
  named('template', 'templates', 'template', 'Template', 'Templates'),
  named('layout', 'layouts', 'layout', 'Layout', 'Layouts'),
  named('partial', 'partials', 'partial', 'Partial', 'Partials'),
  named('stream', 'streams', 'stream', 'Stream', 'Streams'),
  named('integration', 'integrations', 'integration', 'Integration', 'Integrations'),
  named('account', 'accounts', 'account', 'Account', 'Accounts'),
  named('jwt_provider', 'jwt-providers', 'JWT provider', 'JwtProvider', 'JWT providers'),
  {
    kind: 'workspace',
    title: 'workspace',
    one: 'Workspace',
    many: 'Workspaces',
    tag: 'Workspaces',
    listPath: '/v1/workspaces',
    path: '/v1/workspaces/:workspace',
    below: '/v1/workspaces/:workspace/settings',
    asking: 'check',
    goes: true,
  },
  {
    kind: 'deployment',
    title: 'deployment',
    one: 'Deployment',
    many: 'Deployments',
    tag: 'Deployment',
    listPath: null,
    path: '/v1/deployment',
    below: '/v1/deployment',
    asking: 'check',
    goes: false,
  },
];

/** Returns true for kinds with one resource per workspace or deployment, which have no name. */
export const isUnnamed = (kind: WrittenKind): boolean => kind === 'workspace' || kind === 'deployment';
