import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { changeName, changeText, unknownText, valueText } from '../src/screens/sources/change-text.ts';
import type { Source } from '../src/screens/sources/queries.ts';
import { bytesText, lagText, needingAttention } from '../src/screens/sources/source-text.ts';
import {
  fullSql,
  keyColumnOf,
  keyPathOf,
  streamNameOf,
  streamsOf,
  streamsReading,
  topicStreamsOf,
} from '../src/screens/sources/stream-drafts.ts';
import { originOf } from '../src/screens/streams/use-origin.ts';
import { NAME } from '../src/screens/setup/parts.ts';

const column = (name: string, key = false) => ({ name, type: 'text', key });

describe('the stream of a table', () => {
  it.each([
    ['public.orders', 'orders'],
    ['crm.contacts', 'crm-contacts'],
    ['public.Order Items', 'order-items'],
    ['public.заказы', 'stream'],
  ])('is named after %s: %s', (table, name) => {
    expect(streamNameOf(table, [])).toBe(name);
  });

  it('gets a free and valid name for any table name', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 80 }), fc.subarray(['a', 'table', 'a-2']), (text, taken) => {
        const name = streamNameOf(`public.${text}`, taken);
        expect(name).toMatch(NAME);
        expect(taken).not.toContain(name);
      }),
    );
  });

  it('has the first column of the primary key as its key, else the first column', () => {
    expect(keyColumnOf({ columns: [column('note'), column('id', true), column('line', true)] })).toBe('id');
    expect(keyColumnOf({ columns: [column('note'), column('id')] })).toBe('note');
    expect(keyPathOf('id')).toBe('event.id');
    expect(keyPathOf('Order No')).toBe('event["Order No"]');
  });

  it('reads all chosen tables if one stream was asked for', () => {
    const chosen = [
      { name: 'public.orders', key: 'id', without: ['card'] },
      { name: 'public.payments', key: 'order_id', without: [] },
    ];
    expect(streamsOf('shop-db', chosen, { kind: 'one', name: 'flow' })).toEqual([
      {
        name: 'flow',
        body: {
          from: {
            integration: 'shop-db',
            tables: { 'public.orders': 'event.id', 'public.payments': 'event.order_id' },
            without: ['public.orders.card'],
          },
        },
      },
    ]);
    expect(streamsOf('shop-db', [], { kind: 'one', name: 'flow' })).toEqual([]);
  });

  it('gets SQL that quotes names with upper case or special characters', () => {
    expect(fullSql('public.orders')).toBe('ALTER TABLE public.orders REPLICA IDENTITY FULL;');
    expect(fullSql('Sales.my "x"')).toBe('ALTER TABLE "Sales"."my ""x""" REPLICA IDENTITY FULL;');
  });
});

describe('the stream of a topic', () => {
  const chosen = [{ name: 'orders', key: 'event.id' }];

  it('has its format unless a record is an event', () => {
    const from = { integration: 'bus', topics: { orders: 'event.id' } };
    const layout = { kind: 'each', names: { orders: 'shop-orders' } } as const;
    expect(topicStreamsOf('bus', 'json', chosen, layout)).toEqual([{ name: 'shop-orders', body: { from } }]);
    expect(topicStreamsOf('bus', 'debezium', chosen, layout)).toEqual([
      { name: 'shop-orders', body: { format: 'debezium', from } },
    ]);
  });

  it('is found by its topic and integration only', () => {
    const from = { integration: 'shop', tables: { orders: 'event.id' } };
    const streams = [
      { name: 'rows', body: { from } },
      ...topicStreamsOf('shop', 'json', chosen, { kind: 'one', name: 'bus' }),
    ];
    expect(streamsReading('shop', 'tables', 'orders', streams)).toEqual(['rows']);
    expect(streamsReading('shop', 'topics', 'orders', streams)).toEqual(['bus']);
    expect(streamsReading('other', 'topics', 'orders', streams)).toEqual([]);
  });

  it('has changes and snapshots if Debezium writes them', () => {
    const [json, debezium] = (['json', 'debezium'] as const).map((format) =>
      originOf(topicStreamsOf('bus', format, chosen, { kind: 'one', name: 'x' })[0]?.body),
    );
    expect(json).toMatchObject({ hasChanges: false, hasSnapshots: false });
    expect(debezium).toMatchObject({ hasChanges: true, hasSnapshots: true });
    const tables = { integration: 'shop-db', tables: { 'public.orders': 'event.id' } };
    expect(originOf({ from: tables })).toMatchObject({ hasChanges: true, hasSnapshots: false });
    expect(originOf({ format: 'debezium' })).toMatchObject({ from: undefined, hasChanges: true });
    expect(originOf(undefined)).toMatchObject({ hasChanges: false });
  });
});

