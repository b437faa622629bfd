import { err, ok, type Json, type JsonObject, type Result } from '@carillon/kernel';
import type { AvroType } from './avro-type.ts';
import { toBase64 } from './base64.ts';

export type AvroLimits = {
  /** Levels of records, lists, maps and unions. */
  readonly depth: number;
  /** Fields and items in all. */
  readonly values: number;
};

/**
 * Reads Avro's binary encoding exactly: 64-bit integers are numbers or bigint, bytes are base64 text, and a float that is not finite is
 * its name. Text: what is wrong with the bytes.
 */
export function readAvro(type: AvroType, bytes: Uint8Array, limits: AvroLimits): Result<Json, string> {
  const reader = new Reader(bytes, limits);
  try {
    const value = reader.read(type, 0);
    return reader.isAtEnd() ? ok(value) : err('there are more bytes than its schema says');
  } catch (stop) {
    if (stop === reader) return err(reader.fault);
    throw stop;
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

class Reader {
  fault = '';
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #limits: AvroLimits;
  #at = 0;
  #values = 0;

  constructor(bytes: Uint8Array, limits: AvroLimits) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#limits = limits;
  }

  isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  read(type: AvroType, depth: number): Json {
    if (depth > this.#limits.depth) this.#fail('its values are nested too deeply');
    // Values without bytes, such as null, count too.
    this.#values += 1;
    if (this.#values > this.#limits.values) this.#fail('it has too many values');
    switch (type.kind) {
      case 'null':
        return null;
      case 'boolean':
        return this.#take(1)[0] === 1;
      case 'integer':
        return this.#integer();
      case 'float':
        return this.#number(4, (at) => this.#view.getFloat32(at, true));
      case 'double':
        return this.#number(8, (at) => this.#view.getFloat64(at, true));
      case 'string':
        return this.#text();
      case 'bytes':
        return toBase64(this.#take(this.#length()));
      case 'fixed':
        return toBase64(this.#take(type.size));
      case 'enum':
        return type.symbols[this.#length()] ?? this.#fail('it has a symbol that its schema does not know');
      case 'union':
        return this.read(
          type.branches[this.#length()] ?? this.#fail('it has a branch that its schema does not know'),
          depth + 1,
        );
      case 'list':
        return this.#list(type.items, depth + 1);
      case 'map':
        return this.#map(type.items, depth + 1);
      case 'record': {
        const fields = Object.create(null) as Record<string, Json>;
        for (const field of type.fields) fields[field.name] = this.read(field.type, depth + 1);
        return fields;
      }
    }
  }

  /** Zigzag of at most ten bytes, the lowest first. */
  #integer(): number | bigint {
    let bits = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.#take(1)[0] ?? 0;
      bits |= BigInt(byte & 0x7f) << shift;
      if (byte >= 0x80) continue;
      const value = BigInt.asIntN(64, (bits >> 1n) ^ -(bits & 1n));
      const number = Number(value);
      return Number.isSafeInteger(number) ? number : value;
    }
    return this.#fail('it has an integer beyond 64 bits');
  }

  #length(): number {
    const length = this.#integer();
    return typeof length === 'number' && length >= 0 ? length : this.#fail('a length in it is impossible');
  }

  #take(length: number): Uint8Array {
    const end = this.#at + length;
    if (end > this.#bytes.length) this.#fail('its bytes end too early');
    const bytes = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return bytes;
  }

  #number(size: number, read: (at: number) => number): number | string {
    const at = this.#at;
    this.#take(size);
    const value = read(at);
    return Number.isFinite(value) ? value : String(value);
  }

  #text(): string {
    const bytes = this.#take(this.#length());
    try {
      return utf8.decode(bytes);
    } catch {
      return this.#fail('it has a text that is not UTF-8');
    }
  }

  #list(items: AvroType, depth: number): readonly Json[] {
    const list: Json[] = [];
    this.#blocks(() => list.push(this.read(items, depth)));
    return list;
  }

  #map(items: AvroType, depth: number): JsonObject {
    const map = Object.create(null) as Record<string, Json>;
    this.#blocks(() => {
      const name = this.#text();
      map[name] = this.read(items, depth);
    });
    return map;
  }

  /** Blocks of items, each with their number; a negative one is followed by the size of the block. */
  #blocks(readItem: () => void): void {
    for (;;) {
      const count = this.#integer();
      if (count === 0) return;
      if (count < 0) this.#integer();
      const items = count < 0 ? -count : count;
      if (items > this.#limits.values) this.#fail('it has too many values');
      for (let item = 0; item < items; item += 1) readItem();
    }
  }

  #fail(fault: string): never {
    this.fault = fault;
    // oxlint-disable-next-line typescript/only-throw-error -- caught in readAvro; an Error would cost a stack
    throw this;
  }
}
