import { planChanges } from '@carillon/configuration';
import { describe, expect, it } from 'vitest';
import { configurationOf, placesOf, withTextOf, type Files } from './support/faults-of-sources.ts';
import { faultsOf, goodFolder, read } from './support/folder.ts';
import { reading } from './support/small-language.ts';

const BUS = 'workspaces/shop/integrations/bus.yaml';
const CHANGES = 'workspaces/shop/streams/changes.yaml';
const REFUNDS = 'workspaces/shop/streams/refunds.yaml';
const SENT = 'workspaces/shop/streams/sent.yaml';
const NOTIFICATION = 'workspaces/shop/notifications/order-paid.yaml';
const RULE = goodFolder[NOTIFICATION] ?? '';
const GOOD: Files = {
  [BUS]: [
    'kind: kafka',
    'brokers: [kafka.example.com:9093]',
    'sasl: { mechanism: scram-sha-512, username: carillon, password: { secret: BUS_PASSWORD } }',
    'tls: { ca: { secret: BUS_CA } }',
    'registry: { url: https://registry.example.com, username: carillon, password: { secret: REGISTRY } }',
    '',
  ].join('\n'),
  [CHANGES]: [
    'format: debezium',
    'from:',
    '  integration: bus',
    '  topics: { app.public.orders: event.id }',
    '  without: [app.public.orders.card_number]',
    '',
  ].join('\n'),
  [REFUNDS]: 'from: { integration: bus, topics: { refunds: event.order.id } }\ntime: event.at\n',
  [SENT]: 'format: debezium\nkey: event.id\nsecurity: { webhook_secret: { secret: DEBEZIUM } }\n',
  [NOTIFICATION]: RULE.replace('stream: orders', 'stream: changes\n    changes: [update]'),
};
const DATABASE = 'kind: postgres\nurl: { secret: SHOP_DB }\n';
const withText = (from: string, to: string): Files => withTextOf(GOOD, from, to);