describe('a source', () => {
  it.each([
    [0, '0 bytes'],
    [999, '999 bytes'],
    [1_000, '1 kB'],
    [1_534_000, '1.5 MB'],
    [999_950_000, '1000 MB'],
    [2_000_000_000_000, '2 TB'],
  ])('writes %i bytes as %s', (bytes, words) => {
    expect(bytesText(bytes)).toBe(words);
  });

  it('says how far it is behind, and nothing if that is unknown', () => {
    const lag = (seconds: number | null, bytes: number | null, records: number | null = null) =>
      lagText({ state: 'running', lag_seconds: seconds, lag_bytes: bytes, lag_records: records });
    expect(lag(null, 5)).toBeNull();
    expect(lag(1, 5)).toBe('None');
    expect(lag(75, 1_534_000)).toBe('1 min 15 s, 1.5 MB not read yet');
    expect(lag(75, null)).toBe('1 min 15 s');
    expect(lag(75, null, 1204)).toBe('1 min 15 s, 1,204 records not read yet');
    expect(lag(null, null, 1)).toBe('1 record not read yet');
    expect(lag(75, null, 0)).toBe('None');
    const stopped = { state: 'stopped', lag_seconds: 75, lag_bytes: null, lag_records: 1204 } as const;
    expect(lagText(stopped)).toBe('1,204 records in the topics when it stopped');
  });

  it('needs attention unless it runs, and most if it is stopped', () => {
    const sources = (['leaving', 'running', 'waiting', 'stopped'] as const).map((state) => ({ state }) as Source);
    expect(needingAttention(sources).map(({ state }) => state)).toEqual(['stopped', 'waiting', 'leaving']);
  });
});

describe('a change', () => {
  const known = { op: 'update' as const, unknown: [], before_known: true };

  it('is said by what happened and where', () => {
    expect(changeText({ op: 'delete', table: 'public.orders' })).toBe('Deleted in public.orders');
  });

  it.each([
    ['"paid"', 'paid'],
    ['""', '""'],
    ['12.50', '12.50'],
    [null, 'nothing'],
    ['null', 'null'],
    ['"cut …', '"cut …'],
  ])('shows the value %s as %s', (json, words) => {
    expect(valueText(json)).toBe(words);
  });

  it('names the values that the database did not send', () => {
    expect(unknownText(known)).toBeNull();
    expect(unknownText({ ...known, unknown: ['notes', 'photo'] })).toBe('Unknown: notes, photo.');
    expect(unknownText({ ...known, before_known: false })).toMatch(/^The row before is unknown\./);
    expect(unknownText({ ...known, op: 'create', before_known: false })).toBeNull();
  });

  it('is told from others in a list by its first changed field', () => {
    const status = { field: 'status', before: '"open"', after: '"paid"' };
    const notes = { field: 'notes', before: null, after: JSON.stringify('x'.repeat(99)) };
    expect(changeName({ op: 'update', fields: [status, notes] })).toBe('status open → paid');
    expect(changeName({ op: 'update', fields: [notes] })).toBe(`notes nothing → ${'x'.repeat(30)}`);
    expect(changeName({ op: 'create', fields: [] })).toBe('created');
  });
});
