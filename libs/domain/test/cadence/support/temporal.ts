import type { CalendarDay, Coming, WallMinute } from '../../../src/cadence/index.ts';
import type { Instant } from '@carillon/kernel';
import { Temporal } from 'temporal-polyfill';

/** The oracle: another implementation of calendars and clocks, which has read the standard and not our code. */
export const zoned = (zone: string, at: Instant): Temporal.ZonedDateTime =>
  Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(zone);

/** When the clock shows it; the first instant behind the gap where it is left out. */
export function expectedInstant(zone: string, day: CalendarDay, minute: WallMinute, coming: Coming): Instant {
  const wall = Temporal.PlainDateTime.from({ ...day, hour: Math.floor(minute / 60), minute: minute % 60 });
  const early = wall.toZonedDateTime(zone, { disambiguation: 'earlier' });
  if (!early.toPlainDateTime().equals(wall)) {
    const behind = early.getTimeZoneTransition('next');
    if (!behind) throw new Error(`${zone} has no change after ${early.toString()}`);
    return behind.epochMilliseconds;
  }
  return coming === 'first'
    ? early.epochMilliseconds
    : wall.toZonedDateTime(zone, { disambiguation: 'later' }).epochMilliseconds;
}

export const FROM: Instant = Date.UTC(2000, 0, 1);
export const TO: Instant = Date.UTC(2038, 0, 1);

/** Every change of the clock of a zone from 2000 to 2037. */
export function changesOf(zone: string): Instant[] {
  const changes: Instant[] = [];
  let at = zoned(zone, FROM);
  for (;;) {
    const next = at.getTimeZoneTransition('next');
    if (!next || next.epochMilliseconds >= TO) return changes;
    changes.push(next.epochMilliseconds);
    at = next;
  }
}
