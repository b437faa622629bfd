import type { LogRecord } from '@carillon/ports';
import { bytesOf, type Chunk, countWithin } from '../reading/records.ts';

/**
 * Records of one assignment that were fetched and not handed over yet. Fetching goes on while little is in it, so that
 * a handler rarely waits, and memory stays bounded by about two fetches per partition.
 */
export type PartitionBuffer = {
  readonly partition: number;
  /** The offset to fetch next. */
  next(): number;
  hungry(): boolean;
  /** Takes what was fetched from `from`; ignored when the buffer has gone on elsewhere since. */
  put(from: number, chunk: Chunk, end: number): void;
  /** Where the partition ended when the newest fetch was answered. */
  end(): number;
  /** The worker has to end with this error, after what is in it was handed over. */
  fail(error: unknown): void;
  /** Resolves with at least one record, or with none when the signal ends. Throws what it failed with. */
  take(maxRecords: number, maxBytes: number, signal: AbortSignal): Promise<readonly LogRecord[]>;
};

const FETCH_BELOW_BYTES = 256 * 1024;

export function createPartitionBuffer(partition: number, from: number, hungered: () => void): PartitionBuffer {
  const records: LogRecord[] = [];
  let bytes = 0;
  let next = from;
  let newestEnd = from;
  let failure: { readonly error: unknown } | null = null;
  let changed = Promise.withResolvers<void>();

  const wake = (): void => {
    changed.resolve();
    changed = Promise.withResolvers<void>();
  };
  return {
    partition,
    next: () => next,
    hungry: () => bytes < FETCH_BELOW_BYTES && !failure,
    end: () => newestEnd,
    put(asked, chunk, end) {
      if (asked !== next) return;
      next = chunk.next;
      newestEnd = Math.max(next, end);
      for (const record of chunk.records) {
        records.push(record);
        bytes += bytesOf(record);
      }
      if (chunk.records.length > 0) wake();
    },
    fail(error) {
      failure = { error };
      wake();
    },
    async take(maxRecords, maxBytes, signal) {
      const ended = (): void => wake();
      signal.addEventListener('abort', ended, { once: true });
      try {
        while (records.length === 0 && !failure && !signal.aborted) await changed.promise;
      } finally {
        signal.removeEventListener('abort', ended);
      }
      if (signal.aborted) return [];
      if (failure && records.length === 0) throw failure.error;
      const batch = records.splice(0, countWithin(records, maxRecords, maxBytes));
      const was = bytes;
      for (const record of batch) bytes -= bytesOf(record);
      if (was >= FETCH_BELOW_BYTES && bytes < FETCH_BELOW_BYTES) hungered();
      return batch;
    },
  };
}
