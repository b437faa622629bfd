import { isJsonObject, parseJson, stringifyJson, type Json } from '@carillon/kernel';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { valueAtPath } from './json-reader-path.ts';
import type { JsonFault } from './json-reader-fault.ts';
import { readEvent } from './json-reader.ts';

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const read = (text: string) => readEvent(bytesOf(text));

function bodyOf(text: string): Json {
  const result = read(text);
  if (!result.ok) throw new Error(`refused: ${JSON.stringify(result.error)}`);
  return result.value.body;
}

function faultOf(input: string | Uint8Array): JsonFault {
  const result = readEvent(typeof input === 'string' ? bytesOf(input) : input);
  if (result.ok) throw new Error('it was accepted');
  return result.error;
}

/** The same value with ordinary prototypes, so that it compares with what JSON.parse gives. */
function plain(value: Json): unknown {
  if (Array.isArray(value)) return (value as readonly Json[]).map(plain);
  if (isJsonObject(value)) return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, plain(item)]));
  return value;
}

describe('laws of the JSON reader', () => {
  const value = fc.jsonValue({ maxDepth: 6, depthSize: 'medium', stringUnit: 'binary' });

  test('reads every object that JSON.parse reads to the same value', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string({ unit: 'binary' }), value),
        fc.constantFrom('', '\t', '\n  '),
        (object, indent) => {
          const text = JSON.stringify(object, null, indent);
          // What the reader refuses on purpose: these names, and doubles that are written as integers beyond 64 bits.
          if (/"(__proto__|constructor)"|\d{19}/.test(text)) return;
          expect(plain(bodyOf(text))).toEqual(parseJson(text));
        },
      ),
      { numRuns: 500 },
    );
  });

  test('refuses damaged text, or reads it as JSON.parse does', () => {
    const damage = fc.array(
      fc.record({
        at: fc.nat(),
        cut: fc.nat({ max: 3 }),
        put: fc.oneof(
          fc.constantFrom(
            '"',
            '\\',
            '{',
            '}',
            '[',
            ']',
            ',',
            ':',
            '-',
            '0',
            'e5',
            '.',
            '\\u',
            '\\ud83d',
            ' ',
            '\n',
            'nul',
            '\u0000',
            '"a":1,',
          ),
          fc.string({ unit: 'binary', maxLength: 2 }),
        ),
      }),
      { minLength: 1, maxLength: 3 },
    );
    fc.assert(
      fc.property(fc.dictionary(fc.string(), value), damage, (object, changes) => {
        let text = JSON.stringify(object);
        for (const { at, cut, put } of changes) {
          const from = at % (text.length + 1);
          text = text.slice(0, from) + put + text.slice(from + cut);
        }
        const result = read(text.toWellFormed());
        if (result.ok) expect(plain(result.value.body)).toEqual(parseJson(text.toWellFormed()));
      }),
      { numRuns: 2000 },
    );
  });

  test('refuses any bytes, or reads them as JSON.parse does, and never throws', () => {
    const pieces = fc.oneof(
      fc.uint8Array({ maxLength: 4 }),
      fc.constantFrom('{', '}', '"a"', ':', ',', '1', '[', ']').map(bytesOf),
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 12 }), (parts) => {
        const bytes = Uint8Array.from(parts.flatMap((part) => [...part]));
        const result = readEvent(bytes);
        if (result.ok) expect(plain(result.value.body)).toEqual(parseJson(new TextDecoder().decode(bytes)));
      }),
      { numRuns: 1000 },
    );
  });

  test('keeps integers of 64 bits exact, and writes them back', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (integer) => {
        const body = bodyOf(`{"n":${integer}}`) as { readonly n: number | bigint };
        expect(BigInt(body.n)).toBe(integer);
        expect(typeof body.n).toBe(Number.isSafeInteger(Number(integer)) ? 'number' : 'bigint');
        expect(stringifyJson(body)).toBe(`{"n":${integer}}`);
      }),
    );
  });

  test('places every fault within the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('{', '"', 'a', ':', ',', '}', '\n', '1', '\\') }), (text) => {
        const result = read(text);
        if (result.ok) return;
        const line = text.split('\n')[result.error.line - 1];
        expect(line).toBeDefined();
        expect(result.error.column).toBeLessThanOrEqual((line ?? '').length + 1);
      }),
    );
  });
});

