import type { LogRecord, TopicName } from '@carillon/ports';
import type { FetchedMessage } from './batch-reader.ts';

/** Header of the record that names the log; readers of configuration never see it. */
export const IDENTITY_HEADER = 'carillon_log_id';

/** Records of one partition as a fetch brought them, and where to go on. */
export type Chunk = { readonly records: readonly LogRecord[]; readonly next: number };

/**
 * A fetch answers with whole batches: what lies before the wanted offset is dropped, and what is no record of ours
 * (marks of transactions, the identity of the log) is passed over.
 */
export function chunkOf(topic: TopicName, partition: number, from: number, messages: readonly FetchedMessage[]): Chunk {
  const records: LogRecord[] = [];
  let next = from;
  for (const message of messages) {
    const { offset, key, value, headers, time, isControlRecord } = message;
    if (offset < from) continue;
    next = offset + 1;
    if (isControlRecord || isIdentity(topic, message)) continue;
    records.push({ topic, partition, offset, key, value, headers, time });
  }
  return { records, next };
}

export const isIdentity = (topic: TopicName, message: FetchedMessage): boolean =>
  topic === 'carillon.config' && message.headers[IDENTITY_HEADER] !== undefined;

export const bytesOf = (record: LogRecord): number => record.value.length + record.key.length + 64;

/** How many of the first records one batch may hold: at least one. */
export function countWithin(records: readonly LogRecord[], maxRecords: number, maxBytes: number): number {
  let bytes = 0;
  let count = 0;
  for (const record of records) {
    bytes += bytesOf(record);
    if (count > 0 && (count >= maxRecords || bytes > maxBytes)) break;
    count += 1;
  }
  return count;
}
