import { stringifyJson, type Json } from '@carillon/kernel';
import { describe, expect, it } from 'vitest';
import { readDebezium } from './read-debezium.ts';

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
const read = (value: unknown, key: unknown = null): ReturnType<typeof readDebezium> =>
  readDebezium({ key: encode(JSON.stringify(key)), value: encode(JSON.stringify(value)) }, 'bus');

const SOURCE = {
  version: '3.6.1.Final',
  connector: 'postgresql',
  name: 'app',
  ts_ms: 1_795_226_637_186,
  ts_us: 1_795_226_637_186_123,
  snapshot: 'false',
  db: 'app',
  sequence: '[null,"26510848"]',
  schema: 'public',
  table: 'orders',
  txId: 728,
  lsn: 26_510_848,
  xmin: null,
};
const BEFORE = { id: 1, status: 'open' };
const AFTER = { id: 1, status: 'paid' };
const UPDATE = { before: BEFORE, after: AFTER, source: SOURCE, op: 'u', ts_ms: 1_795_226_637_208, transaction: null };

function changeIn(value: unknown, key?: unknown): Extract<ReturnType<typeof readDebezium>, { kind: 'change' }>['read'] {
  const result = read(value, key);
  if (result.kind !== 'change') throw new Error(JSON.stringify(result));
  return result.read;
}

