import { CarillonError, type Instant, type LogId } from '@carillon/kernel';
import type { EventLog, LogRecord, NewRecord, TopicName, EventLoopSlice } from '@carillon/ports';
import type { Reader } from '../reader.ts';
import type { Write } from '../writing/protocol.ts';
import { createConsumerGroups, type ConsumerGroups } from './consumer-groups.ts';
import type { LogWrites } from './log-writes.ts';
import { packRecords, sizeOf, type PackedRecords } from './packed-records.ts';
import { offsetOf, placeOf, type PartitionRow } from './places.ts';

const READ_BYTES = 4 * 1024 * 1024;
const TRIM_ROWS = 2000;

/** The log in the data file, and what only its owner may do with it. */
export type EmbeddedLog = EventLog & {
  /** Removes records appended before `olderThan`; their offsets are never used again. Answers how many there were. */
  trim(topic: TopicName, olderThan: Instant): Promise<number>;
  /** Records laid out for a write of a store that appends them in its own commit; it says `arrived` once that is durable. */
  pack(records: readonly NewRecord[]): PackedRecords;
  arrived(records: readonly NewRecord[]): void;
  /** Ends all consumers. */
  stop(): Promise<void>;
};

type RecordRow = { place: number; time: number; key: string; headers: string; value: Uint8Array };

export function createEventLog(
  reader: Reader,
  write: Write<LogWrites>,
  slice: Pick<EventLoopSlice, 'yield'>,
  /** Why nothing new is taken in just now. */
  full: () => CarillonError | null,
): EmbeddedLog {
  const logId = (reader.get('SELECT log_id FROM log_identity') as { log_id: string } | undefined)?.log_id;
  if (!logId) throw new CarillonError('data_version', 'the data file holds no log id; restore a backup');
  const ids = new Map<TopicName, readonly number[]>();
  for (const row of reader.all('SELECT * FROM partitions ORDER BY topic, partition') as PartitionRow[]) {
    const topic = row.topic as TopicName;
    ids.set(topic, [...(ids.get(topic) ?? []), row.id]);
  }

  const idOf = (topic: TopicName, partition: number): number => {
    const id = ids.get(topic)?.[partition];
    if (id === undefined) throw new RangeError(`the log has no partition ${partition} of ${topic}`);
    return id;
  };

  function read(
    topic: TopicName,
    partition: number,
    from: number,
    maxRecords: number,
    maxBytes = READ_BYTES,
  ): LogRecord[] {
    const id = idOf(topic, partition);
    const rows = reader.iterate(
      'SELECT place, time, key, headers, value FROM records WHERE place >= ? AND place < ? ORDER BY place LIMIT ?',
      placeOf(id, Math.max(0, from)),
      placeOf(id + 1, 0),
      maxRecords,
    ) as IterableIterator<RecordRow>;
    const records: LogRecord[] = [];
    let bytes = 0;
    for (const row of rows) {
      bytes += row.value.length + row.headers.length + row.key.length;
      if (records.length > 0 && bytes > maxBytes) break;
      records.push({
        topic,
        partition,
        key: row.key,
        value: row.value,
        headers: JSON.parse(row.headers) as Record<string, string>,
        offset: offsetOf(id, row.place),
        time: row.time,
      });
    }
    return records;
  }

  function bounds(topic: TopicName, partition: number): { start: number; end: number } {
    const row = reader.get('SELECT * FROM partitions WHERE id = ?', idOf(topic, partition)) as PartitionRow | undefined;
    return { start: row?.start ?? 0, end: row?.next ?? 0 };
  }

  const partitions = (topic: TopicName): number => ids.get(topic)?.length ?? 0;
  const groups: ConsumerGroups = createConsumerGroups({ partitions, read, bounds, slice });

  function arrived(records: readonly NewRecord[]): void {
    for (const { topic, partition } of records) groups.wake(topic, partition);
  }

  return {
    logId: logId as LogId,
    partitions,
    // A part of a pool would take the whole of it along to the other thread.
    pack: (records) => packRecords(records, idOf, (bytes) => Buffer.allocUnsafeSlow(bytes)),
    arrived,
    async append(records) {
      if (records.length === 0) return [];
      const refused = records.every(({ topic }) => topic === 'carillon.events') ? full() : null;
      if (refused) throw refused;
      const packed = packRecords(records, idOf);
      const offsets = await write('log.append', { bytes: sizeOf(packed), rows: records.length }, packed);
      arrived(records);
      return offsets;
    },
    read: async (topic, partition, from, maxRecords, maxBytes) => read(topic, partition, from, maxRecords, maxBytes),
    bounds: async (topic, partition) => bounds(topic, partition),
    async cut(topic, partition, before) {
      const id = idOf(topic, partition);
      for (let last = TRIM_ROWS; last === TRIM_ROWS;) {
        last = await write('log.cut', { bytes: 64, rows: TRIM_ROWS }, id, before, TRIM_ROWS);
      }
    },
    consume: async (options) => groups.join(options),
    async trim(topic, olderThan) {
      let removed = 0;
      for (const id of ids.get(topic) ?? []) {
        let last = TRIM_ROWS;
        while (last === TRIM_ROWS) {
          last = await write('log.trim', { bytes: 64, rows: TRIM_ROWS }, id, olderThan, TRIM_ROWS);
          removed += last;
        }
      }
      return removed;
    },
    stop: () => groups.stop(),
  };
}
