import { describe, expect, it } from 'vitest';
import { explore, MODEL_FAULTS, type Bounds, type ModelFault } from './model.ts';
import { TELLING_LOGS } from './telling-logs.ts';

const BOUNDS: readonly Bounds[] = [
  { batches: [1, 2], most: 1 },
  { batches: [3], most: 9 },
];
const CAP = 2_500;

/** The first thing that is wrong in any of the logs. */
function wrongWith(fault: ModelFault | null): string | null {
  for (const log of TELLING_LOGS) {
    for (const bounds of BOUNDS) {
      const { wrong } = explore(log, { ...bounds, crashes: 2, cap: CAP }, fault);
      if (wrong !== null) return wrong;
    }
  }
  return null;
}

describe('two workers of one partition, whose rules wait', () => {
  it('append what the log says, in every order of their steps and crashes', { timeout: 120_000 }, () => {
    expect(wrongWith(null)).toBeNull();
  });

  it.each(Object.keys(MODEL_FAULTS) as readonly ModelFault[])('do not if %s', { timeout: 120_000 }, (fault) => {
    expect(wrongWith(fault), MODEL_FAULTS[fault]).not.toBeNull();
  });
});