describe('the JSON reader refuses, with the position of the fault,', () => {
  test.each([
    ['', 'invalid_json', 1, 1],
    ['{', 'invalid_json', 1, 2],
    ['{"a":1,}', 'invalid_json', 1, 8],
    ['{"a":[1,]}', 'invalid_json', 1, 9],
    ['{"a" 1}', 'invalid_json', 1, 6],
    ['{\n  "a": tru\n}', 'invalid_json', 2, 8],
    ['{"a":01}', 'invalid_json', 1, 7],
    ['{"a":1.}', 'invalid_json', 1, 8],
    ['{"a":1e}', 'invalid_json', 1, 8],
    ['{"a":-}', 'invalid_json', 1, 7],
    ['{"a":+1}', 'invalid_json', 1, 6],
    ['{"a":.5}', 'invalid_json', 1, 6],
    ['{"a":NaN}', 'invalid_json', 1, 6],
    ["{'a':1}", 'invalid_json', 1, 2],
    ['{"a":"b\nc"}', 'invalid_json', 1, 8],
    ['{"a":"\\x"}', 'invalid_json', 1, 7],
    ['{"a":"\\u12g4"}', 'invalid_json', 1, 7],
    ['{"a":"\\ud83d"}', 'invalid_json', 1, 6],
    ['{"a":"b', 'invalid_json', 1, 8],
    ['{} {}', 'invalid_json', 1, 4],
    ['{}//', 'invalid_json', 1, 3],
    ['\ufeff{}', 'invalid_json', 1, 1],
    ['[1]', 'not_an_object', 1, 1],
    ['\n "text"', 'not_an_object', 2, 2],
    ['null', 'not_an_object', 1, 1],
  ])('%j as %s at %i:%i', (text, code, line, column) => {
    expect(faultOf(text)).toMatchObject({ code, line, column });
  });

  test.each([
    ['{"a":1,"b":{"c":1,"c":2}}', 'duplicate_key', '/b/c'],
    ['{"a":1,"\\u0061":2}', 'duplicate_key', '/a'],
    ['{"a":[0,{"x/y~z":9223372036854775808}]}', 'number_out_of_range', '/a/1/x~1y~0z'],
    ['{"a":-9223372036854775809}', 'number_out_of_range', '/a'],
    [`{"a":${'9'.repeat(1000)}}`, 'number_out_of_range', '/a'],
    ['{"a":1e400}', 'number_out_of_range', '/a'],
    ['{"a":{"__proto__":{"admin":true}}}', 'forbidden_key', '/a/__proto__'],
    ['{"\\u005f_proto__":1}', 'forbidden_key', '/__proto__'],
    ['{"x":1,"constructor":1}', 'forbidden_key', '/constructor'],
  ])('%j as %s at pointer %s', (text, code, pointer) => {
    expect(faultOf(text)).toMatchObject({ code, pointer });
  });

  test('bytes that are not UTF-8', () => {
    for (const bad of [[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf5, 0x80, 0x80, 0x80]]) {
      expect(faultOf(Uint8Array.from([0x7b, 0x22, ...bad, 0x22, 0x3a, 0x31, 0x7d])).code).toBe('invalid_json');
    }
  });

  test('more than 32 levels, and accepts 32', () => {
    const nested = (depth: number) => `{"a":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`;
    expect(read(nested(32)).ok).toBe(true);
    expect(faultOf(nested(33))).toMatchObject({
      code: 'too_deep',
      pointer: `/a${'/0'.repeat(31)}`,
      line: 1,
      column: 37,
    });
    expect(faultOf(`{"a":${'['.repeat(100_000)}`).code).toBe('too_deep');
  });

  test('more than 20,000 fields in all objects together, and accepts 20,000', () => {
    const fields = (count: number) => `{"all":[${Array.from({ length: count - 1 }, () => '{"a":1}').join(',')}]}`;
    expect(read(fields(20_000)).ok).toBe(true);
    expect(faultOf(fields(20_001))).toMatchObject({ code: 'too_many_keys', pointer: '/all/19999/a' });
  });

  test('a text with a long field name, without quoting the whole name', () => {
    const long = 'x'.repeat(10_000);
    const fault = faultOf(`{"${long}":1,"${long}":2}`);
    expect(fault.code).toBe('duplicate_key');
    expect(JSON.stringify(fault)).not.toContain('xxx');
  });

  test('a text without quoting values of it', () => {
    for (const text of ['{"a":"hunter2" "b"}', '{"a":hunter2}', '{"hunter2', '{"a":"\\hunter2"}']) {
      expect(JSON.stringify(faultOf(text))).not.toContain('hunter2');
    }
  });
});

describe('the JSON reader', () => {
  test('returns objects without a prototype, so that only names exist that were sent', () => {
    const body = bodyOf('{"a":{"b":[{}]},"toString":1,"hasOwnProperty":2}') as {
      readonly a: { readonly b: readonly object[] };
    };
    for (const object of [body, body.a, body.a.b[0]]) expect(Object.getPrototypeOf(object)).toBeNull();
  });

  test('keeps names distinct, however many others were read before', () => {
    for (let round = 0; round < 3; round += 1) {
      const names = Array.from({ length: 1900 }, (_, at) => `field_${at * (round + 1)}`);
      const text = `{${names.map((name) => `"${name}":"${name}"`).join(',')}}`;
      expect(plain(bodyOf(text))).toEqual(Object.fromEntries(names.map((name) => [name, name])));
    }
  });

  test.each([
    ['-0', -0],
    ['1e2', 100],
    ['1E+2', 100],
    ['0.1', 0.1],
    ['9007199254740991', 9_007_199_254_740_991],
    ['9007199254740993', 9_007_199_254_740_993n],
    ['-9223372036854775808', -9_223_372_036_854_775_808n],
    ['1e-400', 0],
  ])('reads %s as %s', (text, value) => {
    expect((bodyOf(`{"n":${text}}`) as { readonly n: Json }).n).toBe(value);
  });
});

describe('valueAtPath (finds a value in an event by a path)', () => {
  const body = { order_id: 'A-1', customer: { id: 7, 'first.name': 'x' }, items: ['a'], none: null };

  test.each([
    ['event.order_id', 'A-1'],
    ['event.customer.id', 7],
    ['event.none', null],
    ['event.none.deeper', undefined],
    ['event.missing', undefined],
    ['event.items.length', undefined],
    ['event.items.0', undefined],
    ['event.order_id.length', undefined],
    ['event.toString', undefined],
    ['event', undefined],
    ['event.', undefined],
    ['order_id', undefined],
  ])('%s is %j', (path, value) => {
    expect(valueAtPath(body, path)).toEqual(value);
  });
});
