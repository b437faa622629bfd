import { CarillonError, type Duration, type LogId } from '@carillon/kernel';
import type { EventHistory, HistoryPage, OffsetRange } from '@carillon/ports';
import type { KafkaConnection } from './connection/options.ts';
import { openReader, type OpenReader } from './reading/open-reader.ts';
import type { FetchedRange } from './reading/reader.ts';

/** Schemas are in a registry, so the caller adds it. */
export type KafkaHistory = Omit<EventHistory, 'registry'>;

/** A run waits so long for brokers that are away or that throttle this client. */
const READ_TIMEOUT: Duration = 120_000;

/**
 * Opens the log for reading only: without a producer, and without a consumer group, so that nothing is committed. Rejects with
 * CarillonError `wrong_log` if the topics hold another log than `logId`.
 */
export async function openKafkaHistory(
  connection: KafkaConnection,
  logId: LogId,
  readTimeout: Duration = READ_TIMEOUT,
): Promise<KafkaHistory> {
  const opened = await openReader(connection, readTimeout, () => undefined);
  const { partitions, read, bounds, close } = opened;
  if (opened.logId !== logId) {
    close();
    throw new CarillonError('wrong_log', `the topics hold log ${opened.logId} and not ${logId}; start the run again`);
  }
  return { logId, partitions, read, bounds, pages: (range, maxRecords) => readPages(opened, range, maxRecords), close };
}

/**
 * Reads pages ahead while the caller works on earlier pages. Yields the last page only after checking that the log
 * still has the identity with which it was opened, so a range never mixes records of two logs.
 */
async function* readPages(
  { reader, guard, inRange, checkIdentity }: OpenReader,
  range: OffsetRange,
  maxRecords: number,
): AsyncGenerator<HistoryPage> {
  const { topic, partition, end } = range;
  guard();
  inRange(topic, partition);
  const fetchFrom = (from: number): Promise<FetchedRange> => begin(reader.fetch({ ...range, from }));
  let fetching = range.from < end ? fetchFrom(range.from) : null;
  while (fetching) {
    const { records, next, removed } = await fetching;
    fetching = next < end ? fetchFrom(next) : null;
    const checking = next < end ? null : begin(checkIdentity());
    let from = 0;
    for (; from + maxRecords < records.length; from += maxRecords) {
      const page = records.slice(from, from + maxRecords);
      yield { records: page, next: (page.at(-1)?.offset ?? next) + 1, removed: 0 };
    }
    await checking;
    yield { records: records.slice(from), next, removed };
  }
}

/** Returns a promise that nobody has to await. A caller that stops early never awaits what was begun for it. */
function begin<Value>(promise: Promise<Value>): Promise<Value> {
  promise.catch(() => undefined);
  return promise;
}
