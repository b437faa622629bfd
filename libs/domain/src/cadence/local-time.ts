import type { Instant } from '@carillon/kernel';
import {
  instantShowing,
  minuteOf,
  wallTimeAt,
  weekdayOf,
  type Coming,
  type WallMinute,
  type WallTime,
  type Weekday,
} from './wall-time.ts';
import { offsetsOf } from './zone-offsets.ts';

export type { Coming, WallMinute, Weekday } from './wall-time.ts';

/** A day of the calendar: month 1 to 12, day 1 to 31. */
export type CalendarDay = { readonly year: number; readonly month: number; readonly day: number };
/** Local calendar day and time. */
export type LocalTime = CalendarDay & { readonly minute: WallMinute; readonly weekday: Weekday };

/** Returns calendar and clock of a zone. Throws RangeError for an unknown zone, like all functions with a zone. */
export function localTimeAt(zone: string, at: Instant): LocalTime {
  const wall = wallTimeAt(offsetsOf(zone), at);
  return { ...dayOf(wall), minute: minuteOf(wall), weekday: weekdayOf(wall) };
}

const dayOf = (wall: WallTime): CalendarDay => {
  const date = new Date(wall);
  return { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() };
};

/** The day so many days later on the calendar. */
export const addDays = ({ year, month, day }: CalendarDay, days: number): CalendarDay =>
  dayOf(Date.UTC(year, month - 1, day + days));
export const weekdayOn = ({ year, month, day }: CalendarDay): Weekday => weekdayOf(Date.UTC(year, month - 1, day));

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
  return instantShowing(offsetsOf(zone), Date.UTC(year, month - 1, day, 0, minute), coming);
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

/** Weeks begin on Monday. */
function firstDayOf(period: CalendarPeriod, today: CalendarDay): CalendarDay {
  if (period === 'day') return today;
  return period === 'week' ? addDays(today, 1 - weekdayOn(today)) : { ...today, day: 1 };
}

/** The first day of the period that the calendar of a zone shows, as the number 20260131. Later periods have larger numbers. */
export function calendarPeriodAt(zone: string, at: Instant, period: CalendarPeriod): number {
  const { year, month, day } = firstDayOf(period, localTimeAt(zone, at));
  return year * 10_000 + month * 100 + day;
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
