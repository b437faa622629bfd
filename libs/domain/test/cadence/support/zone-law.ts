import {
  addDays,
  calendarWindow,
  instantAt,
  localTimeAt,
  nextLocalTime,
  type CalendarDay,
} from '../../../src/cadence/index.ts';
import type { Instant } from '@carillon/kernel';
import { changesOf, expectedInstant, zoned } from './temporal.ts';

const HOUR = 3_600_000;

/** Where ours and the oracle differ about one instant of a zone, in words; empty where they agree. */
export function disagreements(zone: string, at: Instant): string[] {
  const found: string[] = [];
  const say = (what: string, ours: unknown, theirs: unknown): void => {
    const [mine, other] = [JSON.stringify(ours), JSON.stringify(theirs)];
    if (mine !== other) found.push(`${zone} at ${new Date(at).toISOString()}: ${what} is ${mine}, expected ${other}`);
  };
  const expected = zoned(zone, at);
  const { year, month, day } = expected;
  const minute = expected.hour * 60 + expected.minute;
  say('local time', localTimeAt(zone, at), { year, month, day, minute, weekday: expected.dayOfWeek });

  const wall = expected.toPlainDateTime();
  for (const minutes of [-61, -30, 0, 30, 61]) {
    const near = wall.add({ minutes });
    const nearDay: CalendarDay = { year: near.year, month: near.month, day: near.day };
    const nearMinute = near.hour * 60 + near.minute;
    for (const coming of ['first', 'second'] as const) {
      const theirs = expectedInstant(zone, nearDay, nearMinute, coming);
      say(`${coming} ${near.toString()}`, instantAt(zone, nearDay, nearMinute, coming), theirs);
    }
  }

  const today: CalendarDay = { year, month, day };
  const monday = addDays(today, 1 - expected.dayOfWeek);
  const nextMonth = month === 12 ? { year: year + 1, month: 1, day: 1 } : { year, month: month + 1, day: 1 };
  const periods = {
    day: [today, addDays(today, 1)],
    week: [monday, addDays(monday, 7)],
    month: [{ ...today, day: 1 }, nextMonth],
  };
  for (const [period, [from, to]] of Object.entries(periods) as ['day', [CalendarDay, CalendarDay]][]) {
    const theirs = { from: expectedInstant(zone, from, 0, 'first'), to: expectedInstant(zone, to, 0, 'first') };
    say(`the ${period}`, calendarWindow(zone, at, period), theirs);
  }

  const nine = [-1, 0, 1, 2].map((days) => expectedInstant(zone, addDays(today, days), 540, 'first'));
  say(
    'the next 09:00',
    nextLocalTime(zone, at, 540),
    nine.find((one) => one > at),
  );
  return found;
}

/** Instants around every change of the clock, the last one before it among them. */
export const aroundChanges = (zone: string): Instant[] =>
  changesOf(zone).flatMap((at) => [at - 25 * HOUR, at - HOUR, at - 1, at, at + HOUR, at + 25 * HOUR]);
