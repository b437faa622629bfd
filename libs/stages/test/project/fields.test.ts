import type { Json, JsonObject } from '@carillon/kernel';
import type { FieldRow } from '@carillon/ports';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { LONGEST_SAMPLE, mergeFields, MAX_FIELDS, tallyFields, type SeenEvent } from '../../src/index.ts';

const seen = (body: JsonObject, offset = 5, at = offset * 10): SeenEvent => ({
  workspace: 'shop',
  stream: 'shop/orders',
  partition: 0,
  offset,
  at,
  body,
  table: null,
});
const shown = (rows: readonly FieldRow[]): readonly string[] =>
  rows.map(({ path, types, sample, count }) => `${path} ${types.join('|')} ${sample} ${count}`);

describe('the list of fields that events of a stream have', () => {
  it('has each path with its types, newest value and number of events', () => {
    const rows = tallyFields(
      [],
      [
        seen({ id: 'A-1', total: 120, customer: { name: 'Ada' }, items: [{ qty: 1 }, { qty: 'two' }], note: null }, 5),
        seen({ id: 7, customer: { name: null } }, 6),
      ],
    );
    expect(shown(rows)).toEqual([
      'id number|string 7 2',
      'total number 120 1',
      'customer object null 2',
      'customer.name null|string "Ada" 2',
      'items array null 1',
      'items[] object null 1',
      'items[].qty number|string 1 1',
      'note null null 1',
    ]);
    expect(rows[0]).toMatchObject({ offset: 6, firstAt: 50, lastAt: 60 });
    expect(rows[1]).toMatchObject({ offset: 5, firstAt: 50, lastAt: 50 });
  });

  it('has the tables that have each field, over all partitions', () => {
    const order = { ...seen({ id: 1, status: 'open' }, 5), table: 'public.orders' };
    const payment = { ...seen({ id: 2, amount: 3 }, 6), table: 'public.payments' };
    const rows = tallyFields([], [payment, { ...order, offset: 7 }]);
    const elsewhere = tallyFields([], [{ ...seen({ amount: 4 }, 5), table: 'public.refunds', partition: 1 }]);
    expect(mergeFields([...rows, ...elsewhere]).map(({ path, tables }) => [path, tables])).toEqual([
      ['amount', ['public.payments', 'public.refunds']],
      ['id', ['public.orders', 'public.payments']],
      ['status', ['public.orders']],
    ]);
  });

  it('is limited: new paths beyond the limit are ignored, and known paths are still counted', () => {
    const wide = (from: number): JsonObject =>
      Object.fromEntries(Array.from({ length: 1500 }, (_, at) => [`f${from + at}`, at]));
    const rows = tallyFields([], [seen(wide(0), 1), seen(wide(100), 2)]);
    expect(rows).toHaveLength(MAX_FIELDS);
    expect(rows.find(({ path }) => path === 'f150')?.count).toBe(2);
    expect(tallyFields(rows, [seen({ other: 1 }, 3)])).toEqual([]);
  });

  it('keeps only the beginning of a value, and limits length and depth of paths', () => {
    const deep = JSON.parse(`${'{"a":'.repeat(20)}1${'}'.repeat(20)}`) as JsonObject;
    const rows = tallyFields(
      [],
      [seen({ long: 'x'.repeat(5000), ['n'.repeat(300)]: 1, deep, list: Array(50).fill(1) })],
    );
    expect(rows.find(({ path }) => path === 'long')?.sample).toHaveLength(LONGEST_SAMPLE);
    expect(rows.map(({ path }) => path.length).toSorted((a, b) => b - a)[0]).toBeLessThan(200);
    expect(rows.filter(({ path }) => path.startsWith('deep'))).toHaveLength(8);
  });

  it('is merged from the lists of several partitions', () => {
    const [first] = tallyFields([], [seen({ a: 1 }, 5)]);
    const [second] = tallyFields([], [{ ...seen({ a: 'x' }, 2, 900), partition: 1 }]);
    if (!first || !second) throw new Error('there are two rows');
    for (const rows of [
      [first, second],
      [second, first],
    ]) {
      expect(mergeFields(rows)).toEqual([
        { path: 'a', types: ['number', 'string'], tables: [], sample: '"x"', firstAt: 50, lastAt: 900, count: 2 },
      ]);
    }
  });
});

test('the list of fields is the same for any batching, repetition and outdated read of the log', () => {
  const body: fc.Arbitrary<JsonObject> = fc.dictionary(
    fc.constantFrom('a', 'b', 'c', 'd'),
    fc.oneof(
      fc.integer(),
      fc.string({ maxLength: 3 }),
      fc.constant(null),
      fc.dictionary(fc.constantFrom('x', 'y'), fc.boolean()),
    ) as fc.Arbitrary<Json>,
  );
  const stored = (rows: Map<string, FieldRow>, found: readonly FieldRow[]): void => {
    for (const row of found) if ((rows.get(row.path)?.offset ?? -1) < row.offset) rows.set(row.path, row);
  };
  const sorted = (rows: Map<string, FieldRow>): readonly FieldRow[] =>
    [...rows.values()].toSorted((a, b) => (a.path < b.path ? -1 : 1));
  fc.assert(
    fc.property(
      fc.array(body, { maxLength: 20 }),
      fc.array(fc.record({ length: fc.nat(6), back: fc.nat(3), age: fc.nat(3) }), { maxLength: 60 }),
      (bodies, batches) => {
        const log = bodies.map((one, offset) => seen(one, offset));
        const once = new Map<string, FieldRow>();
        stored(once, tallyFields([], log));
        const rows = new Map<string, FieldRow>();
        // What workers read, and up to where the log was in it then; an older one is that of a worker left behind.
        const readings: { readonly known: readonly FieldRow[]; readonly next: number }[] = [{ known: [], next: 0 }];
        let next = 0;
        for (const { length, back, age } of batches) {
          const reading = readings.at(-1 - age) ?? { known: [], next: 0 };
          const from = Math.max(0, reading.next - back);
          const to = Math.min(from + length, log.length);
          stored(rows, tallyFields(reading.known, log.slice(from, to)));
          next = Math.max(next, to);
          readings.push({ known: [...rows.values()], next });
        }
        stored(rows, tallyFields([...rows.values()], log.slice(next)));
        expect(sorted(rows)).toEqual(sorted(once));
      },
    ),
    { numRuns: 1000 },
  );
});
