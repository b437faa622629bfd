/** Messages of pgoutput as a server writes them. */

const number = (bytes: 1 | 2 | 4, value: number): Buffer => {
  const buffer = Buffer.alloc(bytes);
  buffer.writeUIntBE(value, 0, bytes);
  return buffer;
};
const long = (value: bigint): Buffer => {
  const buffer = Buffer.alloc(8);
  buffer.writeBigInt64BE(value);
  return buffer;
};
const text = (value: string): Buffer => Buffer.from(`${value}\0`);
const tag = (letter: string): Buffer => Buffer.from(letter);

/** Microseconds since 2000. */
const COMMITTED_AT = 800_000_000_000_000n;

export const begin = (commitLsn: bigint, tx: number, committedAt = COMMITTED_AT): Buffer =>
  Buffer.concat([tag('B'), long(commitLsn), long(committedAt), number(4, tx)]);

export const commit = (commitLsn: bigint, endLsn: bigint, committedAt = COMMITTED_AT): Buffer =>
  Buffer.concat([tag('C'), number(1, 0), long(commitLsn), long(endLsn), long(committedAt)]);

export const relation = (
  oid: number,
  schema: string,
  name: string,
  columns: readonly (readonly [name: string, type: number])[],
): Buffer =>
  Buffer.concat([
    tag('R'),
    number(4, oid),
    text(schema),
    text(name),
    tag('d'),
    number(2, columns.length),
    ...columns.flatMap(([column, type]) => [number(1, 1), text(column), number(4, type), number(4, 0)]),
  ]);

export const insert = (oid: number, ...values: readonly string[]): Buffer =>
  Buffer.concat([
    tag('I'),
    number(4, oid),
    tag('N'),
    number(2, values.length),
    ...values.flatMap((value) => [tag('t'), number(4, Buffer.byteLength(value)), Buffer.from(value)]),
  ]);
