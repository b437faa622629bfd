import { runToCompletion, type Coroutine } from '@carillon/kernel';
import { readInt64 } from '../reading/batch-reader.ts';
import { UnreadableBatch, unpackerOf } from './codecs.ts';

/** A record of a batch, before its topic is added. */
export type ReadRecord = {
  readonly offset: number;
  readonly time: number;
  readonly key: Uint8Array | null;
  readonly value: Uint8Array | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly unreadable: string | null;
  /** Last offset of an unreadable batch. Set only if `unreadable` is. */
  readonly lastOffset?: number;
};

/** A transaction that was aborted: records of the producer from the offset on, up to its marker. */
export type AbortedTransaction = { readonly producerId: number; readonly firstOffset: number };

export type ReadRecords = {
  readonly records: readonly ReadRecord[];
  /** Offset behind the last whole batch, also if compaction or an abort left none of its records. */
  readonly next: number;
};

/* The layout of a batch: https://kafka.apache.org/documentation/#recordbatch. */
const LENGTH_AT = 8;
const BEFORE_LENGTH_COUNTS = 12;
const MAGIC_AT = 16;
const ATTRIBUTES_AT = 21;
const LAST_DELTA_AT = 23;
const FIRST_TIME_AT = 27;
const MAX_TIME_AT = 35;
const PRODUCER_AT = 43;
const COUNT_AT = 57;
const HEADER_BYTES = 61;
const MAGIC = 2;
const CODEC = 0b111;
const TIME_IS_OF_APPEND = 0b1000;
const IS_TRANSACTIONAL = 0b1_0000;
const IS_CONTROL = 0b10_0000;
const ABORT_MARKER = 0;

/**
 * Bytes that the records of one batch may have once they are unpacked, since unpacking blocks the process. A broker takes batches of at
 * most 1 MiB by default, and events rarely shrink to a sixteenth.
 */
const MAX_UNPACKED_BYTES = 16 * 1024 * 1024;
const MAX_BATCH_RECORDS = 200_000;
const RECORD_OVERHEAD_BYTES = 200;
const MAX_HEADERS = 1_000;
const RECORDS_BETWEEN_YIELDS = 500;

/**
 * Reads whole batches that other programs wrote, from an offset on. Leaves out markers of transactions and records of those that were
 * aborted. A batch that cannot be read becomes one unreadable record, so that it holds up nothing behind it. Stops behind the batch that
 * uses up the budget of unpacked bytes. Yields between batches.
 */
export function* readTopicRecords(
  bytes: Buffer,
  from: number,
  aborted: readonly AbortedTransaction[],
  budget: { left: number },
): Coroutine<ReadRecords> {
  const records: ReadRecord[] = [];
  const waiting = [...aborted].toSorted((one, other) => one.firstOffset - other.firstOffset);
  const aborting = new Set<number>();
  let next = from;
  for (let at = 0; at + BEFORE_LENGTH_COUNTS <= bytes.length && budget.left > 0;) {
    const length = bytes.readInt32BE(at + LENGTH_AT);
    const end = at + BEFORE_LENGTH_COUNTS + length;
    if (length <= 0 || end > bytes.length) break;
    const batch = bytes.subarray(at, end);
    at = end;
    const first = readInt64(batch, 0);
    if (batch[MAGIC_AT] !== MAGIC || batch.length < HEADER_BYTES) {
      if (first < next) continue;
      records.push(unreadableBatch(first, first, 'it is older than Kafka 0.11, or no batch of records'));
      next = first + 1;
      continue;
    }
    const last = first + batch.readInt32BE(LAST_DELTA_AT);
    if (last < first && first >= next) {
      records.push(unreadableBatch(first, first, 'its last offset is before its first'));
      next = first + 1;
    }
    if (last < next) continue;
    const attributes = batch.readInt16BE(ATTRIBUTES_AT);
    const producer = readInt64(batch, PRODUCER_AT);
    for (let tx = waiting[0]; tx !== undefined && tx.firstOffset <= last; tx = waiting[0]) {
      aborting.add(tx.producerId);
      waiting.shift();
    }
    const isAborted = (attributes & IS_TRANSACTIONAL) !== 0 && aborting.has(producer);
    if ((attributes & IS_CONTROL) !== 0) {
      if (isAborted && isAbortMarker(batch)) aborting.delete(producer);
    } else if (!isAborted) {
      const read = yield* readBatch(batch, first, attributes, budget);
      if (typeof read === 'string') records.push(unreadableBatch(Math.max(first, next), last, read));
      else for (const record of read) if (record.offset >= next) records.push(record);
    }
    next = last + 1;
  }
  return { records, next };
}

