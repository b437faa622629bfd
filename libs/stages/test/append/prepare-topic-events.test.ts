import type { AvroSchemas } from '@carillon/domain/changes';
import type { EventStream, SourceStream } from '@carillon/domain/configuration';
import { EVENT_LIMITS } from '@carillon/domain/events';
import type { TopicRecord } from '@carillon/ports';
import { openTopology, type Topology } from '@carillon/testing/topology';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { prepareTopicRecord, type PreparedRecord } from '../../src/index.ts';

const AT = Date.parse('2026-11-28T06:30:00Z');
const TRACE = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
const NO_SCHEMAS: AvroSchemas = new Map();

let topology: Topology;
beforeAll(async () => {
  topology = await openTopology({ partitions: 8 });
  topology.clock.standStill();
});
afterAll(() => topology.close());

const reading = (name: string, more: Partial<EventStream> = {}, topic = 'orders'): SourceStream => ({
  stream: {
    path: `shop/${name}`,
    workspace: 'shop',
    key: null,
    time: null,
    format: 'json',
    security: {},
    from: { integration: 'bus', topics: { [topic]: 'event.id' } },
    ...more,
  },
  tables: [],
  topics: [{ topic, key: 'event.id', without: ['card'] }],
});
const recordOf = (value: string | null, more: Partial<TopicRecord> = {}): TopicRecord => ({
  topic: 'orders',
  topicId: 'first',
  partition: 3,
  offset: 41,
  key: null,
  value: value === null ? null : Buffer.from(value),
  headers: {},
  at: AT,
  timestamp: AT,
  unreadable: null,
  ...more,
});
const prepare = (record: TopicRecord, streams: readonly SourceStream[] = [reading('orders')]) =>
  prepareTopicRecord(
    record,
    { integration: 'bus', clusterId: 'cluster', streams, schemas: NO_SCHEMAS },
    topology.ports,
  );
const only = (record: TopicRecord, ...streams: SourceStream[]): PreparedRecord => {
  const [first] = prepare(record, streams.length === 0 ? undefined : streams);
  if (first === undefined) throw new Error('no record');
  return first;
};
const letterOf = ({ record }: PreparedRecord) => {
  const letter = topology.ports.codecs.deadLetter.decode(record?.value ?? new Uint8Array());
  if (record?.topic !== 'carillon.dead-letters' || !letter.ok) throw new Error('no dead letter');
  return letter.value;
};

