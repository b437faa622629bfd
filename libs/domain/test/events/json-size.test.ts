import { countJsonValues } from '../../src/events/index.ts';
import fc from 'fast-check';
import { expect, it } from 'vitest';

const count = (text: string): number => countJsonValues(new TextEncoder().encode(text));

it.each([
  ['1', 0],
  ['[]', 1],
  ['[1,2,3]', 3],
  ['{"a":1,"b":[{}]}', 4],
  ['["a,b","[{","\\"],[","é,"]', 4],
  ['["never closed, [[[', 1],
  ['', 0],
])('the JSON text %s is counted as %i values', (text, values) => {
  expect(count(text)).toBe(values);
});

it('the value count ignores the contents of strings, however long they are and wherever they have backslashes and quotes', () => {
  const text = fc.string({ unit: fc.constantFrom('a', '"', '\\', ',', '[', '{', 'é'), maxLength: 200 });
  fc.assert(
    fc.property(fc.array(text, { minLength: 1, maxLength: 20 }), (texts) => {
      expect(count(JSON.stringify(texts))).toBe(texts.length);
    }),
    { numRuns: 500 },
  );
});

it('the value count covers every field and item of random JSON, and empty objects and lists once more', () => {
  const counted = (value: unknown): number => {
    if (typeof value !== 'object' || value === null) return 0;
    const parts = Object.values(value);
    return Math.max(1, parts.length) + parts.reduce((sum: number, part) => sum + counted(part), 0);
  };
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom(0, 2), (value, indent) => {
      expect(count(JSON.stringify(value, null, indent))).toBe(counted(value));
    }),
    { numRuns: 500 },
  );
});
