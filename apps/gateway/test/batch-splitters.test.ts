import { isCarillonError } from '@carillon/kernel';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ItemSplitter } from '../src/batches/batch-items.ts';
import { createLineSplitter } from '../src/batches/split-lines.ts';
import { createListSplitter } from '../src/batches/split-list.ts';

/** The items of a text that arrives in chunks, as number and text; null: too large. */
function split(splitter: ItemSplitter, text: string, cuts: readonly number[] = []): readonly [number, string | null][] {
  const bytes = new TextEncoder().encode(text);
  const ends = [...new Set(cuts.map((cut) => cut % (bytes.length + 1))), bytes.length].toSorted((a, b) => a - b);
  const items = ends.flatMap((end, at) => [...splitter.push(bytes.slice(ends[at - 1] ?? 0, end))]);
  return [...items, ...splitter.end()].map((item) => [item.number, item.bytes && new TextDecoder().decode(item.bytes)]);
}

const cuts = fc.array(fc.nat(), { maxLength: 20 });

describe('createLineSplitter', () => {
  it('returns the same lines however the body is cut', () => {
    const line = fc.oneof(
      fc.constantFrom('', ' ', '{}'),
      fc.jsonValue().map((value) => `{"a":${JSON.stringify(value)}}`),
    );
    fc.assert(
      fc.property(fc.array(line), fc.constantFrom('\n', '\r\n'), cuts, (lines, end, where) => {
        const expected = lines.flatMap((text, at) => (text.trim() === '' ? [] : [[at + 1, text]]));
        expect(split(createLineSplitter(1000), lines.join(end), where)).toEqual(expected);
        expect(split(createLineSplitter(1000), lines.map((text) => text + end).join(''), where)).toEqual(expected);
      }),
    );
  });

  it('accepts a line of exactly the limit, with or without CR, and rejects a longer line', () => {
    fc.assert(
      fc.property(fc.integer({ min: 8, max: 12 }), fc.constantFrom('\n', '\r\n', ''), cuts, (length, end, where) => {
        const line = 'x'.repeat(length);
        const expected = [[1, length > 10 ? null : line]];
        expect(split(createLineSplitter(10), line + end, where)).toEqual(expected);
      }),
    );
  });
});

describe('createListSplitter', () => {
  it('returns the same items however the body is cut', () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue()), fc.constantFrom(undefined, 1), cuts, (values, indent, where) => {
        const items = split(createListSplitter(10_000), JSON.stringify(values, null, indent), where);
        expect(items.map(([number]) => number)).toEqual(values.map((_, at) => at + 1));
        expect(items.map(([, text]) => JSON.parse(text ?? '') as unknown)).toEqual(JSON.parse(JSON.stringify(values)));
      }),
    );
  });

  it('leaves out an item above the limit and returns the others', () => {
    fc.assert(
      fc.property(cuts, (where) => {
        const text = `[{"a":1},{"a":"${'x'.repeat(20)}"},{"a":2}]`;
        expect(split(createListSplitter(10), text, where)).toEqual([
          [1, '{"a":1}'],
          [2, null],
          [3, '{"a":2}'],
        ]);
      }),
    );
  });

  it.each(['', '{}', '[', '[{}', '[{},', '[{},]', '[,{}]', '[{}] x', '[{}][]', '["', 'null'])('refuses %j', (text) => {
    expect(() => split(createListSplitter(100), text)).toThrow();
  });

  it('throws only CarillonErrors, for any input', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('[', ']', '{', '}', ',', '"', '\\', ' ', 'a', '\n')),
        cuts,
        (characters, where) => {
          try {
            split(createListSplitter(5), characters.join(''), where);
          } catch (error) {
            expect(isCarillonError(error)).toBe(true);
          }
        },
      ),
    );
  });
});
