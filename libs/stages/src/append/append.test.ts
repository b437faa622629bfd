import { writeChange, type Change } from '@carillon/domain/changes';
import type { EventStream } from '@carillon/domain/configuration';
import { readEvent } from '@carillon/domain/events';
import type { IdKind, LogId } from '@carillon/kernel';
import { ID_PREFIXES } from '@carillon/kernel';
import type { LogRecord, NewRecord } from '@carillon/ports';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readIdempotencyKey } from './idempotency-key.ts';
import { prepareAppend, type AppendRequest, type PreparedAppend } from './prepare-append.ts';
import { markerRecord, readSourceRecord } from './source-record.ts';

const LOG = 'log_1' as LogId;
const NOW = Date.parse('2026-11-20T12:00:00Z');
const TRACE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

let counter = 0;
const parts = (list: readonly string[]): string => list.map((part) => `${part.length}:${part}`).join('');
/** Ids that show what they were made of. */
const ids = {
  derive: (kind: IdKind, ...list: readonly string[]) => ID_PREFIXES[kind] + parts(list),
  inOrder: (kind: IdKind, at: number) => `${ID_PREFIXES[kind]}at${at}${(counter += 1)}`,
  keyed: (...list: readonly string[]) => `keyed${parts(list)}`,
};

const orders: EventStream = {
  path: 'shop/orders',
  workspace: 'shop',
  from: null,
  key: null,
  time: null,
  format: 'json',
  security: { api_keys: [] },
};

function prepare(body: string, stream: EventStream, more: Partial<AppendRequest> = {}) {
  const bytes = new TextEncoder().encode(body);
  const read = readEvent(bytes);
  if (!read.ok) throw new Error(read.error.detail);
  const request: AppendRequest = {
    stream,
    bytes,
    body: read.value.body,
    identity: null,
    principal: 'api_key:backend',
    traceparent: null,
    ...more,
  };
  return prepareAppend(request, { ids, now: NOW, partitions: 8 });
}

function prepared(body: string, stream: EventStream = orders, more: Partial<AppendRequest> = {}): PreparedAppend {
  const result = prepare(body, stream, more);
  if (!result.ok) throw result.error;
  return result.value;
}

function refused(body: string, stream: EventStream = orders, more: Partial<AppendRequest> = {}) {
  const result = prepare(body, stream, more);
  if (result.ok) throw new Error('it was accepted');
  return result.error;
}

const onLog = (record: NewRecord): LogRecord => ({ ...record, offset: 7, time: NOW + 5 });

describe('the id of a received event', () => {
  test('is the same if the stream and the Idempotency-Key are the same, whatever the body', () => {
    const first = prepared('{"a":1}', orders, { identity: ['http', 'k-1'] });
    const second = prepared('{"a":2}', orders, { identity: ['http', 'k-1'] });
    expect(second.id).toBe(first.id);
    expect(second.record.partition).toBe(first.record.partition);
  });

  test('differs by stream and by Idempotency-Key, and is random without a key', () => {
    const other = { ...orders, path: 'shop/refunds' };
    const all = [
      prepared('{}', orders, { identity: ['http', 'k'] }).id,
      prepared('{}', other, { identity: ['http', 'k'] }).id,
      prepared('{}', orders, { identity: ['http', 'l'] }).id,
      prepared('{}', orders, { identity: ['cloudevent', 'k', 'l'] }).id,
      prepared('{}', orders, { identity: ['cloudevent', 'l', 'k'] }).id,
      prepared('{}').id,
      prepared('{}').id,
    ];
    expect(new Set(all).size).toBe(7);
  });

  test.each(['', ' ', 'a b', 'k, l', 'ü', 'a\u0000', 'x'.repeat(256)])(
    'is not computed from the invalid Idempotency-Key %j: the request is refused',
    (idempotencyKey) => {
      expect(readIdempotencyKey(idempotencyKey)).toMatchObject({
        ok: false,
        error: { code: 'invalid_idempotency_key' },
      });
    },
  );

  test('accepts an Idempotency-Key of 255 characters', () => {
    expect(readIdempotencyKey('~'.repeat(255)).ok).toBe(true);
  });
});