function unreadableBatch(offset: number, lastOffset: number, cause: string): ReadRecord {
  const offsets = offset === lastOffset ? `offset ${offset}` : `the offsets ${offset} to ${lastOffset}`;
  const unreadable = `the batch of ${offsets} cannot be read: ${cause}`;
  return { offset, lastOffset, time: -1, key: null, value: null, headers: {}, unreadable };
}

/** Returns why it cannot be read, if it cannot. */
function* readBatch(
  batch: Buffer,
  first: number,
  attributes: number,
  budget: { left: number },
): Coroutine<readonly ReadRecord[] | string> {
  try {
    const count = batch.readInt32BE(COUNT_AT);
    if (count < 0) throw new UnreadableBatch('its number of records is negative');
    if (count > MAX_BATCH_RECORDS) throw new UnreadableBatch(`it has more than ${MAX_BATCH_RECORDS} records`);
    const unpack = unpackerOf(attributes & CODEC);
    // Taken before, because unpacking that fails may have done all the work.
    budget.left -= MAX_UNPACKED_BYTES;
    const bytes = unpack(batch.subarray(HEADER_BYTES), MAX_UNPACKED_BYTES);
    budget.left += MAX_UNPACKED_BYTES - bytes.length;
    yield;
    const firstTime = readInt64(batch, FIRST_TIME_AT);
    const appended = attributes & TIME_IS_OF_APPEND ? readInt64(batch, MAX_TIME_AT) : null;
    const cursor = new Cursor(bytes);
    const records: ReadRecord[] = [];
    for (let n = 1; n <= count; n += 1) {
      budget.left -= RECORD_OVERHEAD_BYTES;
      const size = cursor.varint();
      const record = new Cursor(cursor.bytes(size));
      // Attributes of a record: not used by any version.
      record.bytes(1);
      const time = firstTime + record.varint();
      const offset = first + record.varint();
      const key = record.nullable();
      const value = record.nullable();
      records.push({ offset, time: appended ?? time, key, value, headers: readHeaders(record), unreadable: null });
      if (n % RECORDS_BETWEEN_YIELDS === 0) yield;
    }
    return records;
  } catch (error) {
    return error instanceof UnreadableBatch ? error.message : 'its lengths contradict each other';
  }
}

function readHeaders(cursor: Cursor): Readonly<Record<string, string>> {
  const count = cursor.varint();
  if (count < 0 || count > MAX_HEADERS) throw new UnreadableBatch(`a record has more than ${MAX_HEADERS} headers`);
  const headers: [string, string][] = [];
  for (let n = 0; n < count; n += 1) {
    const name = cursor.nullable()?.toString('utf8') ?? '';
    headers.push([name, cursor.nullable()?.toString('utf8') ?? '']);
  }
  return Object.fromEntries(headers);
}

function isAbortMarker(batch: Buffer): boolean {
  const read = runToCompletion(readBatch(batch, 0, 0, { left: 0 }));
  const marker = typeof read === 'string' ? undefined : read[0];
  return marker?.key instanceof Buffer && marker.key.length >= 4 && marker.key.readInt16BE(2) === ABORT_MARKER;
}

/** Walks along bytes. Throws UnreadableBatch at their end. */
class Cursor {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  bytes(size: number): Buffer {
    const end = this.#at + size;
    if (size < 0 || end > this.#bytes.length) throw new UnreadableBatch('a length leads beyond its end');
    const found = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return found;
  }

  varint(): number {
    let value = 0;
    for (let factor = 1; ; factor *= 0x80) {
      if (factor > 2 ** 63) throw new UnreadableBatch('a number goes on beyond its end');
      const byte = this.bytes(1)[0] as number;
      value += (byte & 0x7f) * factor;
      if (byte <= 0x7f) return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
    }
  }

  nullable(): Buffer | null {
    const size = this.varint();
    return size < 0 ? null : this.bytes(size);
  }
}
