import type { Json } from '@carillon/kernel';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { jsonText, seen } from '../../test/events/json-texts.ts';
import { readAnyText } from './json-reader-any.ts';
import type { JsonLimits } from './limits.ts';
import { readPlain } from './json-reader-plain.ts';

const LIMITS: JsonLimits = { depth: 3, keys: 6 };
const PLAIN = /^[ -[\]-~\u007f]*$/;

const plainly = (text: string): Json | undefined => readPlain(new TextEncoder().encode(text), text, LIMITS);

describe('the fast JSON reader for plain ASCII text', () => {
  test('returns the same value or refusal as the general reader, and leaves other text to it', () => {
    const told = { read: 0, refused: 0, left: 0 };
    fc.assert(
      fc.property(jsonText, (given) => {
        const plain = plainly(given);
        const any = readAnyText(given, LIMITS);
        const isPlain = PLAIN.test(given);
        told[!isPlain ? 'left' : any.ok ? 'read' : 'refused'] += 1;
        expect(plain === undefined ? null : seen(plain)).toEqual(isPlain && any.ok ? seen(any.value) : null);
      }),
      { numRuns: 5000 },
    );
    expect(Math.min(told.read, told.refused, told.left)).toBeGreaterThan(100);
  });

  test('finds each byte that is not plain, at any position', () => {
    for (let byte = 0; byte < 256; byte += 1) {
      for (let at = 1; at <= 8; at += 1) {
        const bytes = new TextEncoder().encode('"12345678"');
        bytes[at] = byte;
        const isTaken = PLAIN.test(String.fromCharCode(byte)) && byte !== 0x22;
        const read = readPlain(bytes, String.fromCharCode(...bytes), LIMITS);
        expect(read !== undefined, `${byte} at ${at}`).toBe(isTaken);
      }
    }
  });

  test('finds a repeated name, also after more names than it remembers', () => {
    const many = `{${Array.from({ length: 4000 }, (_, at) => `"n${at}":1`).join(',')}}`;
    const read = (json: string) => readPlain(new TextEncoder().encode(json), json, { depth: 2, keys: 5000 });
    expect(Object.keys(read(`{"a":1,"b":${many},"c":2}`) ?? {})).toEqual(['a', 'b', 'c']);
    expect(read(`{"a":1,"b":${many},"a":2}`)).toBeUndefined();
    expect(read(`{"b":${many},"a":1,"a":2}`)).toBeUndefined();
    expect(read(`{"a":${many.replace('{', '{"n3999":1,')}}`)).toBeUndefined();
  });

  test('accepts bytes at any offset of their buffer', () => {
    const memory = new TextEncoder().encode('\u00e4\u00e4\u00e4{"a":[1,2]}');
    expect(readPlain(memory.subarray(6), '{"a":[1,2]}', LIMITS)).toEqual({ a: [1, 2] });
  });

  test.each(['134.93', '0.1', '0.30000000000000004', '-0.0', '123456789012.345', '5e-324', '999999999999999', '1E3'])(
    'reads %s as JavaScript does',
    (source) => expect(plainly(source)).toBe(Number(source)),
  );
});
