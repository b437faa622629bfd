import {
  type AccountBody,
  type Configuration,
  type JwtProviderBody,
  type NamedAccount,
  type IntegrationBody,
  type NotificationBody,
  type Resource,
  type ResourceBodies,
  type ResourceKind,
  type RuleBody,
  hasOwnStream,
  resourceKey,
  takesChanges,
} from '@carillon/domain/configuration';
import fc, { type Arbitrary } from 'fast-check';
import { CLUSTER, cluster, DATABASE, database, PROVIDER, secret, security, streamBody } from './stream-bodies.ts';
import { duration, expression, id, name, optional, words } from './texts.ts';

const jwtProvider = fc.record(
  {
    jwks_url: fc.webUrl(),
    issuer: words,
    audience: fc.oneof(words, fc.array(words, { minLength: 1, maxLength: 3 })),
    algorithms: fc.uniqueArray(fc.constantFrom('RS256', 'ES512', 'EdDSA'), { minLength: 1 }),
    token_type: words,
    clock_tolerance: fc.constantFrom('0s', '5m', '600s'),
    max_token_age: duration,
  },
  { requiredKeys: ['jwks_url'] },
) as Arbitrary<JwtProviderBody>;
const sender = fc.constantFrom('a@b.example', 'Shop <shop@b.example>', '"Shop: the one" <shop@b.example>');

const account: Arbitrary<AccountBody> = fc.oneof(
  fc.record({ kind: fc.constant('sandbox' as const), from: sender }, { requiredKeys: ['kind'] }),
  fc.record(
    {
      kind: fc.constant('smtp' as const),
      host: fc.domain(),
      port: fc.integer({ min: 1, max: 65_535 }),
      tls: fc.constantFrom('implicit' as const, 'starttls' as const, 'none' as const),
      user: words,
      password: fc.record({ secret: fc.constant('SMTP_PASSWORD') }),
      from: sender,
      connections: fc.integer({ min: 1, max: 100 }),
    },
    { requiredKeys: ['kind', 'host', 'port', 'from'] },
  ),
);
const textAccount: Arbitrary<AccountBody> = fc.record(
  {
    kind: fc.constant('twilio' as const),
    account_sid: fc.constant('AC0123'),
    auth_token: fc.constant({ secret: 'TWILIO_TOKEN' }),
    api_key: fc.constant({ sid: 'SK01', secret: { secret: 'TWILIO_KEY' } }),
    from: fc.constantFrom('+4915112345678', '12345', 'Shop'),
    allow: fc.constant(['+49', '+43']),
    max_segments: fc.integer({ min: 1, max: 10 }),
    rate: fc.record({ per_second: fc.integer({ min: 1, max: 100 }) }),
  },
  { requiredKeys: ['kind', 'account_sid', 'auth_token', 'from'] },
);
const pushAccount: Arbitrary<AccountBody> = fc.record(
  { kind: fc.constant('fcm' as const), credentials: fc.constant({ secret: 'FCM' }), url: fc.webUrl() },
  { requiredKeys: ['kind', 'credentials'] },
);
/** One, or several by name. */
const accountsOf = (one: Arbitrary<AccountBody>): Arbitrary<AccountBody | readonly NamedAccount[]> =>
  fc.oneof(
    one,
    fc.tuple(one, one).map(([main, spare]): readonly NamedAccount[] => [
      { name: 'main', ...main },
      { name: 'spare', ...spare },
    ]),
  );

const cohortKinds = ['mixpanel', 'amplitude', 'segment', 'generic', 'posthog'] as const;
const cohortIntegration: Arbitrary<IntegrationBody> = fc
  .record({
    kind: fc.constantFrom(...cohortKinds),
    authorization: fc.record({ key: secret, second_key: secret }, { requiredKeys: ['key'] }),
    user_id: fc.constantFrom('email', 'properties.$email', 'User ID'),
    lasts: duration.map(() => '2h'),
  })
  .map(({ kind, authorization, user_id, lasts }): IntegrationBody => {
    if (kind === 'generic') return { kind, authorization, first_sync_lasts: lasts };
    if (kind === 'segment') return { kind, authorization, user_id, first_sync_lasts: lasts, batches: true };
    if (kind === 'amplitude') return { kind, authorization, user_id, first_sync_lasts: lasts };
    if (kind !== 'posthog') return { kind, authorization, user_id };
    const url = 'https://eu.posthog.com';
    return { kind, url, project: '12', authorization, cohorts: ['5', '21'], every: '2h', user_id };
  });

