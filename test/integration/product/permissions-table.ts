/*
 * Who may do what, written by hand beside the code: a permission that is taken from a route by mistake changes the description of the API
 * together with it, but not this.
 */

type Permission = 'read' | 'bodies' | 'configure' | 'operate' | 'people' | 'audit';
export type Needed = readonly Permission[] | 'self' | 'anybody';

/** What reading and changing need, by the part of the address behind the workspace, or behind `/v1`. */
const PARTS: Readonly<Record<string, readonly [reads: Needed, changes: Needed]>> = {
  configuration: [['configure'], ['configure']],
  promote: [['configure'], ['configure']],
  copy: [['configure'], ['configure']],
  promotions: [['configure'], ['configure']],
  'api-keys': [['read'], ['configure']],
  secrets: [['read'], ['configure']],
  'jwt-providers': [['read'], ['configure']],
  notifications: [['read'], ['configure']],
  rules: [['read'], ['read']],
  templates: [['read'], ['configure']],
  layouts: [['read'], ['configure']],
  partials: [['read'], ['configure']],
  streams: [['read'], ['configure']],
  integrations: [['read'], ['configure']],
  accounts: [['read'], ['configure']],
  settings: [['read'], ['configure']],
  deployment: [['read'], ['configure']],
  workspaces: [['read'], ['configure']],
  versions: [['read'], ['configure']],
  drafts: [['read'], ['configure']],
  '{kind}': [['read'], ['configure']],
  cadence: [['read'], ['read']],
  expressions: [['read'], ['read']],
  events: [['read'], ['operate']],
  deliveries: [['read'], ['operate']],
  dropped: [['read'], ['operate']],
  // How somebody comes along says each page of theirs; what was measured is for owners of the deployment.
  onboarding: [['people'], ['read']],
  'dead-letters': [['read'], ['operate']],
  insights: [['read'], ['operate']],
  sending: [['read'], ['operate']],
  sources: [['read'], ['operate']],
  waiting: [['read'], ['operate']],
  names: [['read'], ['read']],
  overview: [['read'], ['read']],
  why: [['read'], ['read']],
  'why-not': [['read'], ['read']],
  live: [['read'], ['read']],
  runs: [['read'], ['configure', 'operate']],
  jobs: [['read'], ['operate', 'configure', 'people']],
  receipts: [['bodies'], ['operate']],
  suppressions: [['bodies'], ['operate']],
  consents: [['bodies'], ['operate']],
  inbox: [['bodies'], ['operate']],
  audit: [['audit'], ['audit']],
  status: [['read'], ['read']],
  doctor: [['read'], ['configure', 'operate']],
  backup: [['people'], ['people']],
  backups: [['people'], ['people']],
  'master-key': [['people'], ['people']],
  people: [['people'], ['people']],
  erasures: [['people'], ['people']],
  members: [['people'], ['people']],
  tokens: [['people'], ['people']],
  invitations: [['people'], ['people']],
  'owner-links': [['people'], ['people']],
  sessions: ['self', 'self'],
  session: ['self', 'self'],
  me: ['self', 'self'],
  'sign-in': ['anybody', 'anybody'],
};

const WORKSPACE = '/v1/workspaces/{workspace}';
/** What differs from its part: each with the reason that made it so. */
const OWN: Readonly<Record<string, Needed>> = {
  // Forgetting changes what rules do with one entity, not how they are made.
  [`POST ${WORKSPACE}/streams/{name}/entities/{key}/forget`]: ['operate'],
  // Whole events and messages.
  [`GET ${WORKSPACE}/events/{id}/content`]: ['bodies'],
  [`GET ${WORKSPACE}/deliveries/{id}/content`]: ['bodies'],
  // Tries something out, and sends nothing.
  [`POST ${WORKSPACE}/templates/{name}/preview`]: ['read'],
  // Counts those that are named, and changes none.
  [`POST ${WORKSPACE}/deliveries/count`]: ['read'],
  // Looks into a database or a Kafka cluster.
  [`GET ${WORKSPACE}/integrations/{name}/tables`]: ['configure'],
  [`GET ${WORKSPACE}/integrations/{name}/topics`]: ['configure'],
  // Checks of credentials: whoever configures or operates.
  [`POST ${WORKSPACE}/jwt-providers/{name}/check`]: ['configure', 'operate'],
  [`POST ${WORKSPACE}/integrations/{name}/check`]: ['configure', 'operate'],
  [`POST ${WORKSPACE}/accounts/{name}/check`]: ['configure', 'operate'],
  // Takes its keys and members with it.
  [`DELETE ${WORKSPACE}`]: ['people'],
  [`GET ${WORKSPACE}/removal`]: ['people'],
  [`POST ${WORKSPACE}/remove`]: ['people'],
  // Rows of a comparison hold names and addresses.
  [`GET ${WORKSPACE}/runs/{id}/findings`]: ['configure', 'operate'],
  [`GET ${WORKSPACE}/runs/{id}/rows`]: ['configure', 'operate'],
  [`GET ${WORKSPACE}/runs/{id}/rows/export`]: ['bodies'],
  [`GET ${WORKSPACE}/runs/{id}/rows/{slot}`]: ['bodies'],
  [`POST ${WORKSPACE}/runs/{id}/send`]: ['operate'],
  [`POST ${WORKSPACE}/runs/{id}/stop`]: ['operate'],
  // Signing in.
  'POST /v1/session': 'anybody',
  'POST /v1/invitations/look': 'anybody',
  'POST /v1/invitations/accept': 'anybody',
  'POST /v1/mailed-links/open': 'anybody',
};

/** What an operation needs; undefined: nobody has said yet. */
export function neededBy(method: string, path: string): Needed | undefined {
  const own = OWN[`${method} ${path}`];
  if (own !== undefined) return own;
  const rest = path.startsWith(`${WORKSPACE}/`) ? path.slice(WORKSPACE.length + 1) : path.slice('/v1/'.length);
  const [reads, changes] = PARTS[rest.split('/')[0] ?? ''] ?? [];
  return method === 'GET' ? reads : changes;
}

/** Operations that name no workspace, and answer with what of all workspaces whoever asks may see. */
export const ACROSS: readonly string[] = [
  'GET /v1/dead-letters',
  'POST /v1/dead-letters/{id}/redrive',
  'GET /v1/inbox',
  'GET /v1/inbox/{id}',
  'GET /v1/workspaces',
  'GET /v1/overview',
  'GET /v1/names',
  'GET /v1/audit',
  'GET /v1/status',
  'GET /v1/tokens',
  'POST /v1/tokens',
  'DELETE /v1/tokens/{id}',
  'GET /v1/invitations',
  'POST /v1/invitations',
  'DELETE /v1/invitations/{id}',
];
