import type { Instant } from '@carillon/kernel';
import {
  instantShowing,
  midnightOf,
  wallTimeAt,
  wallTimeOn,
  weekdayOf,
  type WallMinute,
  type Weekday,
} from './wall-time.ts';
import { offsetsOf, type Offsets } from './zone-offsets.ts';

/** Hours in which people are left alone, by the clock on their wall. `to` below `from` is the morning after. */
export type QuietHours = {
  readonly from: WallMinute;
  readonly to: WallMinute;
  /** The days on which they begin. */
  readonly days: ReadonlySet<Weekday>;
};

/** The day before for a night that began then; the day after for a clock that was put back over midnight since. */
const DAYS_AROUND = [-1, 0, 1] as const;

/**
 * Returns the end of the quiet hours that contain `now`, or null if none do. Quiet hours are never shorter than the clock on the wall says:
 * when a wall time occurs twice, they begin at its first and end at its second occurrence (docs/internals/checks-before-sending.md).
 */
function endOfStretch({ from, to, days }: QuietHours, offsets: Offsets, now: Instant): Instant | null {
  const today = midnightOf(wallTimeAt(offsets, now));
  let end: Instant | null = null;
  for (const day of DAYS_AROUND) {
    if (!days.has(weekdayOf(wallTimeOn(today, day, 0)))) continue;
    if (instantShowing(offsets, wallTimeOn(today, day, from), 'first') > now) continue;
    const ends = instantShowing(offsets, wallTimeOn(today, to > from ? day : day + 1, to), 'second');
    if (ends > now) end = Math.max(end ?? ends, ends);
  }
  return end;
}

/** Longest quiet time. Configuration without a time to send in a week is refused when saved. */
const MAX_QUIET_MS = 8 * 86_400_000;

/**
 * Returns when the quiet time at `now` ends, or null if it is not quiet. Adjoining hours count as one quiet time. The
 * search stops after about eight days; the delivery is then checked again.
 */
export function quietUntil(all: readonly QuietHours[], zone: string, now: Instant): Instant | null {
  const offsets = offsetsOf(zone);
  let until: Instant | null = null;
  for (;;) {
    const at: Instant = until ?? now;
    const ends = all.map((hours) => endOfStretch(hours, offsets, at)).filter((end) => end !== null);
    if (ends.length === 0 || at - now > MAX_QUIET_MS) return until;
    until = Math.max(...ends);
  }
}

const WEEK_MINUTES = 7 * 24 * 60;

/** Whether a week of the clock on the wall has a minute to send in; what has none is refused when it is saved. */
export function leavesTimeToSend(all: readonly QuietHours[]): boolean {
  const stretches = all.flatMap(({ from, to, days }) =>
    [...days].map((day) => {
      const start = (day - 1) * 1440 + from;
      return { start, end: start + (to > from ? to - from : to - from + 1440) };
    }),
  );
  // A stretch of Sunday goes on into the Monday of the same round week.
  const around = stretches
    .flatMap(({ start, end }) => [
      { start, end },
      { start: start - WEEK_MINUTES, end: end - WEEK_MINUTES },
    ])
    .toSorted((a, b) => a.start - b.start);
  let covered = 0;
  for (const { start, end } of around) {
    if (start > covered) return true;
    covered = Math.max(covered, end);
  }
  return covered < WEEK_MINUTES;
}