const partner: Arbitrary<IntegrationBody> = fc
  .record(
    {
      kind: fc.constant('lookup' as const),
      url: fc.constantFrom('https://crm.example.com/recipients', 'http://10.0.0.1:8080/a?b=c%20d'),
      authorization: fc.record(
        { scheme: fc.constant('Basic' as const), key: secret, second_key: secret, base64: fc.boolean() },
        { requiredKeys: ['key', 'scheme'] },
      ),
      headers: fc.dictionary(fc.stringMatching(/^X-[A-Z]{1,5}$/), fc.oneof(fc.constant('a: b'), secret), {
        maxKeys: 2,
      }),
      match: fc.constantFrom('variables.user_id', 'user_id'),
      timeouts: fc.record({ connect: fc.constant('2s'), total: fc.constant('20s') }, { requiredKeys: [] }),
    },
    { requiredKeys: ['kind', 'url', 'authorization'] },
  )
  .map((body) => body as IntegrationBody);

const eventRecipients = fc.record(
  {
    from: fc.constant('event' as const),
    for_each: expression,
    to: fc.record({ email: expression, phone: expression }, { requiredKeys: ['email'] }),
    unique_id: expression,
    person: expression,
    variables: fc.dictionary(fc.stringMatching(/^[a-z]{1,6}$/), expression, { maxKeys: 3 }),
    where: expression,
  },
  { requiredKeys: ['from', 'to'] },
);

const lookupRecipients = (integrations: readonly string[], userIds: Arbitrary<string> | null) =>
  fc.record(
    {
      from: fc.constant('lookup' as const),
      integration: fc.constantFrom(...integrations),
      ...(userIds && { user_ids: userIds }),
      unique_id: expression,
      person: expression,
      where: expression,
    },
    { requiredKeys: ['from', 'integration', ...(userIds ? (['user_ids'] as const) : [])] },
  );

type Around = {
  readonly templates: readonly (readonly [template: string, channel: string])[];
  readonly streams: readonly string[];
  /** Those of them whose events are changes. */
  readonly ofChanges: readonly string[];
  readonly partners: readonly string[];
  readonly platforms: readonly string[];
};

/** A rule that a cohort starts; PostHog is asked for the cohort `5`, so that one is there everywhere. */
const cohortRule = ({ partners, platforms }: Around): Arbitrary<RuleBody> =>
  fc.record(
    {
      id: id('rul_'),
      enabled: fc.boolean(),
      when: expression,
      cohort: fc.record(
        {
          integration: fc.constantFrom(...platforms),
          id: fc.constant('5'),
          on: fc.constantFrom('entered', 'left'),
          first_sync: fc.constantFrom('silent', 'notify'),
        },
        { requiredKeys: ['integration', 'id', 'on'] },
      ),
      recipients: lookupRecipients(partners, null),
    },
    { requiredKeys: ['cohort', 'recipients'] },
  ) as Arbitrary<RuleBody>;

const rule = (around: Around): Arbitrary<RuleBody> =>
  around.partners.length > 0 && around.platforms.length > 0
    ? fc.oneof({ arbitrary: streamRule(around), weight: 2 }, { arbitrary: cohortRule(around), weight: 1 })
    : streamRule(around);

const streamRule = ({ streams: shared, ofChanges, partners: integrations }: Around): Arbitrary<RuleBody> =>
  (
    fc.record(
      {
        id: id('rul_'),
        enabled: fc.boolean(),
        when: expression,
        // Streams may be for token holders, and addresses are of any field.
        open_recipients: fc.constant(true),
        recipients:
          integrations.length > 0
            ? fc.oneof(eventRecipients, lookupRecipients(integrations, expression))
            : eventRecipients,
        changes: fc.uniqueArray(fc.constantFrom('create', 'update', 'delete', 'snapshot'), { minLength: 1 }),
        ...(shared.length > 0 && { stream: fc.constantFrom(...shared) }),
      },
      { requiredKeys: ['when', 'open_recipients', 'recipients'] },
    ) as Arbitrary<RuleBody>
  ).map(({ changes, ...body }) =>
    changes !== undefined && body.stream !== undefined && ofChanges.includes(body.stream) ? { ...body, changes } : body,
  );

/** Those of every workspace. */
const CATEGORIES = ['orders', 'news'] as const;