describe('prepareTopicRecord (makes log records of a record of a customer’s Kafka topic)', () => {
  it('makes an event of the record for each stream that reads the topic, with the same bytes', () => {
    const value = '{ "id": 7, "total": 12.50 }';
    const streams = [reading('orders'), reading('ledger'), reading('stock', {}, 'stock')];
    const prepared = prepare(recordOf(value, { headers: { traceparent: TRACE, secret: 'no' } }), streams);
    expect(prepared.map(({ record }) => record?.headers)).toEqual(
      ['shop/orders', 'shop/ledger'].map((stream) => ({
        kind: 'event',
        enc: '0',
        event_id: expect.any(String) as string,
        workspace: 'shop',
        stream,
        principal: 'source:bus',
        key: '7',
        time: String(AT),
        traceparent: TRACE,
      })),
    );
    expect(prepared.map(({ record, result }) => [result, Buffer.from(record?.value ?? []).toString()])).toEqual([
      ['appended', value],
      ['appended', value],
    ]);
  });

  it('puts records with one key value on one partition, and spreads records without a key', () => {
    const partitions = (values: readonly string[]) =>
      new Set(values.map((value, offset) => only(recordOf(value, { offset })).record?.partition));
    const offsets = Array.from({ length: 40 }, (_, offset) => offset);
    expect(partitions(offsets.map((n) => `{"id":"one","n":${n}}`)).size).toBe(1);
    expect(partitions(offsets.map((n) => `{"n":${n}}`)).size).toBeGreaterThan(1);
    expect(only(recordOf('{"n":1}'))).toMatchObject({ result: 'without_key' });
  });

  it.each<[string, string, string | null]>([
    ['text', 'not json', 'invalid_json'],
    ['a list', '[1]', null],
    ['an object with a name twice', '{"id":1,"id":2}', null],
    ['more bytes than an event has', `{"id":1,"text":"${'x'.repeat(EVENT_LIMITS.bytes)}"}`, 'body_too_large'],
  ])('makes a dead letter of a record that is %s', (_, value, reason) => {
    const record = recordOf(value);
    const prepared = only(record);
    expect(prepared.result).toBe('dead_letter');
    const letter = letterOf(prepared);
    expect(letter).toMatchObject({
      stage: 'append',
      workspace: 'shop',
      topic: 'source bus, topic orders',
      partition: 3,
      offset: 41,
      ...(reason !== null && { reason }),
      detail: expect.stringContaining('The record orders/3 at offset 41 is no event. ') as string,
    });
    expect(letter.value).toHaveLength(0);
    // A repeat is the same dead letter.
    expect(letterOf(only(record)).id).toBe(letter.id);
  });

  it('makes a dead letter of a record that cannot be decompressed, also on a stream of database changes', () => {
    for (const format of ['json', 'debezium'] as const) {
      const unreadable = 'it is compressed with zstd';
      const letter = letterOf(only(recordOf(null, { unreadable }), reading('orders', { format })));
      expect(letter).toMatchObject({
        reason: 'record_unreadable',
        detail: 'The record orders/3 at offset 41 is no event. It is compressed with zstd.',
      });
    }
  });

  it('skips tombstones (records without a value)', () => {
    expect(only(recordOf(null))).toEqual({ record: null, result: 'skipped' });
    expect(only(recordOf(null), reading('orders', { format: 'debezium' }))).toEqual({
      record: null,
      result: 'skipped',
    });
  });

  it('takes the time at the time path of the stream, else the time of the record, and at most a minute ahead', () => {
    const timeOf = (value: string, more: Partial<TopicRecord> = {}) => {
      const { record } = only(recordOf(value, more), reading('orders', { time: 'event.at' }));
      return [record?.headers['time'], record?.headers['time_clamped']];
    };
    expect(timeOf('{"id":1,"at":"2026-11-28T05:00:00Z"}')).toEqual([String(AT - 5_400_000), undefined]);
    expect(timeOf('{"id":1}')).toEqual([String(AT), undefined]);
    const [time, clamped] = timeOf('{"id":1}', { at: AT + 10 * 365 * 86_400_000 });
    expect(clamped).toBe('true');
    expect(Number(time)).toBeLessThan(topology.clock.now() + 86_400_001);
  });

  it('makes a database change of a Debezium message, without the columns that the stream leaves out', () => {
    const source = {
      connector: 'postgresql',
      name: 'app',
      schema: 'public',
      table: 'orders',
      ts_ms: AT,
      lsn: 5,
      txId: 6,
    };
    const envelope = { before: null, after: { id: 7, card: '4111' }, source, op: 'c', ts_ms: AT };
    const prepared = only(recordOf(JSON.stringify(envelope)), reading('orders', { format: 'debezium' }));
    expect(prepared).toMatchObject({ result: 'appended', record: { headers: { shape: 'change', key: '7' } } });
    const change = JSON.parse(Buffer.from(prepared.record?.value ?? []).toString()) as object;
    expect(change).toMatchObject({ op: 'create', event: { id: 7 } });
    expect(JSON.stringify(change)).not.toContain('4111');
    // The same change at another offset, as after a restart of the connector.
    const again = only(recordOf(JSON.stringify(envelope), { offset: 90 }), reading('orders', { format: 'debezium' }));
    expect(again.record?.headers['event_id']).toBe(prepared.record?.headers['event_id']);
  });
});
