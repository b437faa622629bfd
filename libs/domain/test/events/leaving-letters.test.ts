import { leavingLetters } from '@carillon/domain/events';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

const DAY = 86_400_000;

describe('the warning about dead letters that retention removes soon', () => {
  it('is absent if dead letters stay until a person redrives or dismisses them', () => {
    expect(leavingLetters(null, 0)).toBeNull();
  });

  it('starts seven days before, plus the day that a log segment may keep them longer', () => {
    const now = 100 * DAY;
    expect(leavingLetters(30 * DAY, now)).toEqual({ since: 69 * DAY, before: 77 * DAY });
  });

  it('starts at once if dead letters are kept for seven days or less', () => {
    const kept = fc.integer({ min: 1, max: 7 }).map((days) => days * DAY);
    fc.assert(
      fc.property(kept, fc.integer({ min: 0, max: DAY }), (keptFor, age) => {
        const now = 1000 * DAY;
        const range = leavingLetters(keptFor, now);
        const at = now - Math.min(age, keptFor) - 1;
        return range !== null && range.since <= at && at < range.before;
      }),
    );
  });
});
