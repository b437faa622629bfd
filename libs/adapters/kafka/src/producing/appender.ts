import { TOPICS } from '@carillon/contracts';
import { CarillonError, type Duration } from '@carillon/kernel';
import type { NewRecord, TopicName } from '@carillon/ports';
import type { Watermarks } from '../watermarks.ts';
import type { Call, Entry } from './appending.ts';
import type { DisposableProducer } from './disposable-producer.ts';
import { createLane, refusal } from './lane.ts';
import { ReadyRecord } from './record-batch.ts';

/**
 * Maximum message size of a topic (`max.message.bytes`), and the bytes that Kafka adds to a batch and to each record.
 */
export const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;
const BATCH_OVERHEAD_BYTES = 256;
const RECORD_OVERHEAD_BYTES = 32;

export type AppenderOptions = {
  readonly lanes: number;
  /** How long a call may take before it is refused. */
  readonly appendTimeout: Duration;
  /** Bytes that may wait in all lanes together; beyond it calls are refused as `overloaded`. */
  readonly maxQueuedBytes: number;
};

export type Appender = {
  append(records: readonly NewRecord[]): Promise<readonly number[]>;
  close(): void;
};

/** Spreads records over lanes by partition, so that the order within a partition is that of the calls. */
export function createAppender(
  makeProducer: () => DisposableProducer,
  partitions: (topic: TopicName) => number,
  watermarks: Watermarks,
  options: AppenderOptions,
): Appender {
  const lanes = Array.from({ length: options.lanes }, () => createLane(makeProducer, watermarks));
  let queued = 0;

  return {
    async append(records) {
      if (records.length === 0) return [];
      const sizes = records.map(sizeOf);
      for (const [index, record] of records.entries()) check(record, sizes[index] ?? 0, partitions);
      const bytes = sizes.reduce((sum, size) => sum + size, 0);
      if (queued > 0 && queued + bytes > options.maxQueuedBytes) {
        const limit = `${options.maxQueuedBytes} bytes`;
        throw new CarillonError('overloaded', `${queued} bytes are already queued for Kafka`, {
          retryAfter: 1000,
          limit,
        });
      }
      queued += bytes;
      return new Promise<readonly number[]>((resolve, reject) => {
        const call = createCall(records.length, options.appendTimeout, (offsets, error) => {
          queued -= bytes;
          if (error) reject(error);
          else resolve(offsets);
        });
        const perLane = new Map<number, Entry[]>();
        for (const [index, record] of records.entries()) {
          const at = (TOPICS.indexOf(record.topic) + record.partition) % lanes.length;
          const entry = entryOf(call, index, record, sizes[index] ?? 0);
          const own = perLane.get(at);
          if (own) own.push(entry);
          else perLane.set(at, [entry]);
        }
        for (const [at, entries] of perLane) lanes[at]?.add(entries);
      });
    },
    close: () => lanes.forEach((lane) => lane.close()),
  };
}

function createCall(
  count: number,
  timeout: Duration,
  settle: (offsets: readonly number[], error: CarillonError | null) => void,
): Call {
  const offsets: number[] = Array.from({ length: count }, () => -1);
  let left = count;
  let settled = false;
  const end = (error: CarillonError | null): void => {
    if (settled) return;
    settled = true;
    clearTimeout(timer);
    settle(offsets, error);
  };
  const timer = setTimeout(() => end(refusal('no broker confirmed them in time')), timeout);
  return {
    until: Date.now() + timeout,
    refused: () => settled,
    appended(index, offset) {
      offsets[index] = offset;
      left -= 1;
      if (left === 0) end(null);
    },
    refuse: (error) => end(error),
  };
}

const entryOf = (call: Call, index: number, record: NewRecord, bytes: number): Entry => ({
  call,
  index,
  topic: record.topic,
  bytes,
  message: new ReadyRecord(record.partition, record.key, record.value, record.headers),
});

function sizeOf({ key, value, headers }: NewRecord): number {
  let bytes = value.length + Buffer.byteLength(key) + RECORD_OVERHEAD_BYTES;
  for (const [name, text] of Object.entries(headers)) bytes += Buffer.byteLength(name) + Buffer.byteLength(text) + 6;
  return bytes;
}

function check(record: NewRecord, bytes: number, partitions: (topic: TopicName) => number): void {
  if (!(record.partition >= 0 && record.partition < partitions(record.topic))) {
    throw new RangeError(`the log has no partition ${record.partition} of ${record.topic}`);
  }
  if (bytes + BATCH_OVERHEAD_BYTES > MAX_MESSAGE_BYTES) {
    throw new CarillonError(
      'body_too_large',
      `a record of ${bytes} bytes for ${record.topic} is larger than the topic allows; no record of its batch was appended`,
      { limit: `${MAX_MESSAGE_BYTES} bytes` },
    );
  }
}
