import { configurationOf, integration, ORDERS, stream } from '@carillon/testing/given';
import { describe, expect, it } from 'vitest';
import { isDatabaseSource, readsSource, sourcesOf, streamTable, takesChanges } from '../../src/configuration/index.ts';

const database = { kind: 'postgres', url: { secret: 'SHOP_DB' } } as const;
const lookup = { kind: 'lookup', url: 'https://crm.example.com', authorization: { key: { secret: 'K' } } } as const;
const configuration = configurationOf([
  integration('crm', lookup),
  integration('shop-db', database),
  integration('unread', database),
  integration('shop-db', database, 'other'),
  stream('posted', ORDERS),
  stream('people', { from: { integration: 'shop-db', tables: { 'public.people': 'event.id' } }, time: 'event.at' }),
  stream('orders', {
    from: {
      integration: 'shop-db',
      tables: { 'public.orders': 'event.id', 'public.order': 'event.order_id' },
      without: ['public.orders.card', 'public.order.a.b'],
    },
  }),
]);

describe('the database and Kafka sources of a configuration', () => {
  it('list the streams of their workspace with tables, key paths and omitted columns', () => {
    const sources = sourcesOf(configuration).map(({ workspace, name, streams }) => [
      `${workspace}/${name}`,
      streams.map(({ stream: { path }, tables }) => [path, tables]),
    ]);
    expect(sources).toEqual([
      ['other/shop-db', []],
      [
        'shop/shop-db',
        [
          [
            'shop/orders',
            [
              { table: 'public.orders', key: 'event.id', without: ['card'] },
              { table: 'public.order', key: 'event.order_id', without: ['a.b'] },
            ],
          ],
          ['shop/people', [{ table: 'public.people', key: 'event.id', without: [] }]],
        ],
      ],
      ['shop/unread', []],
    ]);
    expect(sourcesOf(configuration)).toBe(sourcesOf(configuration));
  });

  it('list the Kafka topics with key paths and omitted columns', () => {
    const [bus] = sourcesOf(
      configurationOf([
        integration('bus', { kind: 'kafka', brokers: ['kafka:9092'] }),
        stream('refunds', { from: { integration: 'bus', topics: { refunds: 'event.order.id' } } }),
        stream('changes', {
          format: 'debezium',
          from: {
            integration: 'bus',
            topics: { 'app.orders': 'event.id' },
            without: ['app.orders.card', 'app.orders.'],
          },
        }),
        stream('sent', { format: 'debezium', key: 'event.id', security: { webhook_secret: { secret: 'DEBEZIUM' } } }),
      ]),
    );
    expect(bus && isDatabaseSource(bus)).toBe(false);
    expect(bus?.streams.map(({ stream: { path, format }, tables, topics }) => [path, format, tables, topics])).toEqual([
      ['shop/changes', 'debezium', [], [{ topic: 'app.orders', key: 'event.id', without: ['card'] }]],
      ['shop/refunds', 'json', [], [{ topic: 'refunds', key: 'event.order.id', without: [] }]],
    ]);
  });

  it('are read, and yield database changes if they read tables or Debezium topics', () => {
    const from = { integration: 'bus', topics: { refunds: 'event.id' } };
    const facts = [{ from }, { from, format: 'debezium' }, { format: 'debezium' }, {}, { from: null }] as const;
    expect(facts.map((each) => [readsSource(each), takesChanges(each)])).toEqual([
      [true, false],
      [true, true],
      [false, true],
      [false, false],
      [false, false],
    ]);
  });

  it('feed streams of database changes, which have no sender security, beside streams that are posted to', () => {
    const { streams } = streamTable(configuration);
    const facts = [...streams.values()].map((each) => [each.path, takesChanges(each), each.key, each.security]);
    expect(facts).toEqual([
      ['shop/orders', true, null, {}],
      ['shop/people', true, null, {}],
      ['shop/posted', false, null, ORDERS.security],
    ]);
  });
});
