import avro, { type Type } from 'avsc';

/**
 * The avsc reader believes the length of a list and reads on beyond the end of the bytes, so a few corrupt bytes could
 * keep it busy for hours. This walks the bytes first and throws where a list claims more items than bytes are left; an
 * item of ours takes at least one. Types without lists cost nothing.
 */
export function boundedLists(writer: Type): (body: Uint8Array) => void {
  if (!hasLists(writer)) return () => undefined;
  return (body) => {
    walk(writer, new Cursor(body));
  };
}

function hasLists(type: Type): boolean {
  if (type instanceof avro.types.ArrayType) return true;
  return type instanceof avro.types.RecordType && type.fields.some((field) => hasLists(field.type));
}

class Cursor {
  readonly #bytes: Uint8Array;
  #at = 0;
  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }
  left(): number {
    return this.#bytes.length - this.#at;
  }
  skip(count: number): void {
    if (count < 0 || count > this.left()) throw new Error('truncated buffer');
    this.#at += count;
  }
  /**
   * Reads a zigzag varint. Numbers above 2^53 lose precision, but lengths and indexes that large are corrupt anyway.
   */
  long(): number {
    let value = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      const byte = this.#bytes[this.#at];
      if (byte === undefined) throw new Error('truncated buffer');
      this.#at += 1;
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
    }
    throw new Error('the Avro record is corrupt: a number has too many bytes');
  }
}

function walk(type: Type, cursor: Cursor): void {
  if (type instanceof avro.types.RecordType) {
    for (const field of type.fields) walk(field.type, cursor);
    return;
  }
  if (type instanceof avro.types.ArrayType) return walkList(type.itemsType, cursor);
  if (type instanceof avro.types.UnwrappedUnionType) {
    const branch = type.types[cursor.long()];
    if (!branch) throw new Error('the Avro record is corrupt: a union has no such branch');
    return walk(branch, cursor);
  }
  switch (type.typeName) {
    case 'string':
    case 'bytes':
      return cursor.skip(cursor.long());
    case 'int':
    case 'long':
      cursor.long();
      return;
    case 'boolean':
      return cursor.skip(1);
    case 'null':
      return;
    default:
      throw new Error(`the schemas of Carillon’s records have no type ${type.typeName}`);
  }
}

function walkList(items: Type, cursor: Cursor): void {
  for (let count = cursor.long(); count !== 0; count = cursor.long()) {
    if (count < 0) cursor.long();
    const size = Math.abs(count);
    if (size > cursor.left())
      throw new Error(`the Avro record is corrupt: a list claims ${size} items in ${cursor.left()} bytes`);
    for (let index = 0; index < size; index += 1) walk(items, cursor);
  }
}
