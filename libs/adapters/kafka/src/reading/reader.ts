import type { Duration } from '@carillon/kernel';
import type { LogRecord, OffsetRange, TopicName } from '@carillon/ports';
import { type Brokers, type Cluster, leaderOf, READ_UNCOMMITTED } from '../connection/cluster.ts';
import { isOutOfRange, staleError } from '../connection/faults.ts';
import { placeOf } from '../producing/appending.ts';
import type { Watermarks } from '../watermarks.ts';
import type { FetchedMessage } from './batch-reader.ts';
import { WantedRecords } from './fetch-response.ts';
import { bytesOf, chunkOf, countWithin, type Chunk } from './records.ts';

const FETCH_BYTES = 4 * 1024 * 1024;
/** A broker fills what it is asked for, and all of that is decoded: who wants one record asks for little at first. */
const FIRST_FETCH_BYTES = 64 * 1024;
const USUAL_RECORD_BYTES = 4 * 1024;
/** Growth factor of fetch sizes within one read. */
const GROWTH = 4;
const OLDEST = -2;
const NEWEST = -1;

/** The first records of a range. The next fetch begins at `next`, and retention has removed `removed` records before it. */
export type FetchedRange = Chunk & { readonly removed: number };

export type Bounds = { readonly start: number; readonly end: number };

/** Reads without a group: one request to the leader, which answers at once whether there is anything or not. */
export type Reader = {
  read(
    topic: TopicName,
    partition: number,
    from: number,
    maxRecords: number,
    maxBytes?: number,
  ): Promise<readonly LogRecord[]>;
  bounds(topic: TopicName, partition: number): Promise<Bounds>;
  /**
   * Reads what one fetch brings of a range whose records were all on the log once. Rejects with CarillonError `wrong_log` if the partition
   * now ends within the range.
   */
  fetch(range: OffsetRange): Promise<FetchedRange>;
  /** The messages as they stand on the log, for what is no record. */
  raw(topic: TopicName, partition: number, from: number): Promise<readonly FetchedMessage[]>;
};

export function createReader(brokers: Brokers, watermarks: Watermarks, readTimeout: Duration): Reader {
  const use = <T>(topic: TopicName, partition: number, work: (cluster: Cluster) => Promise<T>): Promise<T> =>
    brokers.use(`reading ${placeOf(topic, partition)}`, readTimeout, work);

  const raw = (topic: TopicName, partition: number, from: number, maxBytes: number) =>
    use(topic, partition, async (cluster) => {
      const leader = await leaderOf(cluster, topic, partition);
      const { responses } = await leader.fetch({
        isolationLevel: READ_UNCOMMITTED,
        maxWaitTime: 0,
        minBytes: 0,
        maxBytes,
        topics: [{ topic, partitions: [new WantedRecords(partition, from, maxBytes)] }],
      });
      // A client over its quota is answered at once and with nothing: that is not the end of the partition.
      const page = answered(topic, partition, responses[0]?.partitions);
      if (page.messages.length === 0 && from < page.highWatermark) {
        throw staleError(`${placeOf(topic, partition)} ends at ${page.highWatermark}, but the broker sent nothing`);
      }
      return page.messages;
    });

  const bounds = (topic: TopicName, partition: number): Promise<Bounds> =>
    use(topic, partition, async (cluster) => {
      const leader = await leaderOf(cluster, topic, partition);
      const offsetAt = async (timestamp: number): Promise<number> => {
        const { responses } = await leader.listOffsets({
          isolationLevel: READ_UNCOMMITTED,
          topics: [{ topic, partitions: [{ partition, timestamp }] }],
        });
        return Number(answered(topic, partition, responses[0]?.partitions).offset);
      };
      const [start, end] = await Promise.all([offsetAt(OLDEST), offsetAt(NEWEST)]);
      return { start, end };
    });

  /** Where to go on when `from` is not within the partition, or null beyond its end. */
  async function within(topic: TopicName, partition: number, from: number): Promise<number | null> {
    const place = placeOf(topic, partition);
    const known = watermarks.end(place);
    const { start, end } = await bounds(topic, partition);
    if (from < start) return start;
    if (end < from && from <= known) throw watermarks.receded(place, end);
    return from >= end ? null : from;
  }

  async function fetch({ topic, partition, from, end }: OffsetRange): Promise<FetchedRange> {
    const place = placeOf(topic, partition);
    watermarks.saw(place, end);
    let messages: readonly FetchedMessage[] = [];
    while (messages.length === 0) {
      try {
        messages = await raw(topic, partition, from, FETCH_BYTES);
      } catch (error) {
        if (!isOutOfRange(error)) throw error;
      }
      if (messages.length > 0) break;
      // A new leader may learn late up to where records are confirmed: then it has sent nothing, and the next fetch brings more.
      const { start, end: found } = await bounds(topic, partition);
      if (found < end) throw watermarks.receded(place, found);
      if (start <= from) continue;
      const next = Math.min(start, end);
      return { records: [], next, removed: next - from };
    }
    const chunk = chunkOf(topic, partition, from, messages);
    // Compaction may have left nothing of the range. A fetch brings the batch that lies before it then.
    const next = chunk.next === from ? end : Math.min(chunk.next, end);
    return { records: chunk.records.filter(({ offset }) => offset < end), next, removed: 0 };
  }

  return {
    bounds,
    fetch,
    raw: (topic, partition, from) => raw(topic, partition, from, FETCH_BYTES),
    async read(topic, partition, from, maxRecords, maxBytes = FETCH_BYTES) {
      const records: LogRecord[] = [];
      let next = Math.max(0, from);
      let bytes = 0;
      let fetched = Math.max(FIRST_FETCH_BYTES, maxRecords * USUAL_RECORD_BYTES);
      while (records.length < maxRecords && (records.length === 0 || bytes < maxBytes)) {
        const room = Math.min(FETCH_BYTES, fetched, Math.max(1, maxBytes - bytes));
        let messages: readonly FetchedMessage[];
        try {
          messages = await raw(topic, partition, next, room);
        } catch (error) {
          if (!isOutOfRange(error)) throw error;
          const other = await within(topic, partition, next);
          if (other === null) break;
          next = other;
          continue;
        }
        const chunk = chunkOf(topic, partition, next, messages);
        if (chunk.next === next) {
          // Compaction may have left of a batch only what lies before: what follows it is seen in a larger answer.
          if (messages.length === 0 || fetched >= FETCH_BYTES) break;
          fetched = FETCH_BYTES;
          continue;
        }
        fetched *= GROWTH;
        next = chunk.next;
        watermarks.saw(placeOf(topic, partition), next);
        for (const record of chunk.records) {
          bytes += bytesOf(record);
          records.push(record);
        }
      }
      return records.slice(0, countWithin(records, maxRecords, maxBytes));
    },
  };
}

/** Returns the response for the requested partition. Throws a retriable error if it is missing. */
function answered<Part extends { readonly partition: number }>(
  topic: TopicName,
  partition: number,
  parts: readonly Part[] | undefined,
): Part {
  const found = parts?.find((part) => part.partition === partition);
  if (!found) throw staleError(`the Kafka broker left out ${placeOf(topic, partition)}`);
  return found;
}
