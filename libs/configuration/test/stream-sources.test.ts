import { planChanges, type WantedResource } from '@carillon/configuration';
import { describe, expect, it } from 'vitest';
import { configurationOf, placesOf, withTextOf, type Files } from './support/faults-of-sources.ts';
import { faultsOf, goodFolder, read } from './support/folder.ts';
import { reading } from './support/small-language.ts';

const DATABASE = 'workspaces/shop/integrations/shop-db.yaml';
const STREAM = 'workspaces/shop/streams/changes.yaml';
const NOTIFICATION = 'workspaces/shop/notifications/order-paid.yaml';
const GOOD: Files = {
  [DATABASE]: 'kind: postgres\nurl: { secret: SHOP_DB }\ntls: { ca: { secret: SHOP_CA } }\n',
  [STREAM]: [
    'from:',
    '  integration: shop-db',
    '  tables:',
    '    public.orders: event.id',
    '    public.payments: event.order_id',
    '  without: [public.orders.card_number]',
    'time: event.updated_at',
    '',
  ].join('\n'),
  [NOTIFICATION]: (goodFolder[NOTIFICATION] ?? '').replace('stream: orders', 'stream: changes\n    changes: [update]'),
};

const withText = (from: string, to: string): Files => withTextOf(GOOD, from, to);

