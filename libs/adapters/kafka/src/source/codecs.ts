import zlib from 'node:zlib';

/** Bytes that are no data of their codec, or more than fit. Its text names the cause. */
export class UnreadableBatch extends Error {}

type Unpack = (bytes: Buffer, maxBytes: number) => Buffer;

const MAX_SNAPPY_HEADER = 16;
const XERIAL = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0x00]);
const LZ4_MAGIC = 0x18_4d_22_04;

/** Collects bytes up to a bound. Copies may repeat what was just written. */
class Output {
  #bytes: Buffer;
  #length = 0;
  readonly #maxBytes: number;

  constructor(maxBytes: number, expected: number) {
    this.#maxBytes = maxBytes;
    this.#bytes = Buffer.alloc(Math.min(Math.max(expected, 64), maxBytes));
  }

  write(from: Buffer, start: number, end: number): void {
    if (start > end || end > from.length) throw new UnreadableBatch('its data ends too early');
    this.#reserve(end - start);
    from.copy(this.#bytes, this.#length, start, end);
    this.#length += end - start;
  }

  repeat(distance: number, length: number): void {
    if (distance <= 0 || distance > this.#length)
      throw new UnreadableBatch('its data refers to bytes that do not exist');
    this.#reserve(length);
    for (let n = 0; n < length; n += 1) {
      this.#bytes[this.#length] = this.#bytes[this.#length - distance] as number;
      this.#length += 1;
    }
  }

  bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  #reserve(more: number): void {
    const needed = this.#length + more;
    if (needed > this.#maxBytes) throw new UnreadableBatch(`it holds more than ${this.#maxBytes} bytes`);
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.alloc(Math.min(this.#maxBytes, Math.max(needed, this.#bytes.length * 2)));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }
}

function byteAt(bytes: Buffer, at: number): number {
  const byte = bytes[at];
  if (byte === undefined) throw new UnreadableBatch('its data ends too early');
  return byte;
}

/** https://github.com/google/snappy/blob/main/format_description.txt */
function unpackSnappyBlock(bytes: Buffer, out: Output): void {
  let at = 0;
  while (byteAt(bytes, at) & 0x80) at += 1;
  at += 1;
  while (at < bytes.length) {
    const tag = byteAt(bytes, at);
    at += 1;
    const kind = tag & 3;
    if (kind === 0) {
      let length = tag >> 2;
      if (length >= 60) {
        const size = length - 59;
        if (at + size > bytes.length) throw new UnreadableBatch('its data ends too early');
        length = bytes.readUIntLE(at, size);
        at += size;
      }
      out.write(bytes, at, at + length + 1);
      at += length + 1;
    } else if (kind === 1) {
      out.repeat(((tag >> 5) << 8) | byteAt(bytes, at), ((tag >> 2) & 7) + 4);
      at += 1;
    } else {
      const size = kind === 2 ? 2 : 4;
      if (at + size > bytes.length) throw new UnreadableBatch('its data ends too early');
      out.repeat(bytes.readUIntLE(at, size), (tag >> 2) + 1);
      at += size;
    }
  }
}

/** Java's producers put blocks behind a header and their lengths; others send one block. */
function unpackSnappy(bytes: Buffer, maxBytes: number): Buffer {
  const out = new Output(maxBytes, bytes.length * 2);
  if (bytes.length < MAX_SNAPPY_HEADER || !bytes.subarray(0, XERIAL.length).equals(XERIAL)) {
    unpackSnappyBlock(bytes, out);
    return out.bytes();
  }
  for (let at = MAX_SNAPPY_HEADER; at < bytes.length;) {
    if (at + 4 > bytes.length) throw new UnreadableBatch('its data ends too early');
    const end = at + 4 + bytes.readUInt32BE(at);
    if (end > bytes.length) throw new UnreadableBatch('its data ends too early');
    unpackSnappyBlock(bytes.subarray(at + 4, end), out);
    at = end;
  }
  return out.bytes();
}

/** LZ4 block format: https://github.com/lz4/lz4/tree/dev/doc */
function unpackLz4Block(bytes: Buffer, out: Output): void {
  let at = 0;
  const lengthFrom = (nibble: number): number => {
    let length = nibble;
    for (let byte = nibble === 15 ? 255 : 0; byte === 255; length += byte) {
      byte = byteAt(bytes, at);
      at += 1;
    }
    return length;
  };
  while (at < bytes.length) {
    const token = byteAt(bytes, at);
    at += 1;
    const literals = lengthFrom(token >> 4);
    out.write(bytes, at, at + literals);
    at += literals;
    if (at >= bytes.length) return;
    const distance = byteAt(bytes, at) | (byteAt(bytes, at + 1) << 8);
    at += 2;
    out.repeat(distance, lengthFrom(token & 15) + 4);
  }
}

/** LZ4 frame format: https://github.com/lz4/lz4/tree/dev/doc. Checksums are left to those of Kafka and TCP. */
function unpackLz4(bytes: Buffer, maxBytes: number): Buffer {
  const out = new Output(maxBytes, bytes.length * 2);
  if (bytes.length < 7 || bytes.readUInt32LE(0) !== LZ4_MAGIC) throw new UnreadableBatch('its data is no LZ4 frame');
  const flags = byteAt(bytes, 4);
  const hasBlockChecksums = (flags & 0x10) !== 0;
  let at = 7 + ((flags & 0x08) === 0 ? 0 : 8) + ((flags & 0x01) === 0 ? 0 : 4);
  for (;;) {
    if (at + 4 > bytes.length) throw new UnreadableBatch('its data ends too early');
    const size = bytes.readUInt32LE(at);
    at += 4;
    if (size === 0) return out.bytes();
    const end = at + (size & 0x7f_ff_ff_ff);
    if (end > bytes.length) throw new UnreadableBatch('its data ends too early');
    if (size >= 0x80_00_00_00) out.write(bytes, at, end);
    else unpackLz4Block(bytes.subarray(at, end), out);
    at = end + (hasBlockChecksums ? 4 : 0);
  }
}

const unpackGzip: Unpack = (bytes, maxOutputLength) => zlib.gunzipSync(bytes, { maxOutputLength });

/** Node.js 20 has no zstd. */
const { zstdDecompressSync }: Partial<Pick<typeof zlib, 'zstdDecompressSync'>> = zlib;

const unpackZstd: Unpack | null = zstdDecompressSync
  ? (bytes, maxOutputLength) => zstdDecompressSync(bytes, { maxOutputLength })
  : null;

/** Compression codecs by their number in the attributes of a batch. */
const CODECS: readonly ({ readonly name: string; readonly unpack: Unpack | null } | undefined)[] = [
  { name: 'none', unpack: (bytes) => bytes },
  { name: 'gzip', unpack: unpackGzip },
  { name: 'snappy', unpack: unpackSnappy },
  { name: 'lz4', unpack: unpackLz4 },
  { name: 'zstd', unpack: unpackZstd },
];

/**
 * Returns what unpacks the records of a batch. It throws UnreadableBatch if they are not of the codec, or have more than `maxBytes`.
 * Throws UnreadableBatch if there is no such codec.
 */
export function unpackerOf(codec: number): Unpack {
  const found = CODECS[codec];
  if (!found)
    throw new UnreadableBatch(`it is compressed by a codec with number ${codec}, which Carillon does not know`);
  const { name, unpack } = found;
  if (!unpack)
    throw new UnreadableBatch(`it is compressed with ${name}, and Carillon reads ${name} from Node.js 22.15 on`);
  return (bytes, maxBytes) => {
    try {
      return unpack(bytes, maxBytes);
    } catch (error) {
      const detail = error instanceof UnreadableBatch ? error.message : 'its data is damaged or too large';
      throw new UnreadableBatch(`it is compressed with ${name}, and ${detail}`, { cause: error });
    }
  };
}
