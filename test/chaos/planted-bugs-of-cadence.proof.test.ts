import { describe, expect, it } from 'vitest';
import { CADENCE_BUGS } from './cadence-bugs.ts';
import { FAILED_WITHIN, failedWith } from './failed-with.ts';

describe('the tests of how often somebody is told', () => {
  it(
    'are green as long as nothing is planted',
    async () => {
      const tests = [...new Set(Object.values(CADENCE_BUGS).flatMap((bug) => bug.tests))];
      expect(await failedWith({ changes: [], tests })).toEqual([]);
    },
    FAILED_WITHIN,
  );

  it.each(Object.entries(CADENCE_BUGS))(
    'turn red where %s',
    async (_name, bug) => {
      expect(await failedWith(bug)).not.toEqual([]);
    },
    FAILED_WITHIN,
  );
});