describe('a stream that reads a database', () => {
  it('reads as it is written', () => {
    const { resources, faults } = read(GOOD);
    expect(faults).toEqual([]);
    const bodies = Object.fromEntries(resources.map(({ ref, body }) => [`${ref.kind} ${ref.name}`, body]));
    expect(bodies['stream changes']).toEqual({
      from: {
        integration: 'shop-db',
        tables: { 'public.orders': 'event.id', 'public.payments': 'event.order_id' },
        without: ['public.orders.card_number'],
      },
      time: 'event.updated_at',
    });
    expect(bodies['integration shop-db']).toEqual({
      kind: 'postgres',
      url: { secret: 'SHOP_DB' },
      tls: { ca: { secret: 'SHOP_CA' } },
    });
  });

  it.each([
    ['time:', 'security: { api_keys: [backend] }\ntime:', 'changes.yaml:7 security from_and_setting'],
    ['time:', 'key: event.id\ntime:', 'changes.yaml:7 key from_and_setting'],
    ['time:', 'cors_origins: [https://a.example]\ntime:', 'changes.yaml:7 cors_origins from_and_setting'],
    ['time:', 'rate: { per_second: 1 }\ntime:', 'changes.yaml:7 rate from_and_setting'],
    ['time:', 'rate_per_credential: { per_second: 1 }\ntime:', 'changes.yaml:7 rate_per_credential from_and_setting'],
    ['time:', 'format: debezium\ntime:', 'changes.yaml:7 format debezium_and_tables'],
    ['card_number', 'id', 'changes.yaml:6 from.without[0] column_needed'],
    ['card_number', 'updated_at', 'changes.yaml:6 from.without[0] column_needed'],
    ['public.orders.card_number', 'public.people.name', 'changes.yaml:6 from.without[0] column_unknown'],
    ['public.orders.card_number', 'public.orders', 'changes.yaml:6 from.without[0] column_unknown'],
    ['public.orders.card_number', 'card_number', 'changes.yaml:6 from.without[0] value_invalid'],
    ['public.payments: event.order_id', 'payments: event.order_id', 'changes.yaml:5 from.tables.payments name_invalid'],
    ['public.payments:', 'a.public.payments:', 'changes.yaml:5 from.tables.a.public.payments name_invalid'],
    ['event.order_id', 'event.§', 'changes.yaml:5 from.tables.public.payments expression_invalid'],
    ['integration: shop-db', 'integration: shopdb', 'changes.yaml:2 from.integration reference_unknown'],
    ['url: { secret: SHOP_DB }', 'url: postgres://a:canary@db/shop', 'shop-db.yaml:2 url secret_written_out'],
    ['ca: { secret: SHOP_CA }', 'ca: canary', 'shop-db.yaml:3 tls.ca secret_written_out'],
    ['changes: [update]', 'changes: []', 'order-paid.yaml:6 rules.paid.changes value_invalid'],
    ['changes: [update]', 'changes: [truncate]', 'order-paid.yaml:6 rules.paid.changes[0] value_invalid'],
    ['stream: changes', 'stream: orders', 'order-paid.yaml:6 rules.paid.changes changes_unused'],
  ])('refuses %j as %j', (from, to, expected) => {
    expect(placesOf(withText(from, to))).toEqual([expected]);
  });

  it.each([
    ['when: event.status == "paid"', 'when: changedTo(event.status, "paid") && op == "update"', 'op'],
    ['email: event.customer.email', 'email: source.table', 'source'],
  ])('refuses %j as %j on a stream without changes, with its name', (from, to, name) => {
    const text = goodFolder[NOTIFICATION] ?? '';
    expect(text).toContain(from);
    const files = { [NOTIFICATION]: text.replace(from, to) };
    expect(placesOf(files)).toEqual([expect.stringMatching(/ not_a_change$/)]);
    expect(faultsOf(files)[0]).toMatchObject({
      message: `${name} is known only for changes, and the event stream orders has none`,
      fix: `leave ${name} out, or put the rule on a stream that reads tables or has format: debezium`,
    });
    expect(faultsOf({ ...GOOD, [NOTIFICATION]: (GOOD[NOTIFICATION] ?? '').replace(from, to) })).toEqual([]);
  });

  it('refuses the name of a change in the digest key and in the delay if one of the rules has no changes', () => {
    const text = goodFolder[NOTIFICATION] ?? '';
    const cadence = 'cadence: { digest: { key: source.table, window: { fixed: 1h } }, delay: { until: source.at } }\n';
    const places = placesOf({ [NOTIFICATION]: cadence + text });
    expect(places.filter((place) => place.endsWith(' not_a_change'))).toEqual([
      'order-paid.yaml:1 cadence.digest.key not_a_change',
      'order-paid.yaml:1 cadence.delay.until not_a_change',
    ]);
  });

  it('refuses an integration that is no source', () => {
    const lookup = 'kind: lookup\nurl: https://a.example\nauthorization: { key: { secret: A } }\n';
    expect(placesOf({ ...GOOD, [DATABASE]: lookup })).toEqual([
      'changes.yaml:2 from.integration integration_without_changes',
    ]);
  });

  it('refuses a stream without tables', () => {
    expect(placesOf({ ...GOOD, [STREAM]: 'from: { integration: shop-db, tables: {} }\n' })).toEqual([
      'changes.yaml:1 from.tables value_invalid',
    ]);
  });

  it('refuses a stream with neither security nor from', () => {
    const [fault] = faultsOf({ ...GOOD, [STREAM]: 'time: event.at\n' });
    expect(fault).toMatchObject({ path: 'security', message: 'security is missing', fix: 'add security: …' });
    expect(fault?.expected).toContain('from');
  });

  it('refuses chosen changes on a rule with an address of its own', () => {
    const text = (goodFolder[NOTIFICATION] ?? '').replace('stream: orders', 'changes: [update]');
    expect(placesOf({ [NOTIFICATION]: `security: { api_keys: [backend] }\n${text}` })).toEqual([
      'order-paid.yaml:6 rules.paid.changes changes_unused',
    ]);
  });

  it('reports all mistakes at once', () => {
    const text = [
      'from:',
      '  integration: nobody',
      '  tables: { public.orders: event.id, public.payments: event.§ }',
      '  without: [public.orders.id, public.people.name]',
      'key: event.id',
      'rate: { per_second: 1 }',
      '',
    ].join('\n');
    const expected = [
      'changes.yaml:2 from.integration reference_unknown',
      'changes.yaml:3 from.tables.public.payments expression_invalid',
      'changes.yaml:4 from.without[0] column_needed',
      'changes.yaml:4 from.without[1] column_unknown',
      'changes.yaml:5 key from_and_setting',
      'changes.yaml:6 rate from_and_setting',
    ];
    expect(placesOf({ ...GOOD, [STREAM]: text })).toEqual(expected);
    const unknownKey = placesOf({ ...GOOD, [STREAM]: `${text}kye: event.id\n` });
    expect(unknownKey).toEqual([...expected.slice(1), 'changes.yaml:7 kye unknown_setting']);
  });
});

