/** How an operation is called: what its body and query hold where they are right. */
export type ProperCall = {
  /** As JSON; `{folder}` in it stands for a folder of the test. */
  readonly body?: object;
  readonly csv?: string;
  readonly query?: string;
  /**
   * For what may be changed only by whoever has seen it. `seen`: its `ETag`, or none where nothing is there; `stale`: a
   * number that it never had.
   */
  readonly precondition?: 'seen' | 'stale';
  /** The body is a resource as its file has it: what is wrong with it is told as mistakes of the configuration. */
  readonly ofResource?: true;
  /** The right body is part of another answer, so this call is refused with 400. */
  readonly isRefused?: true;
};
type Calls = Readonly<Record<string, ProperCall>>;

const WORKSPACE = '/v1/workspaces/{workspace}';

const event = JSON.stringify({ order_id: 'A-1', status: 'paid', total: 120, email: 'ada@example.com' });
const NOTIFICATION = {
  name: 'None',
  channels: { email: { template: 'order-paid' } },
  rules: {
    paid: {
      stream: 'orders',
      when: 'event.status == "paid"',
      recipients: { from: 'event', to: { email: 'event.email' }, unique_id: 'event.order_id' },
    },
  },
};

/** One body of each kind of resource that has a name, and the word for asking what writing it would do. */
const KINDS: readonly (readonly [segment: string, asking: 'check' | 'plan', body: object])[] = [
  ['notifications', 'check', NOTIFICATION],
  ['templates', 'check', { email: { subject: 'Hello', from: 'Shop <shop@example.com>', text: 'Hello' } }],
  ['layouts', 'check', { html: '<html><body>{{{body}}}</body></html>' }],
  ['partials', 'check', { text: 'Kind regards' }],
  ['streams', 'check', { key: 'event.order_id', security: { api_keys: ['backend'] } }],
  ['integrations', 'plan', { kind: 'amplitude', authorization: { key: { secret: 'NONE' } } }],
  ['accounts', 'plan', { kind: 'smtp', host: '127.0.0.1', port: 2525, tls: 'none', from: 'Shop <shop@example.com>' }],
  [
    'jwt-providers',
    'plan',
    { issuer: 'https://auth.example.com/', audience: 'shop', jwks_url: 'https://auth.example.com/keys' },
  ],
];

/** A resource at one path, and what is below it. */
function resource(path: string, below: string, asking: 'check' | 'plan', body: object, goes = true): Calls {
  return {
    [`GET ${path}`]: {},
    [`PUT ${path}`]: { body, precondition: 'seen', ofResource: true },
    ...(goes && { [`DELETE ${path}`]: { body: {}, precondition: path === WORKSPACE ? 'stale' : 'seen' } }),
    [`POST ${below}/${asking}`]: { body, ofResource: true },
    [`GET ${below}/versions`]: {},
    [`GET ${below}/versions/{number}`]: {},
    [`GET ${below}/diff`]: { query: 'from=1' },
    [`POST ${below}/rollback`]: { body: { number: 1, check_only: true }, precondition: 'stale' },
  };
}

const draft = (path: string, body: object): Calls => ({
  [`GET ${path}`]: {},
  [`PUT ${path}`]: { body: { body, based_on: null }, precondition: 'seen' },
  [`DELETE ${path}`]: { precondition: 'seen' },
});

