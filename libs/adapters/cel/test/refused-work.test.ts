import { StepBudget } from '@carillon/domain/rules';
import { describe, expect, it, vi } from 'vitest';
import { bindingsOf, compiled } from './evaluation.ts';

const LONG = 240_000;
const TEXTS = {
  commas: ','.repeat(LONG),
  letters: 'a'.repeat(LONG),
  mixed: `${'a'.repeat(70_000)}\u{1f600}`,
};

describe('a failed expression deducts the work that it did from the computation budget of its rule', () => {
  it.each([
    ['cutting at commas', 'event.commas.split(",")', 150_000],
    ['cutting at commas, a few pieces asked', 'event.commas.split(",", 2)', 150_000],
    ['cutting into letters', 'event.letters.split("")', 150_000],
    ['cutting into characters of several sizes', 'event.mixed.split("")', 290_000],
    ['replacing every comma', 'event.commas.replace(",", "x")', 150_000],
    ['replacing around every letter', 'event.letters.replace("", "x")', 150_000],
    ['replacing by long text', 'event.commas.replace(",", event.letters, 3)', 150_000],
    ['joining what was cut', 'event.commas.split(",").join("x")', 150_000],
  ])('%s', (_what, source, least) => {
    const budget = new StepBudget();
    const before = budget.left;
    const answer = compiled(source).evaluate(bindingsOf(JSON.stringify(TEXTS)), budget);
    expect(answer.ok ? 'a value' : answer.error).toContain('too_complex');
    expect(before - budget.left).toBeGreaterThanOrEqual(least);
  });
});

describe('the remaining computation budget limits the work of a function', () => {
  const bound = (source: string, steps: number): unknown => {
    const budget = new StepBudget(steps);
    const rule = compiled(source);
    const bindings = bindingsOf(JSON.stringify({ ...TEXTS, blank: `${' '.repeat(LONG)}x` }));
    const answer = rule.evaluate(bindings, budget);
    expect(answer.ok ? 'a value' : answer.error).toContain('too_complex');
    return budget.exhausted;
  };

  it.each([
    ['at commas', 'event.commas.split(",")'],
    ['into letters', 'event.letters.split("")'],
  ])('a text is split %s into at most as many pieces as steps remain', (_what, source) => {
    const cuts = vi.spyOn(String.prototype, 'split');
    try {
      expect(bound(source, 40_000)).toBe(true);
      const most = cuts.mock.calls.map(([, limit]) => limit ?? Infinity).filter((limit) => limit > 1);
      expect(most).toHaveLength(1);
      expect(most[0]).toBeLessThan(2_500);
    } finally {
      cuts.mockRestore();
    }
  });

  it('a text is searched for blanks at most as far as steps remain', () => {
    const looks = vi.spyOn(String.prototype, 'charAt');
    try {
      expect(bound('event.blank.trim()', 60_000)).toBe(true);
      expect(looks.mock.calls.length).toBeLessThan(10_000);
    } finally {
      looks.mockRestore();
    }
  });
});
