import { describe, expect, it } from 'vitest';
import { explore, MODEL_FAULTS, type Bounds, type ModelFault } from './model.ts';
import { TELLING_LOGS } from './telling-logs.ts';

const SMALL: Bounds = { batches: [1, 2], most: 1 };
const LARGE: Bounds = { batches: [3], most: 9 };
/** More worlds than any of the logs leads to. */
const ALL = 20_000;
/** Worlds of a log in which a fault is looked for. */
const FAULT_CAP = 2_500;

/** The first thing that is wrong in any of the logs. */
function wrongWith(fault: ModelFault): string | null {
  for (const log of TELLING_LOGS) {
    for (const bounds of [SMALL, LARGE]) {
      const { wrong } = explore(log, { ...bounds, crashes: 2, cap: FAULT_CAP }, fault);
      if (wrong !== null) return wrong;
    }
  }
  return null;
}

describe('a model of two workers of one partition whose rules wait', () => {
  it.each([
    { title: 'small batches', bounds: SMALL },
    { title: 'batches of three', bounds: LARGE },
  ])(
    'makes the messages that the log determines with $title, in every order of steps and crashes',
    { timeout: 120_000 },
    ({ bounds }) => {
      const explored = TELLING_LOGS.map((log) => explore(log, { ...bounds, crashes: 2, cap: ALL }));
      expect(explored.map(({ wrong }) => wrong)).toEqual(TELLING_LOGS.map(() => null));
      expect(explored.filter(({ isCut }) => isCut)).toEqual([]);
    },
  );

  it.each(Object.keys(MODEL_FAULTS) as readonly ModelFault[])(
    'makes wrong messages (so it can find the bug) if %s',
    { timeout: 120_000 },
    (fault) => {
      expect(wrongWith(fault), MODEL_FAULTS[fault]).not.toBeNull();
    },
  );
});
