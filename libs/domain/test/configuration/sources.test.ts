import { configurationOf, integration, ORDERS, stream } from '@carillon/testing/given';
import { describe, expect, it } from 'vitest';
import { sourcesOf, streamTable, takesChanges } from '../../src/configuration/index.ts';

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

describe('the sources of a configuration', () => {
  it('have the streams of their workspace with tables, key paths and omitted columns', () => {
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

  it('give their streams changes and no senders', () => {
    const { streams } = streamTable(configuration);
    const facts = [...streams.values()].map((each) => [each.path, takesChanges(each), each.key, each.security]);
    expect(facts).toEqual([
      ['shop/orders', true, null, {}],
      ['shop/people', true, null, {}],
      ['shop/posted', false, null, ORDERS.security],
    ]);
  });
});