describe('readDebezium (reads a database change as Debezium writes it)', () => {
  it('reads an update with the row before, the row after and its position in the database', () => {
    expect(changeIn(UPDATE).change).toEqual({
      op: 'update',
      event: AFTER,
      previous: BEFORE,
      unknown: [],
      source: {
        integration: 'bus',
        table: 'public.orders',
        tx: 728,
        position: '0/1948600',
        at: '2026-11-21T02:03:57.186123Z',
      },
    });
  });

  it.each([
    ['c', { before: null, after: AFTER }, { op: 'create', event: AFTER, previous: null }],
    ['r', { before: null, after: AFTER }, { op: 'snapshot', event: AFTER, previous: null }],
    ['d', { before: BEFORE, after: null }, { op: 'delete', event: BEFORE, previous: BEFORE }],
  ])('reads a change whose op is %s', (op, rows, change) => {
    expect(changeIn({ ...UPDATE, ...rows, op }).change).toMatchObject(change);
  });

  it('reports the row before an update as unknown if the message does not contain it', () => {
    expect(Object.hasOwn(changeIn({ ...UPDATE, before: null }).change, 'previous')).toBe(false);
  });

  it('names the source by the Debezium connector if the message was posted by HTTP', () => {
    const posted = readDebezium({ key: null, value: encode(JSON.stringify(UPDATE)) }, null);
    expect(posted).toMatchObject({ kind: 'change', read: { change: { source: { integration: 'app' } } } });
  });

  it('gives a repeated change the same identity, and another change another one', () => {
    const identity = (value: unknown): string => changeIn(value).identity.join('\n');
    const again = { ...SOURCE, version: '3.7.0', sequence: '["1","2"]', snapshot: 'last', query: 'UPDATE …' };
    expect(identity({ ...UPDATE, ts_ms: 1, source: again })).toBe(identity(UPDATE));
    const others = [
      { ...UPDATE, op: 'c' },
      { ...UPDATE, before: { ...BEFORE, status: 'new' } },
      { ...UPDATE, after: { ...AFTER, status: 'new' } },
      { ...UPDATE, source: { ...SOURCE, lsn: 26_510_849 } },
      { ...UPDATE, source: { ...SOURCE, name: 'other' } },
    ];
    expect(new Set([UPDATE, ...others].map(identity)).size).toBe(others.length + 1);
  });

  it.each([
    ['tombstone', null],
    ['tombstone', { schema: null, payload: null }],
    ['heartbeat', { ts_ms: 1_795_226_637_186, ts_us: 1, ts_ns: 2 }],
    ['schema_change', { source: SOURCE, databaseName: 'shop', ddl: 'CREATE TABLE …', tableChanges: [] }],
    ['transaction', { status: 'BEGIN', id: '571', event_count: null, data_collections: null, ts_ms: 1 }],
    ['truncate', { ...UPDATE, before: null, after: null, op: 't' }],
    ['message', { ...UPDATE, op: 'm', message: { prefix: 'a', content: '' } }],
  ])('skips a %s', (reason, value) => {
    const record = { key: null, value: value === null ? null : encode(JSON.stringify(value)) };
    expect(readDebezium(record, 'bus')).toEqual({ kind: 'skipped', reason });
  });

  it.each([
    ['no_source', { ...UPDATE, source: undefined }],
    ['no_source', { ...UPDATE, source: { ...SOURCE, table: undefined } }],
    ['no_source', { ...UPDATE, source: { ...SOURCE, ts_ms: undefined, ts_us: undefined } }],
    ['no_source', { ...UPDATE, source: { ...SOURCE, ts_us: Number.MAX_SAFE_INTEGER * 100 } }],
    ['no_row', { ...UPDATE, before: null, after: null }],
    ['no_row', { ...UPDATE, before: null, after: null, op: 'd' }],
    ['no_row', { ...UPDATE, after: null, op: 'c' }],
    ['unknown_op', { ...UPDATE, op: 'x' }],
    ['no_envelope', AFTER],
    ['no_envelope', 'text'],
    ['schema_mismatch', { ...UPDATE, after: [] }],
    ['schema_mismatch', { schema: { type: 'odd' }, payload: UPDATE }],
  ])('refuses with %s', (code, value) => {
    expect(read(value)).toMatchObject({ kind: 'fault', fault: { code } });
  });

  it.each([
    ['invalid_json', encode('<xml/>')],
    ['invalid_json', Uint8Array.of(0xff, 0xfe)],
    ['duplicate_key', encode('{"op":"c","op":"d"}')],
    ['body_too_large', new Uint8Array(5 * 1024 * 1024)],
  ])('refuses bytes with %s', (code, value) => {
    expect(readDebezium({ key: null, value }, 'bus')).toMatchObject({ kind: 'fault', fault: { code } });
  });

  it('leaves out columns whose names are forbidden in events, and keeps such a name inside a value as text', () => {
    const hostile = '{"id":1,"constructor":2,"__proto__":{"a":1},"meta":{"list":[{"__proto__":3}]}}';
    const value = encode(JSON.stringify(UPDATE).replace(JSON.stringify(AFTER), hostile));
    const result = readDebezium({ key: null, value }, 'bus');
    if (result.kind !== 'change') throw new Error(JSON.stringify(result));
    const { event } = result.read.change;
    expect(Object.entries(event)).toEqual([
      ['id', 1],
      ['constructor', 2],
      ['__proto__', { a: 1 }],
      ['meta', '{"list":[{"__proto__":3}]}'],
    ]);
  });

  it('lists values that the database did not send, and takes them from the row before if it has them', () => {
    const placeholder = '__debezium_unavailable_value';
    const numbers = Array.from(placeholder, (letter) => letter.charCodeAt(0));
    const after = {
      id: 1,
      notes: placeholder,
      photo: Buffer.from(placeholder).toString('base64'),
      tags: [placeholder],
      counts: numbers,
      more: { [placeholder]: placeholder },
    };
    const unsent = changeIn({ ...UPDATE, before: null, after }).change;
    expect(unsent.event).toEqual({ id: 1 });
    expect(unsent.unknown).toEqual(['notes', 'photo', 'tags', 'counts', 'more']);
    const before = { id: 1, notes: 'long', photo: 'AAAA', tags: ['a'], counts: placeholder };
    const known = changeIn({ ...UPDATE, before, after }).change;
    expect(known.event).toEqual({ id: 1, notes: 'long', photo: 'AAAA', tags: ['a'] });
    expect(known.unknown).toEqual(['counts', 'more']);
  });

  it('leaves out fields above 64 KiB', () => {
    const after = { id: 1, text: 'x'.repeat(65_537), list: ['ä'.repeat(33_000)], small: 'x'.repeat(65_536) };
    const { event, unknown } = changeIn({ ...UPDATE, after }).change;
    expect(Object.keys(event)).toEqual(['id', 'small']);
    expect(unknown).toEqual(['text', 'list']);
  });

  it('never presents the value before an update as the value of a field that became too large', () => {
    const { change } = changeIn({
      ...UPDATE,
      before: { id: 1, notes: 'short' },
      after: { id: 1, notes: 'x'.repeat(70_000) },
    });
    expect([change.event, change.previous, change.unknown]).toEqual([{ id: 1 }, { id: 1, notes: 'short' }, ['notes']]);
  });

  it('keeps numbers, base64 and text as they are in a message without a schema', () => {
    const value = encode(
      `{"op":"c","after":{"big":9223372036854775807,"far":1e400,"fine":0.12345678901234567,"total":12.50,"coded":"BOI="},"source":${JSON.stringify(SOURCE)}}`,
    );
    expect(readDebezium({ key: null, value }, 'bus')).toMatchObject({
      read: {
        change: {
          event: {
            big: 9_223_372_036_854_775_807n,
            far: '1e400',
            fine: '0.12345678901234567',
            total: 12.5,
            coded: 'BOI=',
          },
        },
      },
    });
  });
});