describe('a Kafka cluster and the streams that read it', () => {
  it('warn of a registry whose password goes over http', () => {
    const { warnings } = read(withText('https://registry.example.com', 'http://registry.example.com'));
    expect(warnings.filter(({ path }) => path.startsWith('registry'))).toMatchObject([
      { path: 'registry.url', message: expect.stringContaining('the password goes over http') as string },
    ]);
  });

  it('read as they are written', () => {
    const { resources, faults } = read(GOOD);
    expect(faults).toEqual([]);
    const bodies = Object.fromEntries(resources.map(({ ref, body }) => [`${ref.kind} ${ref.name}`, body]));
    expect(bodies['integration bus']).toEqual({
      kind: 'kafka',
      brokers: ['kafka.example.com:9093'],
      sasl: { mechanism: 'scram-sha-512', username: 'carillon', password: { secret: 'BUS_PASSWORD' } },
      tls: { ca: { secret: 'BUS_CA' } },
      registry: { url: 'https://registry.example.com', username: 'carillon', password: { secret: 'REGISTRY' } },
    });
    expect(bodies['stream changes']).toEqual({
      format: 'debezium',
      from: {
        integration: 'bus',
        topics: { 'app.public.orders': 'event.id' },
        without: ['app.public.orders.card_number'],
      },
    });
    expect(bodies['stream sent']).toEqual({
      format: 'debezium',
      key: 'event.id',
      security: { webhook_secret: { secret: 'DEBEZIUM' } },
    });
  });

  it('leave out columns of a topic whose name begins with a dot', () => {
    const named = withText('{ app.public.orders', '{ .orders');
    expect(placesOf(withTextOf(named, '[app.public.orders.', '[.orders.'))).toEqual([]);
  });

  it('need TLS in no particular form, and no registry', () => {
    const cluster = (text: string): Files => ({ ...GOOD, [BUS]: `kind: kafka\nbrokers: [10.0.0.4:9092]\n${text}` });
    expect([placesOf(cluster('')), placesOf(cluster('tls: {}\n'))]).toEqual([[], []]);
  });

  it.each([
    // Keys of senders, on a stream that nobody sends to.
    ['time:', 'security: { api_keys: [backend] }\ntime:', 'refunds.yaml:2 security from_and_setting'],
    ['time:', 'key: event.id\ntime:', 'refunds.yaml:2 key from_and_setting'],
    ['time:', 'cors_origins: [https://a.example]\ntime:', 'refunds.yaml:2 cors_origins from_and_setting'],
    ['time:', 'rate: { per_second: 1 }\ntime:', 'refunds.yaml:2 rate from_and_setting'],
    ['time:', 'rate_per_credential: { per_second: 1 }\ntime:', 'refunds.yaml:2 rate_per_credential from_and_setting'],
    // Tables and topics.
    ['topics: { refunds:', 'tables: { public.refunds:', 'refunds.yaml:1 from.integration integration_without_changes'],
    ['refunds: event.order.id', 'refunds: event.§', 'refunds.yaml:1 from.topics.refunds expression_invalid'],
    ['{ refunds: event.order.id }', '{}', 'refunds.yaml:1 from.topics value_invalid'],
    ['{ refunds:', '{ "re funds":', 'refunds.yaml:1 from.topics.re funds name_invalid'],
    ['{ refunds:', '{ carillon.events:', 'refunds.yaml:1 from.topics.carillon.events name_invalid'],
    [', topics: { refunds: event.order.id }', '', 'refunds.yaml:1 from.tables missing'],
    // Columns that are left out.
    ['orders.card_number', 'orders.id', 'changes.yaml:5 from.without[0] column_needed'],
    ['app.public.orders.card_number', 'app.people.name', 'changes.yaml:5 from.without[0] column_unknown'],
    ['app.public.orders.card_number', 'app.public.orders', 'changes.yaml:5 from.without[0] column_unknown'],
    ['event.order.id }', 'event.id }, without: [refunds.card]', 'refunds.yaml:1 from.without without_unused'],
    // What is sent.
    ['key: event.id\n', '', 'sent.yaml:1 format debezium_without_key'],
    ['format: debezium\nkey', 'key', 'sent.yaml:2 security.webhook_secret webhook_secret_unused'],
    [
      '{ webhook_secret:',
      '{ api_keys: [backend], webhook_secret:',
      'sent.yaml:3 security.webhook_secret security_twice',
    ],
    ['format: debezium\nkey', 'format: avro\nkey', 'sent.yaml:1 format value_invalid'],
    // Secrets and addresses.
    ['{ secret: DEBEZIUM }', 'canary', 'sent.yaml:3 security.webhook_secret secret_written_out'],
    ['{ secret: BUS_PASSWORD }', 'canary', 'bus.yaml:3 sasl.password secret_written_out'],
    ['{ secret: BUS_CA }', 'canary', 'bus.yaml:4 tls.ca secret_written_out'],
    ['https://registry', 'https://carillon:canary@registry', 'bus.yaml:5 registry.url value_invalid'],
    ['kafka.example.com:9093', 'kafka.example.com', 'bus.yaml:2 brokers[0] value_invalid'],
  ])('refuses %j as %j', (from, to, expected) => {
    expect(placesOf(withText(from, to))).toEqual([expected]);
  });

  it('refuses topics of an integration that has none', () => {
    const lookup = 'kind: lookup\nurl: https://a.example\nauthorization: { key: { secret: A } }\n';
    const refused = [
      'changes.yaml:3 from.integration integration_without_topics',
      'refunds.yaml:1 from.integration integration_without_topics',
    ];
    expect(placesOf({ ...GOOD, [BUS]: lookup })).toEqual(refused);
    expect(placesOf({ ...GOOD, [BUS]: DATABASE })).toEqual(refused);
    expect(faultsOf({ ...GOOD, [BUS]: DATABASE })[0]).toMatchObject({
      message: 'bus has no topics',
      fix: 'name a Kafka cluster, or write tables in place of topics',
    });
  });

  it('refuses tables beside topics, and Debezium for tables', () => {
    const shop = { ...GOOD, 'workspaces/shop/integrations/shop-db.yaml': DATABASE };
    const tables = 'tables: { public.orders: event.id }';
    expect(
      placesOf({ ...shop, [REFUNDS]: `from: { integration: bus, ${tables}, topics: { refunds: event.id } }\n` }),
    ).toEqual([
      'refunds.yaml:1 from.integration integration_without_changes',
      'refunds.yaml:1 from.topics tables_and_topics',
    ]);
    expect(placesOf({ ...shop, [REFUNDS]: `format: debezium\nfrom: { integration: shop-db, ${tables} }\n` })).toEqual([
      'refunds.yaml:1 format debezium_and_tables',
    ]);
  });

  it('refuses a signature on the stream that a rule has for itself', () => {
    const text = RULE.replace('    stream: orders\n', '');
    expect(placesOf({ [NOTIFICATION]: `security: { webhook_secret: { secret: A } }\n${text}` })).toEqual([
      'order-paid.yaml:1 security.webhook_secret unknown_setting',
    ]);
  });

  it('reports all mistakes at once', () => {
    const text = [
      'format: debezium',
      'from:',
      '  integration: nobody',
      '  topics: { orders: event.id, lines: event.§ }',
      '  without: [orders.id, people.name]',
      'key: event.id',
      'security: { webhook_secret: { secret: A } }',
      '',
    ].join('\n');
    expect(placesOf({ ...GOOD, [CHANGES]: text })).toEqual([
      'changes.yaml:3 from.integration reference_unknown',
      'changes.yaml:4 from.topics.lines expression_invalid',
      'changes.yaml:5 from.without[0] column_needed',
      'changes.yaml:5 from.without[1] column_unknown',
      'changes.yaml:6 key from_and_setting',
      'changes.yaml:7 security from_and_setting',
    ]);
  });
});

