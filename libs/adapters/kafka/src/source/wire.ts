import { readInt64 } from '../reading/batch-reader.ts';

/** Writes the compact form of Kafka's protocol: lengths are varints, and tagged fields follow each structure. */
export class CompactWriter {
  readonly #pieces: Buffer[] = [];

  int8(value: number): this {
    return this.#add(Buffer.from([value & 0xff]));
  }

  int32(value: number): this {
    const piece = Buffer.alloc(4);
    piece.writeInt32BE(value);
    return this.#add(piece);
  }

  int64(value: number): this {
    const piece = Buffer.alloc(8);
    piece.writeBigInt64BE(BigInt(value));
    return this.#add(piece);
  }

  /** Null and an empty list differ. */
  list<Item>(items: readonly Item[] | null, write: (item: Item) => void): this {
    this.#varint(items === null ? 0 : items.length + 1);
    for (const item of items ?? []) write(item);
    return this;
  }

  text(value: string): this {
    const bytes = Buffer.from(value);
    this.#varint(bytes.length + 1);
    return this.#add(bytes);
  }

  /** Base64url, as Kafka's own tools print it. Null: no id. */
  uuid(value: string | null): this {
    return this.#add(value === null ? Buffer.alloc(16) : Buffer.from(value, 'base64url'));
  }

  noTags(): this {
    return this.int8(0);
  }

  bytes(): Buffer {
    return Buffer.concat(this.#pieces);
  }

  #varint(value: number): void {
    let rest = value;
    while (rest > 0x7f) {
      this.int8((rest & 0x7f) | 0x80);
      rest = Math.floor(rest / 0x80);
    }
    this.int8(rest);
  }

  #add(piece: Buffer): this {
    this.#pieces.push(piece);
    return this;
  }
}

/**
 * Reads values in the compact form of Kafka's protocol, whose lengths are varints. Throws RangeError at the end of the
 * bytes.
 */
export class CompactReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  int8(): number {
    return this.#bytes.readInt8(this.#pass(1));
  }

  int16(): number {
    return this.#bytes.readInt16BE(this.#pass(2));
  }

  int32(): number {
    return this.#bytes.readInt32BE(this.#pass(4));
  }

  int64(): number {
    return readInt64(this.#bytes, this.#pass(8));
  }

  uuid(): string | null {
    const bytes = this.#take(16);
    return bytes.every((byte) => byte === 0) ? null : bytes.toString('base64url');
  }

  text(): string | null {
    const size = this.#varint() - 1;
    return size < 0 ? null : this.#take(size).toString('utf8');
  }

  blob(): Buffer {
    return this.#take(Math.max(0, this.#varint() - 1));
  }

  list<Item>(read: () => Item): Item[] {
    const count = Math.max(0, this.#varint() - 1);
    // Each item has a byte at least.
    if (count > this.#bytes.length - this.#at)
      throw new RangeError('the response of the Kafka broker is corrupt: a list is longer than the response');
    return Array.from({ length: count }, read);
  }

  skipTags(): void {
    for (let left = this.#varint(); left > 0; left -= 1) {
      this.#varint();
      this.#take(this.#varint());
    }
  }

  #varint(): number {
    let value = 0;
    for (let factor = 1; factor <= 2 ** 35; factor *= 0x80) {
      const byte = this.#bytes.readUInt8(this.#pass(1));
      value += (byte & 0x7f) * factor;
      if (byte <= 0x7f) return value;
    }
    throw new RangeError('the response of the Kafka broker is corrupt: a number has too many bytes');
  }

  #take(size: number): Buffer {
    const at = this.#pass(size);
    return this.#bytes.subarray(at, at + size);
  }

  #pass(size: number): number {
    const at = this.#at;
    if (size < 0 || at + size > this.#bytes.length)
      throw new RangeError('the response of the Kafka broker is corrupt: it ends too early');
    this.#at += size;
    return at;
  }
}
