export type BatchRecord = {
  /** Its offset after the first one of the batch. Defaults to its place. */
  readonly delta?: number;
  readonly key?: string | Buffer | null;
  readonly value: string | Buffer | null;
  readonly headers?: Readonly<Record<string, string>>;
};
export type BatchOptions = {
  readonly first: number;
  /** Offset of the last record after the first one, also if compaction removed it. */
  readonly lastDelta?: number;
  readonly attributes?: number;
  readonly producerId?: number;
  readonly time?: number;
  /** Compresses the records, or damages them. */
  readonly pack?: (records: Buffer) => Buffer;
  /** Number of records in the header of the batch. */
  readonly count?: number;
};

export const TRANSACTIONAL = 0b1_0000;
export const CONTROL = 0b10_0000;

export function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value < 0 ? -value * 2 - 1 : value * 2;
  for (; rest > 0x7f; rest = Math.floor(rest / 0x80)) bytes.push((rest & 0x7f) | 0x80);
  return Buffer.from([...bytes, rest]);
}

const sized = (value: string | Buffer | null): Buffer => {
  if (value === null) return varint(-1);
  const bytes = Buffer.from(value);
  return Buffer.concat([varint(bytes.length), bytes]);
};

function recordOf({ delta, key = null, value, headers = {} }: BatchRecord, place: number): Buffer {
  const named = Object.entries(headers).flatMap(([name, text]) => [sized(name), sized(text)]);
  const body = Buffer.concat([
    Buffer.from([0]),
    varint(place),
    varint(delta ?? place),
    sized(key),
    sized(value),
    varint(Object.keys(headers).length),
    ...named,
  ]);
  return Buffer.concat([varint(body.length), body]);
}

/** A batch of records as brokers keep it: https://kafka.apache.org/documentation/#recordbatch */
export function batchOf(records: readonly BatchRecord[], options: BatchOptions): Buffer {
  const { first, lastDelta = records.length - 1, attributes = 0, producerId = -1, time = 0 } = options;
  const { pack = (bytes: Buffer) => bytes, count = records.length } = options;
  const packed = pack(Buffer.concat(records.map(recordOf)));
  const head = Buffer.alloc(61);
  head.writeBigInt64BE(BigInt(first), 0);
  head.writeInt32BE(49 + packed.length, 8);
  head.writeInt8(2, 16);
  head.writeInt16BE(attributes, 21);
  head.writeInt32BE(lastDelta, 23);
  head.writeBigInt64BE(BigInt(time), 27);
  head.writeBigInt64BE(BigInt(time), 35);
  head.writeBigInt64BE(BigInt(producerId), 43);
  head.writeInt32BE(count, 57);
  return Buffer.concat([head, packed]);
}

/** The end of a transaction. */
export function markerOf(end: 'abort' | 'commit', first: number, producerId: number): Buffer {
  const key = Buffer.from([0, 0, 0, end === 'commit' ? 1 : 0]);
  return batchOf([{ key, value: null }], { first, producerId, attributes: TRANSACTIONAL | CONTROL });
}