const notification = (around: Around): Arbitrary<NotificationBody> =>
  fc
    .record({
      basis: optional<NotificationBody>({
        id: id('ntf_'),
        name: words,
        category: fc.constantFrom(...CATEGORIES),
        transactional: fc.boolean(),
        enabled: fc.boolean(),
        retry: optional({ attempts: fc.integer({ min: 1, max: 100 }), first: duration, max: duration }),
        expires: duration,
        in_doubt: fc.constantFrom('hold', 'resend', 'drop'),
      } as { [K in keyof NotificationBody]: Arbitrary<NotificationBody[K]> }),
      security,
      template: fc.constantFrom(...around.templates),
      rules: fc.dictionary(name, rule(around), { maxKeys: 3 }),
    })
    .map(({ basis, security: own, template: [template, channel], rules }) => {
      const needed = Object.values(rules).some(hasOwnStream);
      return { ...basis, ...(needed && { security: own }), channels: { [channel]: { template } }, rules };
    });

const email = fc.record(
  {
    subject: words,
    strict: fc.boolean(),
    html: words.map((text) => `<p>\n${text}</p>\n`),
    text: words,
  },
  { requiredKeys: ['subject', 'html'] },
);
const push = fc.record(
  {
    title: words,
    body: words,
    data: fc.dictionary(
      fc.stringMatching(/^[a-z][A-Za-z0-9_.-]{0,8}$/).filter((key) => !/^(from$|google|gcm)/.test(key)),
      words,
    ),
    priority: fc.constantFrom('normal' as const, 'high' as const),
    collapse: words,
    android: fc.constant({ channel: 'orders' }),
    apns: fc.constant({ sound: 'default' }),
    strict: fc.boolean(),
  },
  { requiredKeys: ['title'] },
);
const template = fc.oneof(
  fc.record({ email }),
  fc.record({ email, sms: fc.record({ text: words.map((text) => `${text}\n`) }), push }, { requiredKeys: ['push'] }),
);

/** Whole configurations of one workspace that a folder can hold. */
export const configurations: Arbitrary<Configuration> = fc
  .record({
    deployment: fc.option(
      fc.record(
        {
          accounts: fc.record(
            { email: accountsOf(account), sms: accountsOf(textAccount), push: accountsOf(pushAccount) },
            { requiredKeys: [] },
          ),
        },
        { requiredKeys: [] },
      ),
    ),
    workspace: optional({ name: words, time_zone: fc.constant('Europe/Berlin'), locale: fc.constant('de-AT') }).map(
      (body) => ({ ...body, categories: Object.fromEntries(CATEGORIES.map((category) => [category, {}])) }),
    ),
    streams: fc.dictionary(name, streamBody, { maxKeys: 3 }),
    database,
    cluster,
    templates: fc.dictionary(name, template, { minKeys: 1, maxKeys: 2 }),
    accounts: fc.dictionary(name, fc.oneof(account, textAccount, pushAccount), { maxKeys: 2 }),
    provider: jwtProvider,
    partners: fc.dictionary(name, partner, { maxKeys: 2 }),
    platforms: fc.dictionary(
      name.map((text) => `p-${text}`),
      cohortIntegration,
      { maxKeys: 2 },
    ),
  })
  .chain((around) =>
    fc
      .dictionary(
        name,
        notification({
          templates: Object.entries(around.templates).flatMap(([named, body]) =>
            Object.keys(body).map((channel) => [named, channel] as const),
          ),
          streams: Object.keys(around.streams),
          ofChanges: Object.entries(around.streams).flatMap(([named, body]) => (takesChanges(body) ? [named] : [])),
          partners: Object.keys(around.partners),
          platforms: Object.keys(around.platforms),
        }),
        { maxKeys: 2 },
      )
      .map((notifications) => {
        const resources = new Map<string, Resource>();
        const add = (
          kind: ResourceKind,
          workspace: string,
          named: string,
          body: ResourceBodies[ResourceKind],
        ): void => {
          const ref = { kind, workspace, name: named };
          resources.set(resourceKey(ref), { ref, body, number: 1, version: 1, ruleVersions: {} });
        };
        const addAll = (kind: ResourceKind, bodies: Readonly<Record<string, ResourceBodies[ResourceKind]>>): void => {
          for (const [named, body] of Object.entries(bodies)) add(kind, 'shop', named, body);
        };
        if (around.deployment) add('deployment', '', '', around.deployment);
        add('workspace', 'shop', '', around.workspace);
        addAll('stream', around.streams);
        addAll('template', around.templates);
        addAll('account', around.accounts);
        add('jwt_provider', 'shop', PROVIDER, around.provider);
        add('integration', 'shop', DATABASE, around.database);
        add('integration', 'shop', CLUSTER, around.cluster);
        addAll('integration', { ...around.platforms, ...around.partners });
        addAll('notification', notifications);
        return { number: 1, resources };
      }),
  );