const ACCESS: Calls = {
  'POST /v1/session': { body: { word: 'x' } },
  'DELETE /v1/session': {},
  'GET /v1/sessions': { query: 'person=none' },
  'DELETE /v1/sessions': { query: 'person=none' },
  'DELETE /v1/sessions/{id}': {},
  'POST /v1/owner-links': { body: {} },
  'GET /v1/me': {},
  'PUT /v1/me': { body: { name: 'Ada' } },
  'DELETE /v1/me': { body: {} },
  'PUT /v1/me/password': { body: { password: 'correct horse battery staple' } },
  'POST /v1/me/totp': { body: {} },
  'POST /v1/me/totp/confirm': { body: { code: '123456' } },
  'POST /v1/me/totp/remove': { body: {} },
  'POST /v1/me/recovery-codes': { body: {} },
  'GET /v1/sign-in': {},
  'GET /v1/me/identities': {},
  'POST /v1/me/identities': { body: { provider: 'company' } },
  'DELETE /v1/me/identities/{id}': {},
  'GET /v1/people': {},
  'GET /v1/people/{id}': {},
  'PUT /v1/people/{id}': { body: { name: 'Ada' } },
  'DELETE /v1/people/{id}': {},
  'DELETE /v1/people/{id}/credentials': {},
  [`GET ${WORKSPACE}/members`]: {},
  [`PUT ${WORKSPACE}/members/{id}`]: { body: { roles: ['viewer'] } },
  [`DELETE ${WORKSPACE}/members/{id}`]: {},
  'GET /v1/invitations': {},
  'POST /v1/invitations': { body: { email: 'bob@example.com', memberships: [{ workspace: 'shop', role: 'viewer' }] } },
  'DELETE /v1/invitations/{id}': {},
  'POST /v1/mailed-links/open': { body: { word: 'eml_x' } },
  'POST /v1/people/{id}/confirm-address': { body: { email: 'bob@example.com' } },
  'POST /v1/invitations/look': { body: { word: 'inv_x' } },
  'POST /v1/invitations/accept': { body: { word: 'inv_x', name: 'Bob', password: 'correct horse battery staple' } },
  'GET /v1/tokens': {},
  'POST /v1/tokens': { body: { name: 'nightly report', scopes: ['read'] } },
  'DELETE /v1/tokens/{id}': {},
  [`GET ${WORKSPACE}/api-keys`]: {},
  [`POST ${WORKSPACE}/api-keys`]: { body: { name: 'fine' } },
  [`DELETE ${WORKSPACE}/api-keys/{name}`]: {},
  [`POST ${WORKSPACE}/jwt-providers/{name}/check`]: { body: { token: 'a.b.c' } },
};

const SECRETS: Calls = {
  'GET /v1/audit': {},
  [`GET ${WORKSPACE}/audit`]: {},
  'POST /v1/audit/verify': { body: {} },
  'GET /v1/secrets': {},
  'PUT /v1/secrets/{name}': { body: { value: 'b' } },
  'DELETE /v1/secrets/{name}': {},
  [`GET ${WORKSPACE}/secrets`]: {},
  [`PUT ${WORKSPACE}/secrets/{name}`]: { body: { value: 'b' } },
  [`DELETE ${WORKSPACE}/secrets/{name}`]: {},
  'GET /v1/master-key': {},
  'POST /v1/master-key/rotate': { body: {} },
  'POST /v1/master-key/renew-values': { body: {} },
  'POST /v1/master-key/finish': { body: {} },
  'POST /v1/master-key/cancel': { body: {} },
};

const CONFIGURATION: Calls = {
  'POST /v1/configuration/plan': { body: { files: {} } },
  'POST /v1/configuration/apply': { body: { files: {} } },
  'GET /v1/configuration/export': {},
  [`GET ${WORKSPACE}/drafts`]: {},
  [`POST ${WORKSPACE}/drafts/plan`]: { body: {} },
  [`POST ${WORKSPACE}/drafts/publish`]: { body: { drafts: [{ kind: 'notification', name: 'nobody-edits-it' }] } },
  ...draft(`${WORKSPACE}/{kind}/{name}/draft`, NOTIFICATION),
  ...draft(`${WORKSPACE}/settings/draft`, { name: 'Shop' }),
  [`POST ${WORKSPACE}/promote`]: { body: { check_only: true } },
  [`POST ${WORKSPACE}/copy`]: { body: { check_only: true } },
  'GET /v1/workspaces': {},
  [`GET ${WORKSPACE}/versions`]: {},
  ...resource('/v1/deployment', '/v1/deployment', 'check', { public_url: 'https://notify.example.com' }, false),
  ...resource(WORKSPACE, `${WORKSPACE}/settings`, 'check', { name: 'Shop' }),
  ...Object.fromEntries(
    KINDS.flatMap(([segment, asking, body]) => {
      const path = `${WORKSPACE}/${segment}`;
      const calls: Calls = { [`GET ${path}`]: {}, ...resource(`${path}/{name}`, `${path}/{name}`, asking, body) };
      return Object.entries(calls);
    }),
  ),
};

