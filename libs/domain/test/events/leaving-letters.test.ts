import { leavingLetters } from '@carillon/domain/events';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

const DAY = 86_400_000;

describe('dead letters that retention removes soon', () => {
  it('are none where they stay until somebody redrives or dismisses them', () => {
    expect(leavingLetters(null, 0)).toBeNull();
  });

  it('are named seven days before, and for the day that a segment may hold them longer', () => {
    const now = 100 * DAY;
    expect(leavingLetters(30 * DAY, now)).toEqual({ since: 69 * DAY, before: 77 * DAY });
  });

  it('are named at once if they are kept for seven days or less', () => {
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
