import { describe, expect, it } from 'vitest';
import { FAILED_WITHIN, failedWith } from './failed-with.ts';
import { CADENCE_BUGS } from './planted-bugs/cadence-bugs.ts';
import { ERASURE_BUGS } from './planted-bugs/erasure-bugs.ts';
import { PEOPLE_BUGS } from './planted-bugs/people-bugs.ts';
import { REPLAY_BUGS } from './planted-bugs/replay-bugs.ts';
import { STATE_BUGS } from './planted-bugs/state-bugs.ts';

const BUGS = Object.entries({ ...CADENCE_BUGS, ...PEOPLE_BUGS, ...REPLAY_BUGS, ...ERASURE_BUGS, ...STATE_BUGS });

describe('tests of single parts', () => {
  it(
    'are green without a planted bug',
    async () => {
      const inFast = BUGS.flatMap(([, { tests, lane = 'fast' }]) => (lane === 'fast' ? tests : []));
      expect(await failedWith({ changes: [], tests: [...new Set(inFast)] })).toEqual([]);
    },
    FAILED_WITHIN,
  );

  it.each(BUGS)(
    'turn red with the bug: %s',
    async (_name, bug) => {
      expect(await failedWith(bug)).not.toEqual([]);
    },
    FAILED_WITHIN,
  );
});
