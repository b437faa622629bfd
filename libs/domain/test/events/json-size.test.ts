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
])('%s makes %i values', (text, values) => {
  expect(count(text)).toBe(values);
});

it('counts nothing within texts, however long they are and wherever their backslashes and quotes stand', () => {
  const text = fc.string({ unit: fc.constantFrom('a', '"', '\\', ',', '[', '{', 'é'), maxLength: 200 });
  fc.assert(
    fc.property(fc.array(text, { minLength: 1, maxLength: 20 }), (texts) => {
      expect(count(JSON.stringify(texts))).toBe(texts.length);
    }),
    { numRuns: 500 },
  );
});

it('counts every field and item of whatever JSON text, and empty objects and lists once more', () => {
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
