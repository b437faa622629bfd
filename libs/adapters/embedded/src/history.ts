import { existsSync } from 'node:fs';
import { CarillonError, type LogId } from '@carillon/kernel';
import type { EventLog, SchemaRegistry } from '@carillon/ports';
import { dataFiles } from './data-folder.ts';
import { createLogReading } from './log/read-log.ts';
import { openReader } from './reader.ts';
import { createSchemaRegistry } from './stores/schema-registry.ts';

/** The log of a data folder that another process writes. */
export type EventHistory = Pick<EventLog, 'logId' | 'partitions' | 'read' | 'bounds'> & {
  /** Finds schemas that the writing process registered, and refuses to register others. */
  readonly registry: SchemaRegistry;
  readonly close: () => void;
};

const BUSY_TIMEOUT = 5000;

/**
 * Opens the log of a data folder read-only, without the folder's lock and without a writer, beside the process that writes it. Each
 * read is one short statement, so that the writer can truncate its write-ahead log. Throws CarillonError `wrong_log` if the folder
 * holds another log than `logId`.
 */
export function openHistory(dataDir: string, logId: LogId): EventHistory {
  const { database } = dataFiles(dataDir);
  if (!existsSync(database)) throw new CarillonError('log_unavailable', `${dataDir} holds no data file`);
  const reader = openReader(database, BUSY_TIMEOUT, { known: () => null, found: (what) => `${database}: ${what}` });
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
      registry: createSchemaRegistry(reader, async (_operation, _load, ...[subject]) => {
        throw new CarillonError('data_version', `the data file holds no schema of ${subject}; start it once`);
      }),
      close: () => reader.close(),
    };
  } catch (error) {
    reader.close();
    throw error;
  }
}