describe('a Debezium message about a MongoDB document', () => {
  const source = {
    connector: 'mongodb',
    name: 'fulfillment',
    ts_ms: 1_558_965_508_000,
    db: 'inventory',
    collection: 'orders',
    ord: 31,
  };
  const document = (value: Json): string => stringifyJson(value);

  it('is read with extended JSON as plain values', () => {
    const after = document({
      _id: { $oid: '596e275826f08b2730779e1f' },
      count: { $numberLong: '9223372036854775807' },
      total: { $numberDecimal: '0.12345678901234567890' },
      short: { $numberDecimal: '12.50' },
      rate: { $numberDouble: '0.1' },
      small: { $numberInt: '7' },
      at: { $date: 1_577_836_800_123 },
      then: { $date: { $numberLong: '-62135596800000' } },
      iso: { $date: '2020-01-01T00:00:00.500Z' },
      bytes: { $binary: { base64: 'a2Fma2E=', subType: '00' } },
      old: { $binary: 'a2Fma2E=', $type: '00' },
      list: [{ price: { $numberDecimal: '1' } }],
      odd: { $regularExpression: { pattern: 'a', options: '' } },
      wrong: { $date: true },
    });
    expect(changeIn({ after, source, op: 'c' }).change.event).toEqual({
      _id: '596e275826f08b2730779e1f',
      count: 9_223_372_036_854_775_807n,
      total: '0.12345678901234567890',
      short: 12.5,
      rate: 0.1,
      small: 7,
      at: '2020-01-01T00:00:00.123Z',
      then: '0001-01-01T00:00:00Z',
      iso: '2020-01-01T00:00:00.5Z',
      bytes: 'a2Fma2E=',
      old: 'a2Fma2E=',
      list: [{ price: 1 }],
      odd: { $regularExpression: { pattern: 'a', options: '' } },
      wrong: { $date: true },
    });
  });

  it('is read with the _id from its key if the document was deleted', () => {
    const value = { before: null, after: null, source, op: 'd' };
    const key = { schema: {}, payload: { id: '{"$oid" : "596e275826f08b2730779e1f"}' } };
    expect(changeIn(value, key).change).toMatchObject({ op: 'delete', event: { _id: '596e275826f08b2730779e1f' } });
    expect(changeIn(value, { id: '1004' }).change.event).toEqual({ _id: 1004 });
    expect(read(value)).toMatchObject({ kind: 'fault', fault: { code: 'no_row' } });
  });

  it.each(['no JSON', '[]', '{"a":1,"a":2}'])('is refused if the document is %s', (after) => {
    expect(read({ after, source, op: 'c' })).toMatchObject({ kind: 'fault', fault: { code: 'schema_mismatch' } });
  });
});
