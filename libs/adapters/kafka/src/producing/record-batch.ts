import { crc32c } from './crc32c.ts';

/*
 * Records as Kafka takes them (magic byte 2): https://kafka.apache.org/documentation/#recordbatch. kafkajs encodes the same bytes with a
 * buffer of 512 bytes for each key, value and header, and copies each record five times.
 */

/** Bytes of a number as a zigzag varint. */
function sizeOfVarint(value: number): number {
  let left = ((value << 1) ^ (value >> 31)) >>> 0;
  let bytes = 1;
  for (; left > 0x7f; left >>>= 7) bytes += 1;
  return bytes;
}

/** Writes a zigzag varint; answers where it ends. */
function writeVarint(into: Buffer, at: number, value: number): number {
  let left = ((value << 1) ^ (value >> 31)) >>> 0;
  let end = at;
  for (; left > 0x7f; left >>>= 7) into[end++] = (left & 0x7f) | 0x80;
  into[end++] = left;
  return end;
}

/** Longer texts are counted and written by Node. */
const SHORT = 64;

/** Bytes of a text as UTF-8. Most keys and headers are short and plain, where a call into Node costs more than the loop. */
function sizeOfText(text: string): number {
  if (text.length > SHORT) return Buffer.byteLength(text);
  for (let at = 0; at < text.length; at += 1) if (text.charCodeAt(at) > 0x7f) return Buffer.byteLength(text);
  return text.length;
}

/** Writes length and text, whose bytes are `size`; answers where it ends. */
function writeText(into: Buffer, at: number, text: string, size: number): number {
  const start = writeVarint(into, at, size);
  if (size > SHORT || size !== text.length) into.write(text, start, size);
  else for (let n = 0; n < size; n += 1) into[start + n] = text.charCodeAt(n);
  return start + size;
}

const withLength = (size: number): number => sizeOfVarint(size) + size;

/** A record that waits to be sent, as bytes from its key on: what comes before depends on its place in the batch. */
export class ReadyRecord {
  readonly partition: number;
  /** Key, value and headers, each with its length. */
  readonly tail: Buffer;

  /** Copies the value: what the caller does to its bytes later is its own affair. */
  constructor(partition: number, key: string, value: Uint8Array, headers: Readonly<Record<string, string>>) {
    this.partition = partition;
    const texts = Object.entries(headers).flat();
    const sizes = texts.map(sizeOfText);
    const keySize = sizeOfText(key);
    const tail = Buffer.allocUnsafe(
      sizes.reduce((sum, size) => sum + withLength(size), sizeOfVarint(texts.length / 2)) +
        withLength(keySize) +
        withLength(value.length),
    );
    let at = writeText(tail, 0, key, keySize);
    at = writeVarint(tail, at, value.length);
    tail.set(value, at);
    at = writeVarint(tail, at + value.length, texts.length / 2);
    for (const [n, text] of texts.entries()) at = writeText(tail, at, text, sizes[n] ?? 0);
    this.tail = tail;
  }

  /** kafkajs reads this field before it groups messages. */
  get value(): Buffer {
    return this.tail;
  }
}

/** Attributes and the difference to the first timestamp, of which there is none: both zero. */
const BEFORE_PLACE = 2;
const sizeOfBody = ({ tail }: ReadyRecord, place: number): number => BEFORE_PLACE + sizeOfVarint(place) + tail.length;

/** From its first offset to the number of its records. */
const BATCH_HEADER = 61;
/** First offset and length: what the length does not count. */
const BEFORE_LENGTH_COUNTS = 12;
/** First offset, length, leader epoch, magic byte and the checksum itself: what the checksum does not cover. */
const BEFORE_CHECKSUM_COVERS = 21;
const MAGIC = 2;

export type BatchProducer = { readonly id: bigint; readonly epoch: number; readonly firstSequence: number };

export const sizeOfBatch = (records: readonly ReadyRecord[]): number =>
  records.reduce((sum, record, place) => sum + withLength(sizeOfBody(record, place)), BATCH_HEADER);

/** Writes an uncompressed batch of idempotent records, all of them of the time `now`; answers where it ends. */
export function writeBatch(
  into: Buffer,
  start: number,
  records: readonly ReadyRecord[],
  { id, epoch, firstSequence }: BatchProducer,
  now: number,
): number {
  const covered = start + BEFORE_CHECKSUM_COVERS;
  // Attributes: no compression, no transaction.
  let at = into.writeInt16BE(0, covered);
  at = into.writeInt32BE(records.length - 1, at);
  at = into.writeBigInt64BE(BigInt(now), at);
  at = into.writeBigInt64BE(BigInt(now), at);
  at = into.writeBigInt64BE(id, at);
  at = into.writeInt16BE(epoch, at);
  at = into.writeInt32BE(firstSequence, at);
  at = into.writeInt32BE(records.length, at);
  for (const [place, record] of records.entries()) {
    at = writeVarint(into, at, sizeOfBody(record, place));
    into[at++] = 0;
    into[at++] = 0;
    at = writeVarint(into, at, place);
    into.set(record.tail, at);
    at += record.tail.length;
  }
  into.writeBigInt64BE(0n, start);
  into.writeInt32BE(at - start - BEFORE_LENGTH_COUNTS, start + 8);
  into.writeInt32BE(0, start + 12);
  into.writeInt8(MAGIC, start + 16);
  into.writeUInt32BE(crc32c(into, covered, at), start + 17);
  return at;
}
