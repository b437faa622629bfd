import type { CarillonError } from '@carillon/kernel';
import type { TopicName } from '@carillon/ports';
import type { ReadyRecord } from './record-batch.ts';

/** One call of `append`: done when the last of its records is, refused once and as a whole. */
export type Call = {
  readonly refused: () => boolean;
  readonly until: number;
  appended(index: number, offset: number): void;
  refuse(error: CarillonError): void;
};

/** A record on its way, with the call that it belongs to. */
export type Entry = {
  readonly call: Call;
  /** Index of the record within the call. */
  readonly index: number;
  readonly topic: TopicName;
  readonly message: ReadyRecord;
  readonly bytes: number;
};

/** Maximum bytes per partition in one send, or one larger record. */
export const PARTITION_BYTES = 900 * 1024;
const SEND_BYTES = 8 * 1024 * 1024;
const SEND_RECORDS = 10_000;

export const placeOf = (topic: string, partition: number): string => `${topic}/${partition}`;

/**
 * Takes from the head of the queue what one send may hold. What does not fit stays, and nothing of the same partition
 * overtakes it. Entries of refused calls are dropped: they were never sent.
 */
export function takeSend(queue: Entry[]): Entry[] {
  const taken: Entry[] = [];
  const left: Entry[] = [];
  const bytesOf = new Map<string, number>();
  const full = new Set<string>();
  let total = 0;
  let at = 0;
  for (; at < queue.length && total < SEND_BYTES && taken.length < SEND_RECORDS; at += 1) {
    const entry = queue[at];
    if (!entry || entry.call.refused()) continue;
    const place = placeOf(entry.topic, entry.message.partition);
    const bytes = bytesOf.get(place) ?? 0;
    if (full.has(place) || (bytes > 0 && bytes + entry.bytes > PARTITION_BYTES)) {
      full.add(place);
      left.push(entry);
      continue;
    }
    bytesOf.set(place, bytes + entry.bytes);
    total += entry.bytes;
    taken.push(entry);
  }
  queue.splice(0, at, ...left);
  return taken;
}
