import type { Instant } from '@carillon/kernel';
import { offsetAt } from './zone-offsets.ts';

/** A day of the calendar: month 1 to 12, day 1 to 31. */
export type CalendarDay = { readonly year: number; readonly month: number; readonly day: number };
/** Minutes since midnight on the clock on the wall: 0 to 1439. */
export type WallMinute = number;
/** ISO 8601: 1 is Monday, 7 is Sunday. */
export type Weekday = 1 | 2 | 3 | 4 | 5 | 6 | 7;
/** What calendar and clock on the wall show. */
export type LocalTime = CalendarDay & { readonly minute: WallMinute; readonly weekday: Weekday };
/** Which of two: a clock that is put back shows some times twice (delivery.md section 2, local time). */
export type Coming = 'first' | 'second';

const MINUTE = 60_000;
const DAY = 86_400_000;

/**
 * What calendar and clock show in the zone. Times "on the wall" are counted below in the milliseconds at which UTC shows
 * the same. Throws RangeError where the zone is none, as all functions of this file do.
 */
export function localTimeAt(zone: string, at: Instant): LocalTime {
  const wall = at + offsetAt(zone, at);
  return { ...dayOf(wall), minute: Math.floor((((wall % DAY) + DAY) % DAY) / MINUTE), weekday: weekdayOf(wall) };
}

const dayOf = (wall: number): CalendarDay => {
  const date = new Date(wall);
  return { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() };
};
/** 1 January 1970 was a Thursday. */
const weekdayOf = (wall: number): Weekday => (((((Math.floor(wall / DAY) + 3) % 7) + 7) % 7) + 1) as Weekday;

/** The day so many days later on the calendar. */
export const addDays = ({ year, month, day }: CalendarDay, days: number): CalendarDay =>
  dayOf(Date.UTC(year, month - 1, day + days));
export const weekdayOn = ({ year, month, day }: CalendarDay): Weekday => weekdayOf(Date.UTC(year, month - 1, day));

/** The offsets that count for a time on the wall stand this far on either side of it: zones are at most 14 hours off UTC. */
const AROUND = 26 * 3_600_000;

/**
 * When the clock on the wall shows this time of this day. A time that comes twice is taken as `coming` says. A time that
 * a change of the clock leaves out means the first instant after the gap.
 */
export function instantAt(
  zone: string,
  { year, month, day }: CalendarDay,
  minute: WallMinute,
  coming: Coming,
): Instant {
  const wall = Date.UTC(year, month - 1, day, 0, minute);
  const [early, late] = [wall - offsetAt(zone, wall - AROUND), wall - offsetAt(zone, wall + AROUND)];
  const shown = [early, late].filter((at) => at + offsetAt(zone, at) === wall);
  if (shown.length > 0) return coming === 'first' ? Math.min(...shown) : Math.max(...shown);
  return endOfGap(zone, wall, Math.min(early, late), Math.max(early, late));
}

/** The first instant at which the clock shows `wall` or later: not yet at `from`, and surely at `to`. */
function endOfGap(zone: string, wall: number, from: Instant, to: Instant): Instant {
  let [before, after] = [from, to];
  while (after - before > 1000) {
    const middle = Math.floor((before + after) / 2000) * 1000;
    if (middle + offsetAt(zone, middle) < wall) before = middle;
    else after = middle;
  }
  return after;
}

/** The next instant after `now` at which the clock on the wall shows this time. */
export function nextLocalTime(zone: string, now: Instant, minute: WallMinute): Instant {
  const today = localTimeAt(zone, now);
  for (let days = 0; days < 4; days++) {
    const at = instantAt(zone, addDays(today, days), minute, 'first');
    if (at > now) return at;
  }
  throw new RangeError(`no day of ${zone} near ${now} has the minute ${minute}`);
}

export type CalendarPeriod = 'day' | 'week' | 'month';

/** Weeks begin on Monday (delivery.md section 2). */
function firstDayOf(period: CalendarPeriod, today: CalendarDay): CalendarDay {
  if (period === 'day') return today;
  return period === 'week' ? addDays(today, 1 - weekdayOn(today)) : { ...today, day: 1 };
}

/** The day, week or month of the calendar that holds `now`, `to` excluded. */
export function calendarWindow(
  zone: string,
  now: Instant,
  period: CalendarPeriod,
): { readonly from: Instant; readonly to: Instant } {
  const first = firstDayOf(period, localTimeAt(zone, now));
  const next = period === 'month' ? { ...first, month: first.month + 1 } : addDays(first, period === 'day' ? 1 : 7);
  return { from: instantAt(zone, first, 0, 'first'), to: instantAt(zone, next, 0, 'first') };
}

const two = (value: number): string => String(value).padStart(2, '0');

/** `2026-11-23 08:00 Europe/Berlin`, for people. */
export function localTimeText(zone: string, at: Instant): string {
  const { year, month, day, minute } = localTimeAt(zone, at);
  return `${year}-${two(month)}-${two(day)} ${two(Math.floor(minute / 60))}:${two(minute % 60)} ${zone}`;
}