describe('an event on a stream with a key path (the path of its entity, for example a customer)', () => {
  const keyed = { ...orders, key: 'event.customer.id' };

  test('goes to the partition of its entity, under a record key that is a keyed hash of the entity', () => {
    const one = prepared('{"customer":{"id":42},"n":1}', keyed);
    const two = prepared('{"customer":{"id":"42"},"n":2}', keyed);
    expect(two.record.key).toBe(one.record.key);
    expect(two.record.partition).toBe(one.record.partition);
    expect(one.record.key).toBe(ids.keyed('events', 'shop/orders', '42'));
    expect(one.id).not.toBe(two.id);
  });

  test.each([
    ['"A-1"', 'A-1'],
    ['9007199254740993', '9007199254740993'],
    ['1.50', '1.5'],
    ['-0', '0'],
    ['true', 'true'],
    ['"Zoë / 1%"', 'Zo%C3%AB%20%2F%201%25'],
  ])('gets the key value %s as the header %s', (json, header) => {
    expect(prepared(`{"customer":{"id":${json}}}`, keyed).record.headers['key']).toBe(header);
  });

  test.each([
    '{}',
    '{"customer":1}',
    '{"customer":{"id":null}}',
    '{"customer":{"id":{}}}',
    '{"customer":{"id":[1]}}',
    '{"customer":{"id":""}}',
    `{"customer":{"id":"${'x'.repeat(1025)}"}}`,
  ])('is refused if its body is %s, and the error points to the key path', (body) => {
    const error = refused(body, keyed);
    expect(error.code).toBe('missing_entity_key');
    expect(error.facts.pointer).toBe('/customer/id');
  });
});

describe('an event on a stream with a time path', () => {
  const timed = { ...orders, time: 'event.at' };

  test('gets its time as a header, in milliseconds', () => {
    const { headers } = prepared('{"at":"2026-11-20T13:00:00.250+01:00"}', timed).record;
    expect(headers).toMatchObject({ time: String(NOW + 250) });
    expect(headers).not.toHaveProperty('time_clamped');
  });

  test('gets a time of at most one minute ahead, and is marked if its own time is later', () => {
    expect(prepared('{"at":"2030-01-01T00:00:00Z"}', timed).record.headers).toMatchObject({
      time: String(NOW + 60_000),
      time_clamped: 'true',
    });
  });

  test.each([
    '{}',
    '{"at":1700000000}',
    '{"at":"yesterday"}',
    '{"at":"2026-02-30T00:00:00Z"}',
    '{"at":"2026-02-03T00:00:00"}',
    '{"at":null}',
  ])('is refused if its body is %s, and the error points to the time path', (body) => {
    const error = refused(body, timed);
    expect(error.code).toBe('missing_event_time');
    expect(error.facts.pointer).toBe('/at');
  });
});