describe('the names of changes', () => {
  const ruleOn = (stream: string): Files => ({
    ...GOOD,
    [NOTIFICATION]: RULE.replace('stream: orders', `stream: ${stream}`).replace(
      'when: event.status == "paid"',
      'when: changedTo(event.status, "paid") && previous.status == "open" && op == "update"',
    ),
  });

  it('are known on streams of Debezium, read and sent', () => {
    expect([placesOf(ruleOn('changes')), placesOf(ruleOn('sent'))]).toEqual([[], []]);
  });

  it('are refused on a stream of JSON topics', () => {
    expect(placesOf(ruleOn('refunds'))).toEqual([expect.stringMatching(/rules\.paid\.when not_a_change$/)]);
    const chosen = RULE.replace('stream: orders', 'stream: refunds\n    changes: [update]');
    expect(placesOf({ ...GOOD, [NOTIFICATION]: chosen })).toEqual([
      'order-paid.yaml:6 rules.paid.changes changes_unused',
    ]);
  });
});

describe('a plan', () => {
  const before = configurationOf(read(GOOD).resources);
  const faults = (files: Files) =>
    planChanges(before, read(files).resources, {
      ...reading,
      prune: false,
      newId: (kind) => `${kind}-id`,
    }).faults.map(({ path, code, facts, expected }) => [
      path.join(' '),
      code,
      'what' in facts ? facts.what : null,
      expected,
    ]);

  it('keeps the path of the key of a topic, and the format', () => {
    expect(faults(withText('event.order.id', 'event.id'))).toEqual([
      ['from topics refunds', 'fixed_at_creation', 'key', 'event.order.id'],
    ]);
    expect(faults({ ...GOOD, [REFUNDS]: `format: debezium\n${GOOD[REFUNDS] ?? ''}` })).toEqual([
      ['format', 'fixed_at_creation', 'format', 'format: json'],
    ]);
    expect(faults({ ...GOOD, [REFUNDS]: `format: json\n${GOOD[REFUNDS] ?? ''}` })).toEqual([]);
  });

  it('adds and removes topics and columns', () => {
    expect(faults(withText('{ refunds: event.order.id }', '{ returns: event.id }'))).toEqual([]);
    expect(faults(withText('card_number', 'note'))).toEqual([]);
  });

  it('keeps a stream at its cluster, and apart from tables and senders', () => {
    const other = { ...GOOD, [BUS.replace('bus', 'other')]: GOOD[BUS] ?? '' };
    expect(
      faults({ ...other, [REFUNDS]: (GOOD[REFUNDS] ?? '').replace('integration: bus', 'integration: other') }),
    ).toEqual([['from integration', 'fixed_at_creation', 'integration', 'bus']]);
    const shop = { ...GOOD, 'workspaces/shop/integrations/shop-db.yaml': DATABASE };
    const origin = [['from', 'fixed_at_creation', 'origin', 'a stream that reads topics']];
    const tables = 'from: { integration: shop-db, tables: { public.refunds: event.id } }\ntime: event.at\n';
    expect(faults({ ...shop, [REFUNDS]: tables })).toEqual(origin);
    expect(faults({ ...shop, [REFUNDS]: 'security: { api_keys: [backend] }\ntime: event.at\n' })).toEqual(origin);
  });

  it('refuses to make a database of a cluster whose topics a stream reads', () => {
    const ref = { kind: 'integration', workspace: 'shop', name: 'bus' } as const;
    const desired = [{ ref, body: { kind: 'postgres', url: { secret: 'SHOP_DB' } } }] as const;
    const plan = planChanges(before, desired, { ...reading, prune: false, newId: (kind) => `${kind}-id` });
    expect(plan.faults).toMatchObject([
      { ref, path: ['kind'], code: 'breaks_stream', expected: 'an integration with topics' },
      { ref, path: ['kind'], code: 'breaks_stream', expected: 'an integration with topics' },
    ]);
  });
});