describe('a plan', () => {
  const before = configurationOf(read(GOOD).resources);
  const plan = (wanted: readonly WantedResource[], prune = false) =>
    planChanges(before, wanted, { ...reading, prune, newId: (kind) => `${kind}-id` });
  const faults = (from: string, to: string) =>
    plan(read(withText(from, to)).resources).faults.map(({ path, code, message }) => [path.join(' '), code, message]);

  it('keeps the path of the key of a table', () => {
    expect(faults('event.order_id', 'event.id')).toEqual([
      [
        'from tables public.payments',
        'fixed_at_creation',
        'the key of the table public.payments cannot change after its creation',
      ],
    ]);
  });

  it('adds and removes tables and columns', () => {
    expect(faults('public.payments: event.order_id', 'public.lines: event.id')).toEqual([]);
    expect(faults('    public.payments: event.order_id\n', '')).toEqual([]);
    expect(faults('card_number', 'note')).toEqual([]);
  });

  it('keeps a stream at its database', () => {
    const other = { ...GOOD, [DATABASE.replace('shop-db', 'other-db')]: GOOD[DATABASE] ?? '' };
    const text = (GOOD[STREAM] ?? '').replace('integration: shop-db', 'integration: other-db');
    expect(plan(read({ ...other, [STREAM]: text }).resources).faults).toMatchObject([
      {
        path: ['from', 'integration'],
        code: 'fixed_at_creation',
        facts: { what: 'integration' },
        expected: 'shop-db',
        fix: 'restore the previous value, or create another stream',
      },
    ]);
  });

  it('keeps a stream that reads a database and another that takes events as they are', () => {
    const posted = read({ ...GOOD, [STREAM]: 'time: event.updated_at\nsecurity: { api_keys: [backend] }\n' });
    expect(plan(posted.resources.filter(({ ref }) => ref.name !== 'order-paid')).faults).toMatchObject([
      { path: ['from'], code: 'fixed_at_creation', facts: { what: 'origin' } },
    ]);
    const orders = 'workspaces/shop/streams/orders.yaml';
    const moved = read({ ...GOOD, [orders]: 'from: { integration: shop-db, tables: { public.orders: event.id } }\n' });
    expect(plan(moved.resources).faults).toMatchObject([
      { path: ['from'], code: 'fixed_at_creation', facts: { what: 'origin' } },
    ]);
  });

  it('refuses to remove an integration that a stream reads', () => {
    const rest = read(GOOD).resources.filter(({ ref }) => ref.name !== 'shop-db');
    expect(plan(rest, true).faults).toMatchObject([
      { ref: { kind: 'stream', name: 'changes' }, path: ['from', 'integration'], code: 'still_needed' },
    ]);
  });

  it('refuses to make something else of an integration that a stream reads', () => {
    const lookup = { kind: 'lookup', url: 'https://a.example', authorization: { key: { secret: 'A' } } } as const;
    const ref = { kind: 'integration', workspace: 'shop', name: 'shop-db' } as const;
    expect(plan([{ ref, body: lookup }]).faults).toMatchObject([
      { ref, path: ['kind'], code: 'breaks_stream', facts: { stream: 'changes' } },
    ]);
  });
});
