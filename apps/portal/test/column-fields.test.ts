import { describe, expect, it } from 'vitest';
import { columnsOf, fieldsOfColumns } from '../src/screens/streams/column-fields.ts';

const table = (name: string, columns: Readonly<Record<string, string>>) => ({
  table: name,
  columns: Object.entries(columns).map(([column, type]) => ({ name: column, type, key: column === 'id' })),
  identity: 'full' as const,
  problem: null,
});

describe('fields before the first change', () => {
  const orders = table('public.orders', { id: 'bigint', status: 'text', card: 'text' });
  const payments = table('public.payments', { id: 'uuid', total: 'numeric(10,2)' });

  it('are the columns of the tables that a stream reads, except excluded columns', () => {
    const read = [{ table: 'public.orders', without: ['card'] }];
    expect(columnsOf(read, [payments, orders]).map(({ table: of, name }) => `${of}.${name}`)).toEqual([
      'public.orders.id',
      'public.orders.status',
    ]);
    expect(columnsOf([{ table: 'public.gone', without: [] }], [orders])).toEqual([]);
  });

  it('have the types that their tables give them', () => {
    const read = [
      { table: 'public.orders', without: [] },
      { table: 'public.payments', without: [] },
    ];
    const fields = fieldsOfColumns(columnsOf(read, [orders, payments]));
    expect(fields.map(({ path, types }) => [path, types])).toEqual([
      ['id', ['number', 'string']],
      ['status', ['string']],
      ['card', ['string']],
      ['total', ['number']],
    ]);
  });

  it.each([
    ['text[]', 'array'],
    ['integer[]', 'array'],
    ['boolean', 'boolean'],
    ['jsonb', 'object'],
    ['timestamp with time zone', 'string'],
    ['double precision', 'number'],
    ['interval', 'string'],
  ])('of a column of type %s are of type %s', (type, json) => {
    const [field] = fieldsOfColumns(columnsOf([{ table: 'a.b', without: [] }], [table('a.b', { c: type })]));
    expect(field?.types).toEqual([json]);
  });

  it('have no field for a name that an expression writes in quotes', () => {
    const read = [{ table: 'a.b', without: [] }];
    expect(fieldsOfColumns(columnsOf(read, [table('a.b', { 'a.b': 'text', 'Order No': 'text' })]))).toEqual([]);
  });
});
