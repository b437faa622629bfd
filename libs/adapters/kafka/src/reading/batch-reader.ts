/** A record as it stands on a partition. Its value lies in the bytes of the answer that brought it. */
export type FetchedMessage = {
  readonly offset: number;
  readonly time: number;
  readonly key: string;
  readonly value: Uint8Array;
  /** The last value counts where another program repeated a header. */
  readonly headers: Readonly<Record<string, string>>;
  /** A mark of a transaction: no record of anybody's. */
  readonly isControlRecord: boolean;
};

/** Batches that are left to kafkajs: compressed ones, and those of Kafka before 0.11. */
export class NotPlain extends Error {}

/*
 * The layout of a batch: https://kafka.apache.org/documentation/#recordbatch. kafkajs reads the same with an object for each field, a
 * buffer for each record and three big integers for each offset and time.
 */
const LENGTH_AT = 8;
const BEFORE_LENGTH_COUNTS = 12;
const MAGIC_AT = 16;
const ATTRIBUTES_AT = 21;
const FIRST_TIME_AT = 27;
const MAX_TIME_AT = 35;
const COUNT_AT = 57;
const HEADER_BYTES = 61;
const MAGIC = 2;
const COMPRESSION = 0b111;
const TIME_IS_OF_APPEND = 0b1000;
const IS_CONTROL = 0b10_0000;

/** An offset or a time: within what a number holds exactly, for longer than the log will be there. */
export const readInt64 = (bytes: Buffer, at: number): number =>
  bytes.readInt32BE(at) * 2 ** 32 + bytes.readUInt32BE(at + 4);

/** A text that came before, and where: the next record mostly has the same in the same place. */
type Remembered = { at: number; size: number; text: string };

/**
 * Reads the batches that lie in `bytes` from `from` to `to`, one after another; the last one may be cut off, and is passed over then.
 *
 * @throws NotPlain where one of them is not for this reader.
 * @throws RangeError where lengths contradict each other.
 */
export function readBatches(bytes: Buffer, from: number, to: number): FetchedMessage[] {
  const messages: FetchedMessage[] = [];
  const remembered: Remembered[] = [];
  let at = from;

  function readVarint(): number {
    if (at >= to) throw new RangeError('a Kafka record batch is corrupt: a record is longer than its batch');
    let byte = bytes[at++] as number;
    let value = byte & 0x7f;
    // Multiplied, not shifted: lengths fit into 31 bits, differences of times do not.
    for (let factor = 0x80; byte > 0x7f; factor *= 0x80) {
      if (at >= to || factor > 2 ** 63)
        throw new RangeError('a number within a Kafka record batch is corrupt: a record is longer than its batch');
      byte = bytes[at++] as number;
      value += (byte & 0x7f) * factor;
    }
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }

  /** Where something of this length ends. */
  function endOf(size: number): number {
    const end = at + size;
    if (end > to) throw new RangeError('a Kafka record batch is corrupt: a field is longer than its record');
    return end;
  }

  function readText(place: number): string {
    const size = readVarint();
    if (size <= 0) return '';
    const start = at;
    at = endOf(size);
    const last = remembered[place];
    if (last && last.size === size && isSame(bytes, start, last.at, size)) return last.text;
    const text = bytes.toString('utf8', start, at);
    remembered[place] = { at: start, size, text };
    return text;
  }

  function readHeaders(): Record<string, string> {
    const count = readVarint();
    // An assignment to `__proto__` would lose a header of that name.
    const headers: [name: string, value: string][] = [];
    for (let n = 0; n < count; n += 1) headers.push([readText(2 * n), readText(2 * n + 1)]);
    return Object.fromEntries(headers);
  }

  while (at + HEADER_BYTES <= to) {
    const start = at;
    const end = start + BEFORE_LENGTH_COUNTS + bytes.readInt32BE(start + LENGTH_AT);
    const attributes = bytes.readInt16BE(start + ATTRIBUTES_AT);
    if (bytes[start + MAGIC_AT] !== MAGIC || attributes & COMPRESSION) throw new NotPlain();
    if (end > to) break;
    if (end < start + HEADER_BYTES)
      throw new RangeError('a Kafka record batch is corrupt: it ends before its first record');
    const firstOffset = readInt64(bytes, start);
    const firstTime = readInt64(bytes, start + FIRST_TIME_AT);
    const appended = attributes & TIME_IS_OF_APPEND ? readInt64(bytes, start + MAX_TIME_AT) : null;
    const isControlRecord = (attributes & IS_CONTROL) !== 0;
    const count = bytes.readInt32BE(start + COUNT_AT);
    at = start + HEADER_BYTES;
    for (let n = 0; n < count; n += 1) {
      const next = endOfRecord(readVarint());
      // Attributes of a record: not used by any version.
      at += 1;
      const time = firstTime + readVarint();
      const offset = firstOffset + readVarint();
      const keySize = readVarint();
      const keyAt = at;
      at = endOf(Math.max(0, keySize));
      const key = bytes.toString('utf8', keyAt, at);
      const valueSize = Math.max(0, readVarint());
      const value = bytes.subarray(at, endOf(valueSize));
      at += valueSize;
      const headers = readHeaders();
      messages.push({ offset, time: appended ?? time, key, value, headers, isControlRecord });
      at = next;
    }
    at = end;
  }
  return messages;

  function endOfRecord(size: number): number {
    if (size < 0) throw new RangeError('a Kafka record batch is corrupt: a record has a negative length');
    return endOf(size);
  }
}

function isSame(bytes: Buffer, one: number, other: number, size: number): boolean {
  for (let n = 0; n < size; n += 1) if (bytes[one + n] !== bytes[other + n]) return false;
  return true;
}
