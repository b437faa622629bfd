import type { EventStream, SourceStream } from '@carillon/domain/configuration';
import type { TopicRecord } from '@carillon/ports';
import { openTopology, type Topology } from '@carillon/testing/topology';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { prepareTopicRecord } from '../../src/index.ts';

let topology: Topology;
beforeAll(async () => {
  topology = await openTopology({ partitions: 8 });
});
afterAll(() => topology.close());

const stream: EventStream = {
  path: 'shop/orders',
  workspace: 'shop',
  key: null,
  time: null,
  format: 'json',
  security: {},
  from: { integration: 'bus', topics: { orders: 'event.id' } },
};
const reading: SourceStream = { stream, tables: [], topics: [{ topic: 'orders', key: 'event.id', without: [] }] };
const recordOf = (more: Partial<TopicRecord> = {}): TopicRecord => ({
  topic: 'orders',
  topicId: 'first',
  partition: 0,
  offset: 5,
  key: null,
  value: new TextEncoder().encode('{"id":1}'),
  headers: {},
  at: 1_790_000_000_000,
  timestamp: 1_790_000_000_000,
  unreadable: null,
  ...more,
});
function idOf(record: TopicRecord, clusterId = 'cluster'): string | undefined {
  const origin = { integration: 'bus', clusterId, streams: [reading], schemas: new Map() };
  return prepareTopicRecord(record, origin, topology.ports)[0]?.record?.headers['event_id'];
}

describe('the event id of a record of a customer’s Kafka topic', () => {
  it('is the same each time the record is read', () => {
    expect(idOf(recordOf())).toMatch(/^evt_/);
    expect(idOf(recordOf())).toBe(idOf(recordOf()));
    // The reader puts its own clock in place of a timestamp that is no time.
    expect(idOf(recordOf({ timestamp: -1, at: 1 }))).toBe(idOf(recordOf({ timestamp: -1, at: 2 })));
  });

  it.each<[string, Partial<TopicRecord>]>([
    ['of a topic that was made again', { topicId: 'second' }],
    ['of another partition', { partition: 1 }],
    ['at another offset', { offset: 6 }],
    ['that brokers wrote at an offset that they had lost', { timestamp: 1_790_000_000_001 }],
  ])('differs for a record %s', (_, other) => {
    expect(idOf(recordOf(other))).not.toBe(idOf(recordOf()));
  });

  it('differs for the same position of another Kafka cluster', () => {
    expect(idOf(recordOf(), 'other')).not.toBe(idOf(recordOf()));
  });
});
