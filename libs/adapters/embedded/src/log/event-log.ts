import type { CarillonError, Instant } from '@carillon/kernel';
import type { EventLog, NewRecord, TopicName, EventLoopSlice } from '@carillon/ports';
import type { Reader } from '../reader.ts';
import type { Write } from '../writing/protocol.ts';
import { createConsumerGroups, type ConsumerGroups } from './consumer-groups.ts';
import type { LogWrites } from './log-writes.ts';
import { packRecords, sizeOf, type PackedRecords } from './packed-records.ts';
import { createLogReading } from './read-log.ts';

const TRIM_ROWS = 2000;

/** Records that retention leaves, however old they are. */
export type KeptRecords = {
  /** The first offset that a consumer has not read. */
  readonly unreadFrom: (topic: TopicName, partition: number) => number;
  /** Offsets of single records. */
  readonly kept: (topic: TopicName, partition: number) => readonly number[];
};

const KEEP_NOTHING: KeptRecords = { unreadFrom: () => Number.POSITIVE_INFINITY, kept: () => [] };

/** The log in the data file, and what only its owner may do with it. */
export type EmbeddedLog = EventLog & {
  /** Removes the records that were appended before `olderThan`, except those of `keep`, and returns their number. Offsets are not used again. */
  trim(topic: TopicName, olderThan: Instant, keep?: KeptRecords): Promise<number>;
  /** Records laid out for a write of a store that appends them in its own commit; it says `arrived` once that is durable. */
  pack(records: readonly NewRecord[]): PackedRecords;
  arrived(records: readonly NewRecord[]): void;
  /** Ends the workers of all partitions. Resolves once they have ended, to a function that starts new ones. */
  pause(): Promise<() => void>;
  /** Number of a partition within the file. */
  idOf(topic: TopicName, partition: number): number;
  /** Ends all consumers. */
  stop(): Promise<void>;
};

export function createEventLog(
  reader: Reader,
  write: Write<LogWrites>,
  slice: Pick<EventLoopSlice, 'yield'>,
  /** Why nothing new is taken in just now. */
  full: () => CarillonError | null,
): EmbeddedLog {
  const { logId, partitions, read, bounds, idOf, idsOf } = createLogReading(reader);
  const groups: ConsumerGroups = createConsumerGroups({ partitions, read, bounds, slice });

  function arrived(records: readonly NewRecord[]): void {
    for (const { topic, partition } of records) groups.wake(topic, partition);
  }

  return {
    logId,
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
    async trim(topic, olderThan, { unreadFrom, kept } = KEEP_NOTHING) {
      let removed = 0;
      for (const [partition, id] of idsOf(topic).entries()) {
        const trim = {
          olderThan,
          before: unreadFrom(topic, partition),
          kept: kept(topic, partition),
          limit: TRIM_ROWS,
        };
        let last = TRIM_ROWS;
        while (last === TRIM_ROWS) {
          last = await write('log.trim', { bytes: 64 + 8 * trim.kept.length, rows: TRIM_ROWS }, id, trim);
          removed += last;
        }
      }
      return removed;
    },
    pause: () => groups.pause(),
    idOf,
    stop: () => groups.stop(),
  };
}
