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
 * Fetches while the caller works on the pages before. The last page is handed over when the log was found to be the opened one, so a
 * range never mixes two logs.
 */
async function* readPages(
  { reader, guard, inRange, checkIdentity }: OpenReader,
  range: OffsetRange,
  maxRecords: number,
): AsyncGenerator<HistoryPage> {
  const { topic, partition, end } = range;
  guard();
  inRange(topic, partition);
  const fetchFrom = (from: number): Promise<FetchedRange> => {
    const fetching = reader.fetch({ ...range, from });
    // A caller that stops early never awaits it.
    fetching.catch(() => undefined);
    return fetching;
  };
  let fetching = range.from < end ? fetchFrom(range.from) : null;
  while (fetching) {
    const { records, next, removed } = await fetching;
    if (next >= end) await checkIdentity();
    fetching = next < end ? fetchFrom(next) : null;
    if (records.length === 0) yield { records, next, removed };
    for (let at = 0; at < records.length; at += maxRecords) {
      const page = records.slice(at, at + maxRecords);
      const isLast = at + maxRecords >= records.length;
      yield { records: page, next: isLast ? next : (page.at(-1)?.offset ?? next) + 1, removed: 0 };
    }
  }
}
