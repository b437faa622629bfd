import { readDebezium, type AvroSchemas } from '@carillon/domain/changes';
import type { SourceStream, TopicOfStream } from '@carillon/domain/configuration';
import { EVENT_LIMITS, partitionOf, readEvent, type DeadLetter } from '@carillon/domain/events';
import { readTraceparent, type EventId, type JsonObject } from '@carillon/kernel';
import type { NewRecord, TopicRecord } from '@carillon/ports';
import { deadLetterRecord } from '../dead-letters.ts';
import { entityAt, readTime, TIME_AHEAD } from './prepare-append.ts';
import { prepareChangeOf, type ChangePorts, type PreparedRecord } from './prepare-change.ts';

/** The cluster that a record was read from, and the streams that read it. */
export type TopicOrigin = {
  readonly integration: string;
  readonly clusterId: string;
  readonly streams: readonly SourceStream[];
  /** Schemas that the records need. */
  readonly schemas: AvroSchemas;
};

type Placed = { readonly origin: TopicOrigin; readonly stream: SourceStream['stream']; readonly topic: TopicOfStream };

/**
 * Append (flow table, stage 1) for records of topics: returns the record of an event or change for each stream that names the topic.
 * The event id of an event derives from cluster, id of the topic, partition, offset and timestamp, that of a change from the change,
 * so that a repeated record has the same id, and a record that took its offset has another.
 */
export function prepareTopicRecord(
  record: TopicRecord,
  origin: TopicOrigin,
  ports: ChangePorts,
): readonly PreparedRecord[] {
  return origin.streams.flatMap(({ stream, topics }) => {
    const topic = topics.find((one) => one.topic === record.topic);
    if (topic === undefined) return [];
    const placed = { origin, stream, topic };
    if (record.unreadable !== null) {
      return [
        refused(record, placed, { reason: 'record_unreadable', detail: `${capital(record.unreadable)}.` }, ports),
      ];
    }
    return [
      stream.format === 'debezium' ? preparedChange(record, placed, ports) : preparedEvent(record, placed, ports),
    ];
  });
}

const SKIPPED: PreparedRecord = { record: null, result: 'skipped' };

/** The value is one event, byte for byte. A tombstone is none. */
function preparedEvent(record: TopicRecord, placed: Placed, ports: ChangePorts): PreparedRecord {
  const { value } = record;
  if (value === null) return SKIPPED;
  if (value.length > EVENT_LIMITS.bytes) {
    const detail = `It has ${value.length} bytes, and an event at most ${EVENT_LIMITS.bytes}.`;
    return refused(record, placed, { reason: 'body_too_large', detail }, ports);
  }
  const read = readEvent(value);
  if (!read.ok) return refused(record, placed, { reason: read.error.code, detail: read.error.detail }, ports);
  const { stream, topic } = placed;
  const { ids, log } = ports;
  const { body } = read.value;
  const entity = entityAt(body, topic.key);
  const id = idOf(record, placed, ports);
  const key = ids.keyed('events', stream.path, entity ?? id);
  const headers = {
    ...headersOf(record, placed, id),
    ...(entity !== null && { key: encodeURIComponent(entity) }),
    ...timeOf(body, record, placed, ports),
  };
  const partition = partitionOf(key, log.partitions('carillon.events'));
  return {
    record: { topic: 'carillon.events', partition, key, value, headers },
    result: entity === null ? 'without_key' : 'appended',
  };
}

/** The time at the stream's path, else that of the record. */
function timeOf(body: JsonObject, { at }: TopicRecord, { stream }: Placed, { clock }: ChangePorts) {
  const now = clock.now();
  const own = stream.time === null ? null : readTime(body, stream.time, now);
  if (own?.ok) return own.value;
  return at > now + TIME_AHEAD ? { time: String(now + TIME_AHEAD), time_clamped: 'true' } : { time: String(at) };
}

/** The value is an envelope of Debezium. */
function preparedChange(record: TopicRecord, placed: Placed, ports: ChangePorts): PreparedRecord {
  const { origin, stream, topic } = placed;
  const read = readDebezium(record, origin.integration, origin.schemas);
  if (read.kind === 'skipped') return SKIPPED;
  if (read.kind === 'fault') {
    const { code, detail } = read.fault;
    return refused(record, placed, { reason: code, detail }, ports);
  }
  const table = { table: topic.topic, key: topic.key, without: topic.without };
  return prepareChangeOf(read.read, { stream, table }, ports, traceOf(record));
}

function idOf(record: TopicRecord, { origin, stream }: Placed, { ids }: ChangePorts): EventId {
  const { topicId, partition, offset, timestamp } = record;
  const identity = [origin.clusterId, topicId, partition, offset, timestamp].map(String);
  return ids.derive('event', stream.path, 'kafka', ...identity) as EventId;
}

function traceOf({ headers }: TopicRecord): { readonly traceparent?: string } {
  const traceparent = readTraceparent(headers['traceparent'] ?? null);
  return traceparent === null ? {} : { traceparent };
}

const headersOf = (record: TopicRecord, { origin, stream }: Placed, id: EventId): NewRecord['headers'] => ({
  kind: 'event',
  enc: '0',
  event_id: id,
  workspace: stream.workspace,
  stream: stream.path,
  principal: `source:${origin.integration}`,
  ...traceOf(record),
});

/** A dead letter that names topic, partition and offset. The bytes are left out: they are in the topic, and may be too large here. */
function refused(
  record: TopicRecord,
  placed: Placed,
  { reason, detail }: Pick<DeadLetter, 'reason' | 'detail'>,
  ports: ChangePorts,
): PreparedRecord {
  const { ids, clock } = ports;
  const { topic, partition, offset } = record;
  const id = idOf(record, placed, ports);
  const letter: DeadLetter = {
    id: ids.derive('deadLetter', 'append', id),
    stage: 'append',
    workspace: placed.stream.workspace,
    topic: `source ${placed.origin.integration}, topic ${topic}`,
    partition,
    offset,
    key: ids.keyed('events', placed.stream.path, id),
    headers: headersOf(record, placed, id),
    value: new Uint8Array(),
    reason,
    detail: `The record ${topic}/${partition} at offset ${offset} is no event. ${detail}`,
    at: clock.now(),
  };
  const count = (record.lastOffset ?? offset) - offset + 1;
  return { record: deadLetterRecord(letter, ports), result: 'dead_letter', count };
}

const capital = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