const MESSAGES: Calls = {
  [`GET ${WORKSPACE}/events`]: {},
  [`GET ${WORKSPACE}/events/{id}/trace`]: {},
  [`GET ${WORKSPACE}/events/{id}/content`]: {},
  [`GET ${WORKSPACE}/why`]: { query: 'address=ada@example.com' },
  [`POST ${WORKSPACE}/why-not`]: { body: { who: 'ada@example.com', notification: 'order-paid' } },
  [`GET ${WORKSPACE}/dropped`]: {},
  [`GET ${WORKSPACE}/insights`]: {},
  [`GET ${WORKSPACE}/sending`]: {},
  [`GET ${WORKSPACE}/waiting`]: {},
  [`GET ${WORKSPACE}/sources`]: {},
  [`GET ${WORKSPACE}/sources/{name}`]: {},
  [`POST ${WORKSPACE}/sources/{name}/reset`]: { body: { reason: 'x', from: null } },
  [`GET ${WORKSPACE}/live`]: { query: 'topics=deliveries,events&for=1s' },
  [`GET ${WORKSPACE}/deliveries`]: {},
  [`GET ${WORKSPACE}/deliveries/{id}`]: {},
  [`GET ${WORKSPACE}/deliveries/{id}/trace`]: {},
  [`GET ${WORKSPACE}/deliveries/{id}/content`]: {},
  [`POST ${WORKSPACE}/deliveries/{id}/resend`]: { body: {} },
  [`POST ${WORKSPACE}/deliveries/{id}/cancel`]: { body: {} },
  [`POST ${WORKSPACE}/deliveries/{id}/dismiss`]: { body: { as: 'sent', reason: 'x' } },
  [`GET ${WORKSPACE}/deliveries/count`]: { query: 'action=resend' },
  [`GET ${WORKSPACE}/removal`]: {},
  [`POST ${WORKSPACE}/remove`]: { body: { number: 0 } },
  [`POST ${WORKSPACE}/deliveries/count`]: { body: { action: 'resend', ids: ['dlv_none'] } },
  [`POST ${WORKSPACE}/deliveries/resend`]: { body: { ids: ['dlv_none'] } },
  [`POST ${WORKSPACE}/deliveries/cancel`]: { body: { ids: ['dlv_none'] } },
  [`POST ${WORKSPACE}/deliveries/dismiss`]: { body: { ids: ['dlv_none'], as: 'sent', reason: 'x' } },
  [`GET ${WORKSPACE}/dead-letters/count`]: {},
  [`POST ${WORKSPACE}/dead-letters/redrive`]: { body: { ids: ['ded_none'] } },
  [`POST ${WORKSPACE}/promotions`]: { body: {} },
  [`GET ${WORKSPACE}/runs`]: {},
  [`POST ${WORKSPACE}/runs`]: { body: { drafts: true } },
  [`GET ${WORKSPACE}/runs/{id}`]: {},
  [`GET ${WORKSPACE}/runs/{id}/findings`]: {},
  [`GET ${WORKSPACE}/runs/{id}/rows`]: {},
  [`GET ${WORKSPACE}/runs/{id}/rows/export`]: {},
  [`GET ${WORKSPACE}/runs/{id}/rows/{slot}`]: {},
  [`GET ${WORKSPACE}/runs/{id}/missing`]: {},
  [`POST ${WORKSPACE}/runs/{id}/send`]: { body: { count: 1, checksum: 'c' } },
  [`POST ${WORKSPACE}/runs/{id}/stop`]: { body: {} },
  'POST /v1/backups': { body: { file: '{folder}/job.carillon' } },
  [`GET ${WORKSPACE}/jobs`]: {},
  [`GET ${WORKSPACE}/jobs/{id}`]: {},
  [`POST ${WORKSPACE}/jobs/{id}/cancel`]: { body: {} },
  [`POST ${WORKSPACE}/jobs/{id}/undo`]: { body: {} },
  [`GET ${WORKSPACE}/dead-letters`]: {},
  'GET /v1/dead-letters': {},
  'POST /v1/dead-letters/{id}/redrive': { body: {} },
  [`GET ${WORKSPACE}/receipts`]: { query: 'parked=true' },
  [`GET ${WORKSPACE}/receipts/{id}`]: {},
  [`POST ${WORKSPACE}/receipts/dismiss`]: { body: { ids: ['ddl_7Q0Z4V3M1CSXB6YH2RK9TJW8PD'] } },
  [`POST ${WORKSPACE}/receipts/{id}/dismiss`]: { body: {} },
  [`POST ${WORKSPACE}/receipts/{id}/reopen`]: { body: {} },
  'GET /v1/inbox': {},
  'GET /v1/workspaces/{workspace}/inbox': {},
  'GET /v1/inbox/{id}': {},
};

