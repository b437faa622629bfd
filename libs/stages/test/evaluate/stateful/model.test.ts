import { describe, expect, it } from 'vitest';
import { explore, MODEL_FAULTS, type Bounds, type ModelFault } from './model.ts';
import { TELLING_LOGS } from './telling-logs.ts';

const SMALL: Bounds = { batches: [1, 2], most: 1 };
const LARGE: Bounds = { batches: [3], most: 9 };
/** States of a log that are explored. Six of the logs have more with small batches. */
const CAP = 2_500;

/** The first thing that is wrong in any of the logs. */
function wrongWith(fault: ModelFault): string | null {
  for (const log of TELLING_LOGS) {
    for (const bounds of [SMALL, LARGE]) {
      const { wrong } = explore(log, { ...bounds, crashes: 2, cap: CAP }, fault);
      if (wrong !== null) return wrong;
    }
  }
  return null;
}

describe('two workers of one partition, whose rules wait', () => {
  it.each([
    { title: `small batches, in the first ${CAP} states that steps and crashes lead to`, bounds: SMALL, cut: 6 },
    { title: 'batches of three, in every order of steps and crashes', bounds: LARGE, cut: 0 },
  ])('append what the log says with $title', { timeout: 120_000 }, ({ bounds, cut }) => {
    const explored = TELLING_LOGS.map((log) => explore(log, { ...bounds, crashes: 2, cap: CAP }));
    expect(explored.map(({ wrong }) => wrong)).toEqual(TELLING_LOGS.map(() => null));
    expect(explored.filter(({ isCut }) => isCut)).toHaveLength(cut);
  });

  it.each(Object.keys(MODEL_FAULTS) as readonly ModelFault[])('do not if %s', { timeout: 120_000 }, (fault) => {
    expect(wrongWith(fault), MODEL_FAULTS[fault]).not.toBeNull();
  });
});
