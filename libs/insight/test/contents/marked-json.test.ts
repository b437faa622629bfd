import { parseJson, stringifyJson, type Json } from '@carillon/kernel';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { markedLines } from '../../src/index.ts';

const textOf = (value: Json): readonly string[] => [...markedLines(value, [])].map(({ text }) => text);
const unfolded = (lines: readonly string[]): string => lines.join('\n').replaceAll(/\n *…/g, '');

describe('A value shown line by line', () => {
  it('gives JSON of the same value when its lines are joined', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (any) => {
        // The marker of a folded line may not be in the text itself for this.
        const value = parseJson(JSON.stringify(any).replaceAll('…', '.'));
        expect(stringifyJson(parseJson(unfolded(textOf(value))))).toBe(stringifyJson(value));
      }),
    );
    const long = { a: 'x'.repeat(5000), big: 9007199254740993n, pair: `${'y'.repeat(987)}😀😀😀` };
    expect(parseJson(unfolded(textOf(long)))).toEqual(long);
  });

  it('has no long line, no half characters, and no invisible or control characters', () => {
    const hostile = { 'a\u202eb': `\u0007${'😀'.repeat(2000)}\u2028\u0085 </script>` };
    for (const text of textOf(hostile)) {
      expect(text.length).toBeLessThan(1100);
      expect(text.isWellFormed()).toBe(true);
      expect(text).not.toMatch(/[\p{C}\u2028]/u);
    }
    expect(parseJson(unfolded(textOf(hostile)))).toEqual(hostile);
  });

  it('marks the start of each field that is read, in each element of a list', () => {
    const lines = markedLines({ id: 1, items: [{ qty: 2, name: 'a' }, { qty: 3 }] }, [
      { steps: ['items'], readBy: ['for_each'] },
      { steps: ['items', null, 'qty'], readBy: ['where'] },
      { steps: ['items', 1, 'qty'], readBy: ['when', 'where'] },
    ]);
    expect([...lines].filter(({ readBy }) => readBy.length > 0)).toEqual([
      { text: '  "items": [', readBy: ['for_each'] },
      { text: '      "qty": 2,', readBy: ['where'] },
      { text: '      "qty": 3', readBy: ['where', 'when'] },
    ]);
  });
});