const PEOPLE_WHO_GET_THEM: Calls = {
  [`GET ${WORKSPACE}/suppressions`]: {},
  [`POST ${WORKSPACE}/suppressions`]: { body: { channel: 'email', address: 'a@example.com' } },
  [`POST ${WORKSPACE}/suppressions/remove`]: { body: { channel: 'email', address: 'a@example.com' } },
  [`POST ${WORKSPACE}/suppressions/count`]: {
    body: { entries: [{ channel: 'email', address: 'a@example.com', source: 'operator' }] },
  },
  [`POST ${WORKSPACE}/suppressions/remove-many`]: {
    body: { entries: [{ channel: 'email', address: 'a@example.com', source: 'operator' }] },
  },
  [`POST ${WORKSPACE}/suppressions/restore`]: { body: { undo: 'x' }, isRefused: true },
  [`POST ${WORKSPACE}/suppressions/import`]: { csv: 'channel,address\nemail,b@example.com\n' },
  [`GET ${WORKSPACE}/suppressions/export`]: {},
  [`GET ${WORKSPACE}/erasures`]: {},
  [`POST ${WORKSPACE}/erasures`]: { body: { person: 'nobody@example.com', reason: 'A letter' } },
  'GET /v1/erasures': {},
  [`GET ${WORKSPACE}/consents`]: {},
  [`GET ${WORKSPACE}/consents/person`]: { query: 'person=ada' },
  [`POST ${WORKSPACE}/consents`]: { body: { person: 'ada', target: 'all', opted_out: true } },
  [`POST ${WORKSPACE}/consents/allow-many`]: { body: { people: ['ada'] } },
  [`POST ${WORKSPACE}/consents/count`]: { body: { people: ['ada'] } },
  [`POST ${WORKSPACE}/consents/import`]: { csv: 'person,target,opted_out\nbob,all,true\n' },
  [`GET ${WORKSPACE}/consents/export`]: {},
  [`GET ${WORKSPACE}/integrations/{name}/cohorts`]: {},
  [`GET ${WORKSPACE}/integrations/{name}/fields`]: {},
  [`GET ${WORKSPACE}/integrations/{name}/waiting`]: {},
  [`GET ${WORKSPACE}/integrations/{name}/tables`]: {},
  [`GET ${WORKSPACE}/integrations/{name}/topics`]: {},
};

const TRYING: Calls = {
  [`GET ${WORKSPACE}/rules/{name}/sample`]: {},
  [`POST ${WORKSPACE}/rules/{name}/test`]: { body: { event } },
  [`POST ${WORKSPACE}/templates/{name}/preview`]: { body: { event } },
  [`GET ${WORKSPACE}/templates/{name}/missing`]: {},
  [`POST ${WORKSPACE}/notifications/{name}/test-send`]: { body: { event, channel: 'email', to: 'a@example.com' } },
  [`POST ${WORKSPACE}/cadence/explain`]: { body: { notification: 'order-paid', person: 'ada' } },
  [`POST ${WORKSPACE}/cadence/simulate`]: { body: { last: '1d' } },
  [`GET ${WORKSPACE}/rules/{name}/waiting`]: {},
  [`GET ${WORKSPACE}/streams/{name}/fields`]: {},
  [`GET ${WORKSPACE}/streams/{name}/entities/{key}`]: {},
  [`POST ${WORKSPACE}/streams/{name}/entities/{key}/forget`]: { body: {} },
  [`POST ${WORKSPACE}/streams/{name}/send`]: { body: { event } },
  [`POST ${WORKSPACE}/expressions/check`]: { body: { source: 'event.total > 100' } },
  [`POST ${WORKSPACE}/accounts/{name}/check`]: { body: {} },
  [`POST ${WORKSPACE}/integrations/{name}/check`]: { body: { user_ids: ['ada'] } },
  'GET /v1/onboarding': {},
  [`POST ${WORKSPACE}/onboarding`]: { body: { step: 'came', seconds: 60, clicks: 3 } },
  'GET /v1/status': {},
  'GET /v1/overview': {},
  'GET /v1/names': { query: 'id=per_0000000000000000000000000A' },
  'POST /v1/doctor': { body: {} },
  'POST /v1/backup': { body: { file: '{folder}/backup.carillon' } },
};

/** Every operation below /v1, by method and path, and how it is called. */
export const OPERATIONS: Calls = {
  ...ACCESS,
  ...SECRETS,
  ...CONFIGURATION,
  ...MESSAGES,
  ...PEOPLE_WHO_GET_THEM,
  ...TRYING,
};
