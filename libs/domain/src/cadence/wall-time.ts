import type { Instant } from '@carillon/kernel';
import type { Offsets } from './zone-offsets.ts';

/** Minutes since midnight on the clock on the wall: 0 to 1439. */
export type WallMinute = number;
/** ISO 8601: 1 is Monday, 7 is Sunday. */
export type Weekday = 1 | 2 | 3 | 4 | 5 | 6 | 7;
/** Local date and time as one number: the milliseconds at which UTC shows the same date and time. */
export type WallTime = number;
/** Which of two: a clock that is put back shows some times twice (docs/internals/checks-before-sending.md). */
export type Coming = 'first' | 'second';

const MINUTE = 60_000;
const DAY = 86_400_000;

export const wallTimeAt = (offsets: Offsets, at: Instant): WallTime => at + offsets(at);
export const midnightOf = (wall: WallTime): WallTime => Math.floor(wall / DAY) * DAY;
/** A minute of the day that comes so many days after another: the calendar knows nothing of changes of the clock. */
export const wallTimeOn = (midnight: WallTime, days: number, minute: WallMinute): WallTime =>
  midnight + days * DAY + minute * MINUTE;

export const minuteOf = (wall: WallTime): WallMinute => Math.floor((wall - midnightOf(wall)) / MINUTE);
/** 1 January 1970 was a Thursday. */
export const weekdayOf = (wall: WallTime): Weekday => (((((Math.floor(wall / DAY) + 3) % 7) + 7) % 7) + 1) as Weekday;

/** Maximum distance from a local time to the instants whose offset may apply: zones are at most 14 hours off UTC. */
const AROUND = 26 * 3_600_000;

/**
 * When the clock on the wall shows this time. A time that comes twice is taken as `coming` says. A time that a change of
 * the clock leaves out means the first instant after the gap.
 */
export function instantShowing(offsets: Offsets, wall: WallTime, coming: Coming): Instant {
  const [early, late] = [wall - offsets(wall - AROUND), wall - offsets(wall + AROUND)];
  const [isEarly, isLate] = [wallTimeAt(offsets, early) === wall, wallTimeAt(offsets, late) === wall];
  if (isEarly && isLate) return coming === 'first' ? Math.min(early, late) : Math.max(early, late);
  if (isEarly) return early;
  if (isLate) return late;
  return endOfGap(offsets, wall, Math.min(early, late), Math.max(early, late));
}

/** The first instant at which the clock shows `wall` or later: not yet at `from`, and surely at `to`. */
function endOfGap(offsets: Offsets, wall: WallTime, from: Instant, to: Instant): Instant {
  let [before, after] = [from, to];
  while (after - before > 1000) {
    const middle = Math.floor((before + after) / 2000) * 1000;
    if (wallTimeAt(offsets, middle) < wall) before = middle;
    else after = middle;
  }
  return after;
}
