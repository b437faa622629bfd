import { existsSync } from 'node:fs';
import { CarillonError, type LogId } from '@carillon/kernel';
import type { EventHistory, HistoryPage, OffsetRange } from '@carillon/ports';
import { dataFiles } from './data-folder.ts';
import { createLogReading, type LogReading } from './log/read-log.ts';
import { openReader } from './reader.ts';
import { createSchemaRegistry } from './stores/schema-registry.ts';

const BUSY_TIMEOUT_MS = 5000;

/**
 * Opens the log of a data folder read-only, without the folder's lock and without a writer, beside the process that writes it. Each
 * read is one short statement, so that the writer can truncate its write-ahead log. Throws CarillonError `wrong_log` if the folder
 * holds another log than `logId`.
 */
export function openHistory(dataDir: string, logId: LogId): EventHistory {
  const { database } = dataFiles(dataDir);
  if (!existsSync(database)) throw new CarillonError('log_unavailable', `${dataDir} has no data file`);
  const reader = openReader(database, BUSY_TIMEOUT_MS, { known: () => null, found: (what) => `${database}: ${what}` });
  try {
    const log = createLogReading(reader);
    if (log.logId !== logId) {
      throw new CarillonError('wrong_log', `${dataDir} holds log ${log.logId} and not ${logId}; start the run again`);
    }
    return {
      logId,
      partitions: log.partitions,
      read: async (topic, partition, from, maxRecords, maxBytes) =>
        log.read(topic, partition, from, maxRecords, maxBytes),
      bounds: async (topic, partition) => log.bounds(topic, partition),
      pages: (range, maxRecords) => readPages(log, range, maxRecords),
      registry: createSchemaRegistry(reader, async (_operation, _load, ...[subject]) => {
        throw new CarillonError(
          'data_version',
          `the data file has no schema of ${subject}; start Carillon with this data folder once`,
        );
      }),
      close: () => reader.close(),
    };
  } catch (error) {
    reader.close();
    throw error;
  }
}

/**
 * Each page is one short read. Offsets have gaps only before the start of the log, and after its end if the log was set
 * back.
 */
async function* readPages(
  log: Pick<LogReading, 'read'>,
  { topic, partition, from, end }: OffsetRange,
  maxRecords: number,
): AsyncGenerator<HistoryPage> {
  for (let first = from; first < end;) {
    const found = log.read(topic, partition, first, Math.min(maxRecords, end - first));
    const records = found.filter(({ offset }) => offset < end);
    const next = Math.min(end, (found.at(-1)?.offset ?? end) + 1);
    yield { records, next, removed: next - first - records.length };
    first = next;
  }
}
