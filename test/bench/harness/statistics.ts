import type { Comparison, Measure } from './bench.ts';
import type { CaseResult, Measured, SideResult } from './results.ts';

export type Spread = { readonly median: number; readonly min: number; readonly max: number };

/** @throws RangeError where there are no values. */
export function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.slice(Math.ceil(sorted.length / 2) - 1, Math.floor(sorted.length / 2) + 1);
  const [min] = sorted;
  const max = sorted.at(-1);
  if (min === undefined || max === undefined) throw new RangeError('no values');
  return { median: middle.reduce((sum, value) => sum + value, 0) / middle.length, min, max };
}

/** Undefined where a round did not measure it. */
export function valueOf(
  { rate, seconds, done, cpu, memory, wal, delays }: Measured,
  measure: Measure,
): number | undefined {
  switch (measure) {
    case 'rate':
      return rate;
    case 'seconds':
      return seconds;
    case 'cpu':
      return (Object.values(cpu).reduce((sum, value) => sum + value, 0) / done) * 1000;
    case 'memory':
      return Object.values(memory).reduce((sum, value) => sum + value, 0);
    case 'wal':
      return wal;
    case 'p50':
    case 'p95':
    case 'p99':
    case 'max':
      return delays?.[measure];
    case 'stretch':
      return delays && delays.max / delays.p50;
  }
}

/** Beyond this part of a core the one thread of the load has no time left: what it found is its own rate. */
const LOAD_LIMIT = 0.9;

export const isLoadTheLimit = ({ loadBusy = 0 }: Pick<Measured, 'loadBusy'>): boolean => loadBusy >= LOAD_LIMIT;

const isMostlyLimited = ({ rounds }: SideResult): boolean => rounds.filter(isLoadTheLimit).length * 2 > rounds.length;

/** Over the rounds of one side; null where it has none with this measure. */
export function spreadIn(side: SideResult, measure: Measure): Spread | null {
  const values = side.rounds.map((round) => valueOf(round, measure)).filter((value) => value !== undefined);
  return values.length === 0 ? null : spreadOf(values);
}

export type Judgement = { readonly comparison: Comparison } & (
  | {
      readonly verdict: 'goal met' | 'floor met' | 'missed' | 'stated';
      /** The ratio of the two medians, their difference, or the median of the only side. */ readonly value: number;
      /** The same round by round: its sides were measured one right after the other. */ readonly spread: Spread;
      /** Sides whose rate was that of the load in most rounds: they may be capable of more. */ readonly limited: readonly string[];
    }
  | { readonly verdict: 'void' | 'not run'; readonly why: string }
);

/** Void where what either side did was wrong; not run where either was skipped. */
export function judge(comparison: Comparison, result: CaseResult): Judgement {
  const { measure, wanted, floor, goal, by } = comparison;
  const names = [comparison.side, ...(comparison.to === undefined ? [] : [comparison.to])];
  const sides = names.map((name) => {
    const side = result.sides.find((one) => one.name === name);
    if (!side) throw new Error(`${result.title}: there is no side ${name} to compare`);
    return side;
  });
  const wrong = sides.find(({ faults }) => faults.length > 0);
  if (wrong) return { comparison, verdict: 'void', why: `${wrong.name}: ${wrong.faults[0]}` };
  const skipped = sides.find((side) => side.skipped !== undefined);
  if (skipped) return { comparison, verdict: 'not run', why: `${skipped.name}: ${skipped.skipped}` };

  const [mine = [], theirs] = sides.map((side) =>
    side.rounds.map((round) => {
      const value = valueOf(round, measure);
      if (value === undefined) throw new Error(`${result.title}: ${side.name} did not measure ${measure}`);
      return value;
    }),
  );
  const compared = (a: number, b: number | undefined): number =>
    b === undefined ? a : by === 'difference' ? a - b : a / b;
  const value = compared(spreadOf(mine).median, theirs && spreadOf(theirs).median);
  const meets = (bound: number | undefined): boolean =>
    bound !== undefined && (wanted === 'at least' ? value >= bound : value <= bound);
  const below = floor === undefined ? 'stated' : 'missed';
  return {
    comparison,
    verdict: meets(goal) ? 'goal met' : meets(floor) ? 'floor met' : below,
    value,
    limited: sides.filter(isMostlyLimited).map(({ name }) => name),
    spread: spreadOf(mine.map((one, index) => compared(one, theirs?.[index]))),
  };
}
