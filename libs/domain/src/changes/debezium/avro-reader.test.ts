import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readAvro } from './avro-reader.ts';
import { readAvroSchema } from './avro-type.ts';
import type { Json } from '@carillon/kernel';

const LIMITS = { depth: 20, values: 1000 };
const read = (schema: Json, bytes: readonly number[] | Uint8Array): ReturnType<typeof readAvro> => {
  const type = readAvroSchema(schema);
  if (type === undefined) throw new Error('no schema');
  return readAvro(type, Uint8Array.from(bytes), LIMITS);
};

/** Zigzag, the lowest seven bits first. */
function integerBytes(value: bigint): number[] {
  let bits = BigInt.asUintN(64, (value << 1n) ^ (value >> 63n));
  const bytes: number[] = [];
  while (bits >= 0x80n) {
    bytes.push(Number(bits & 0x7fn) | 0x80);
    bits >>= 7n;
  }
  return [...bytes, Number(bits)];
}

const RECORD = {
  type: 'record',
  name: 'Row',
  namespace: 'app.orders',
  fields: [
    { name: 'id', type: 'long' },
    { name: 'note', type: ['null', 'string'], default: null },
    { name: 'next', type: ['null', 'Row'], default: null },
  ],
};

describe('readAvro (reads Avro bytes by a schema)', () => {
  it('reads every integer of 64 bits exactly', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (value) => {
        const number = Number(value);
        expect(read('long', integerBytes(value))).toEqual({
          ok: true,
          value: Number.isSafeInteger(number) ? number : value,
        });
      }),
    );
  });

  it.each<[Json, number[], Json]>([
    ['boolean', [1], true],
    ['double', [0, 0, 0, 0, 0, 0, 0xf8, 0x3f], 1.5],
    ['double', [0, 0, 0, 0, 0, 0, 0xf8, 0x7f], 'NaN'],
    ['float', [0, 0, 0x80, 0xff], '-Infinity'],
    ['string', [6, 0x5a, 0xc3, 0xab], 'Zë'],
    ['bytes', [4, 4, 0xe2], 'BOI='],
    [{ type: 'fixed', name: 'F', size: 2 }, [4, 0xe2], 'BOI='],
    [{ type: 'enum', name: 'E', symbols: ['a', 'b'] }, [2], 'b'],
    [{ type: 'array', items: 'int' }, [4, 2, 4, 0], [1, 2]],
    [{ type: 'array', items: 'int' }, [1, 2, 2, 2, 4, 0], [1, 2]],
    [{ type: 'map', values: 'int' }, [2, 2, 0x61, 2, 0], { a: 1 }],
    [RECORD, [2, 2, 2, 0x78, 2, 4, 0, 0], { id: 1, note: 'x', next: { id: 2, note: null, next: null } }],
  ])('reads a value: %j', (schema, bytes, value) => {
    expect(read(schema, bytes)).toEqual({ ok: true, value });
  });

  it.each<[string, Json, number[]]>([
    ['end too early', 'string', [6, 0x5a]],
    ['more bytes', 'int', [2, 2]],
    ['beyond 64 bits', 'long', Array.from({ length: 10 }, () => 0xff)],
    ['length', 'string', [1]],
    ['UTF-8', 'string', [2, 0xff]],
    ['symbol', { type: 'enum', name: 'E', symbols: ['a'] }, [2]],
    ['branch', ['null', 'int'], [4]],
    ['too many values', { type: 'array', items: 'null' }, [...integerBytes(2n ** 62n), 0]],
    ['too many values', { type: 'array', items: 'null' }, [...integerBytes(600n), ...integerBytes(600n), 0]],
    ['too deeply', RECORD, Array.from({ length: 90 }, (_, at) => (at % 3 === 1 ? 0 : 2))],
  ])('refuses bytes: %s', (why, schema, bytes) => {
    expect(read(schema, bytes)).toMatchObject({ ok: false, error: expect.stringContaining(why) as string });
  });

  it('never throws, whatever the bytes are', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
        const { ok } = read(
          { type: 'array', items: ['null', RECORD, { type: 'map', values: 'bytes' }, 'double'] },
          bytes,
        );
        expect(typeof ok).toBe('boolean');
      }),
    );
  });
});

describe('readAvroSchema (reads the text of an Avro schema)', () => {
  it.each<Json>([
    'unknown',
    7,
    [],
    { type: 'record', name: 'A' },
    { type: 'record', name: 'A', fields: [{ name: 'b', type: 'B' }] },
    { type: 'enum', name: 'A', symbols: [1] },
    { type: 'fixed', name: 'A', size: -1 },
    { type: 'array' },
  ])('refuses %j', (schema) => {
    expect(readAvroSchema(schema)).toBeUndefined();
  });
});
