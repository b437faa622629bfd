import type { JsonObject } from '@carillon/kernel';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createFieldReader, readEvent, type JsonLimits } from '../../src/events/index.ts';
import { jsonText, seen } from './json-texts.ts';

const LIMITS: JsonLimits = { depth: 3, keys: 6 };
const NAMES = ['a', 'b', '', '0'];
/** What only the reader of events judges. */
const BEYOND = /\\|[\d.]{16}|\d[eE]/;

/** Where a byte is replaced by the first half of a character, if at all. */
const anyDamage = fc.oneof({ weight: 9, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: fc.nat() });

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const fieldsOf = (names: readonly string[], text: string) => createFieldReader(names)(bytesOf(text));

const entriesOf = (of: JsonObject): readonly (readonly [string, unknown])[] =>
  Object.entries(of)
    .map(([name, value]) => [name, seen(value)] as const)
    .toSorted(([one], [other]) => (one < other ? -1 : 1));

describe('the JSON reader for single fields of an event', () => {
  it('returns the same fields as the reader of whole events, and none of an event that the latter refuses', () => {
    const read = createFieldReader(NAMES, LIMITS);
    const seenTexts = { read: 0, refused: 0, left: 0 };
    fc.assert(
      fc.property(jsonText, anyDamage, (text, damaged) => {
        const bytes = bytesOf(`{"a":${text},"b":1}`);
        if (damaged !== null) bytes[damaged % bytes.length] = 0xc3;
        const event = readEvent(bytes, LIMITS);
        const fields = read(bytes);
        seenTexts[fields ? 'read' : event.ok ? 'left' : 'refused'] += 1;
        if (fields) {
          expect(event.ok ? entriesOf(event.value.body).filter(([name]) => NAMES.includes(name)) : null).toEqual(
            entriesOf(fields),
          );
          expect(Object.getPrototypeOf(fields)).toBeNull();
        } else if (event.ok) expect(text).toMatch(BEYOND);
      }),
      { numRuns: 5000 },
    );
    expect(Math.min(...Object.values(seenTexts)), JSON.stringify(seenTexts)).toBeGreaterThan(100);
  });

  it('leaves an event with an escape to the reader of whole events', () => {
    expect(fieldsOf(['status'], String.raw`{"sta\u0074us":"paid"}`)).toBeNull();
    expect(fieldsOf(['status'], String.raw`{"status":"\u0070aid"}`)).toBeNull();
  });

  it('reads other alphabets, wherever a field begins', () => {
    expect(fieldsOf(['größe', 'c'], '{"größe": "große 鐘 🔔", "b": ["ä"], "c" : {"d": true}}')).toEqual({
      größe: 'große 鐘 🔔',
      c: { d: true },
    });
  });

  it('refuses a name that one object has twice, but not one that several objects have', () => {
    expect(fieldsOf(['a'], '{"a":1,"b":{"a":2},"c":[{"a":3},{"a":4}]}')).toEqual({ a: 1 });
    expect(fieldsOf(['a'], '{"a":1,"b":{"a":2},"a":3}')).toBeNull();
    expect(fieldsOf(['a'], '{"a":1,"b":{"a":2,"c":{"a":3},"a":4}}')).toBeNull();
  });

  it('leaves an object with too many names to the reader of whole events', () => {
    const named = (count: number): string =>
      `{${Array.from({ length: count }, (_, index) => `"n${index}":1`).join(',')}}`;
    expect(fieldsOf(['n0'], named(64))).toEqual({ n0: 1 });
    expect(fieldsOf(['n0'], named(65))).toBeNull();
  });

  it('accepts bytes at any offset of their buffer', () => {
    const memory = bytesOf('ää{"a":[1,2],"b":-0}');
    expect(createFieldReader(['a', 'b'])(memory.subarray(4))).toEqual({ a: [1, 2], b: -0 });
  });
});
