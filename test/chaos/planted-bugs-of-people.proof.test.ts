import { describe, expect, it } from 'vitest';
import { FAILED_WITHIN, failedWith } from './failed-with.ts';
import { PEOPLE_BUGS } from './people-bugs.ts';

describe('the tests of people, drafts and the audit', () => {
  it.each(Object.entries(PEOPLE_BUGS))(
    'turn red where %s',
    async (_name, bug) => {
      expect(await failedWith(bug)).not.toEqual([]);
    },
    FAILED_WITHIN,
  );
});