describe('reading a record of the event log', () => {
  test('returns the event byte for byte as it was appended, with the append time of the log', () => {
    const stream = { ...orders, key: 'event.id', time: 'event.at' };
    const text = '{"id" : "Zoë/1", "at":"2026-11-20T11:00:00Z", "n":9007199254740993}';
    const { id, record } = prepared(text, stream, { traceparent: TRACE });
    expect(new TextDecoder().decode(record.value)).toBe(text);
    const read = readSourceRecord(onLog(record), LOG);
    if (!read.ok || read.value.kind !== 'event') throw new Error('not an event');
    const { body, ...event } = read.value.event;
    expect(body['n']).toBe(9007199254740993n);
    expect(event).toEqual({
      id,
      workspace: 'shop',
      stream: 'shop/orders',
      key: 'Zoë/1',
      change: null,
      position: { logId: LOG, topic: 'carillon.events', partition: record.partition, offset: 7 },
      appendedAt: NOW + 5,
      time: NOW - 3_600_000,
      traceparent: TRACE,
    });
  });

  test('returns the append time as the time of an event whose stream has no time path', () => {
    const read = readSourceRecord(onLog(prepared('{}').record), LOG);
    if (!read.ok || read.value.kind !== 'event') throw new Error('not an event');
    expect(read.value.event.time).toBe(NOW + 5);
    expect(read.value.event.key).toBeNull();
  });

  test('returns the configuration number of a marker (a record that switches the configuration), and refuses a marker of another log', () => {
    const marker = onLog(markerRecord(3, 12, 2, LOG));
    expect(readSourceRecord(marker, LOG)).toMatchObject({
      ok: true,
      value: { kind: 'marker', configNumber: 12, semantics: 2, position: { partition: 3 } },
    });
    expect(readSourceRecord(marker, 'log_2' as LogId)).toMatchObject({ ok: false, error: { reason: 'wrong_log' } });
    expect(readSourceRecord(onLog(markerRecord(0, 5)), LOG)).toMatchObject({ ok: true, value: { configNumber: 5 } });
  });

  test('returns a tick (an empty record that moves time) as a tick', () => {
    const tick = { ...onLog(markerRecord(0, 1)), headers: { kind: 'tick' } };
    expect(readSourceRecord(tick, LOG)).toMatchObject({ ok: true, value: { kind: 'tick', appendedAt: NOW + 5 } });
  });

  test('returns position and time of an erased record, whatever kind of record it was', () => {
    const erased = { ...onLog(markerRecord(0, 1)), headers: { kind: 'erased', stream: 'shop/orders' } };
    expect(readSourceRecord(erased, LOG)).toMatchObject({
      ok: true,
      value: { kind: 'erased', position: { offset: 7 }, appendedAt: NOW + 5 },
    });
  });

  describe('reading a record with a database change', () => {
    const change: Change = {
      op: 'update',
      event: { id: 1, status: 'paid' },
      previous: { id: 1, status: 'open' },
      unknown: [],
      source: {
        integration: 'shop-db',
        table: 'public.orders',
        tx: 7,
        position: '0/1:1',
        at: '2026-11-20T11:00:00.5Z',
      },
    };
    const record = prepared('{}').record;
    const changeRecord = { ...record, value: writeChange(change), headers: { ...record.headers, shape: 'change' } };
    const read = (given: NewRecord) => readSourceRecord(onLog(given), LOG);

    test('returns the row as body and the commit time as time', () => {
      expect(read(changeRecord)).toMatchObject({
        ok: true,
        value: { event: { body: change.event, change, time: NOW - 3_599_500, appendedAt: NOW + 5 } },
      });
    });

    test('returns the time at the time path of the stream, if the record has that time', () => {
      const headers = { ...changeRecord.headers, time: '5' };
      expect(read({ ...changeRecord, headers })).toMatchObject({ ok: true, value: { event: { time: 5 } } });
    });

    test.each([
      ['unknown_shape', { ...changeRecord, headers: { ...changeRecord.headers, shape: 'row' } }],
      ['invalid_change', { ...changeRecord, value: new TextEncoder().encode('{}') }],
    ])('returns the error %s for a damaged record', (reason, given) => {
      expect(read(given)).toMatchObject({ ok: false, error: { reason } });
    });
  });

  const event = onLog(prepared('{}').record);
  test.each([
    ['unknown_kind', { ...event, headers: {} }],
    ['unknown_kind', { ...event, headers: { ...event.headers, kind: 'toString' } }],
    ['unknown_encoding', { ...event, headers: { ...event.headers, enc: '1' } }],
    ['missing_header', { ...event, headers: { kind: 'event', enc: '0', workspace: 'shop', stream: 'shop/orders' } }],
    ['invalid_header', { ...event, headers: { ...event.headers, key: '%zz' } }],
    ['invalid_header', { ...event, headers: { ...event.headers, time: '1e3' } }],
    ['invalid_header', { ...event, headers: { ...event.headers, time: '9007199254740991' } }],
    ['invalid_header', { ...event, headers: { kind: 'marker', config: 'x', semantics: '1' } }],
    ['invalid_json', { ...event, value: new Uint8Array([0xff]) }],
    ['not_an_object', { ...event, value: new TextEncoder().encode('[]') }],
  ])('returns the error %s for an unreadable record', (reason, record) => {
    expect(readSourceRecord(record, LOG)).toMatchObject({ ok: false, error: { reason } });
  });

  test('never throws, whatever the record contains', () => {
    const headers = fc.dictionary(
      fc.constantFrom('kind', 'enc', 'event_id', 'workspace', 'stream', 'key', 'time', 'config'),
      fc.oneof(fc.constantFrom('event', 'marker', 'tick', '0', '1', '%'), fc.string()),
    );
    fc.assert(
      fc.property(headers, fc.uint8Array(), (given, value) => {
        readSourceRecord(
          { topic: 'carillon.events', partition: 0, key: '', value, headers: given, offset: 0, time: 0 },
          LOG,
        );
      }),
    );
  });
});
