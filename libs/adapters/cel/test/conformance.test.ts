import { describe, expect, it } from 'vitest';
import { officialCases, runCase } from './conformance-data.ts';

/** Where we answer otherwise than the official data on purpose. Every other case passes, or is refused when saved. */
const OTHERWISE: Readonly<Record<string, string>> = {
  'comparisons/lt_literal/not_lt_dyn_int_big_lossy_double': 'int and double compare exactly, without rounding the int',
  'comparisons/gt_literal/not_gt_dyn_big_double_int': 'int and double compare exactly, without rounding the int',
  'comparisons/lte_literal/lte_dyn_big_double_int': 'int and double compare exactly, without rounding the int',
  'comparisons/gte_literal/gte_dyn_int_big_lossy_double': 'int and double compare exactly, without rounding the int',
  'fp_math/fp_math/mod_not_support': 'numbers of events are doubles, so % takes them (fmod)',
};

describe('the expression language, run against the official CEL conformance data,', () => {
  const cases = officialCases();
  const outcomes = cases.map((each) => ({ name: each.name, outcome: runCase(each) }));
  const named = (kind: string): readonly string[] =>
    outcomes.filter(({ outcome }) => outcome.kind === kind).map(({ name }) => name);

  it('gives no wrong value, except for deliberate differences', () => {
    expect(named('wrong').toSorted()).toEqual(Object.keys(OTHERWISE).toSorted());
  });

  it('returns an error only where the data expects an error', () => {
    expect(named('error')).toEqual([]);
  });

  it('passes at least as many cases as the recorded number', () => {
    const counts = Object.groupBy(outcomes, ({ outcome }) => outcome.kind);
    const shown = Object.entries(counts).map(([kind, list]) => `${kind} ${list?.length ?? 0}`);
    process.stdout.write(`conformance: ${cases.length} cases: ${shown.join(', ')}\n`);
    expect(named('passed').length).toBeGreaterThanOrEqual(1241);
  });
});
