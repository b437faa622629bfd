import { leavesTimeToSend, localTimeAt, quietUntil, type QuietHours, type Weekday } from '../../src/cadence/index.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FROM, TO } from './support/temporal.ts';

const EVERY_DAY: readonly Weekday[] = [1, 2, 3, 4, 5, 6, 7];
const minuteOf = (text: string): number => Number(text.slice(0, 2)) * 60 + Number(text.slice(3));
const quiet = (from: string, to: string, days: readonly Weekday[] = EVERY_DAY): QuietHours => ({
  from: minuteOf(from),
  to: minuteOf(to),
  days: new Set(days),
});
const utc = (text: string): number => Date.parse(`${text}Z`);
const until = (all: readonly QuietHours[], zone: string, at: string): string | null => {
  const end = quietUntil(all, zone, utc(at));
  return end === null ? null : new Date(end).toISOString().slice(0, 16);
};
const NIGHT = quiet('22:00', '07:00');

describe('quiet hours (times of day when nothing is sent)', () => {
  it('include their first minute, and exclude the minute at which they end', () => {
    expect(until([NIGHT], 'UTC', '2026-11-22T21:59:59')).toBeNull();
    expect(until([NIGHT], 'UTC', '2026-11-22T22:00:00')).toBe('2026-11-23T07:00');
    expect(until([NIGHT], 'UTC', '2026-11-23T06:59:59')).toBe('2026-11-23T07:00');
    expect(until([NIGHT], 'UTC', '2026-11-23T07:00:00')).toBeNull();
  });

  it('apply in the recipient’s time zone', () => {
    expect(until([NIGHT], 'Europe/Berlin', '2026-11-22T21:30:00')).toBe('2026-11-23T06:00');
    expect(until([NIGHT], 'America/New_York', '2026-11-22T21:30:00')).toBeNull();
    expect(until([NIGHT], 'Asia/Kathmandu', '2026-11-22T16:15:00')).toBe('2026-11-23T01:15');
  });

  it('begin only on their listed days, and may end on the next day', () => {
    const fridays = [quiet('22:00', '07:00', [5])];
    expect(until(fridays, 'UTC', '2026-11-20T23:00:00')).toBe('2026-11-21T07:00');
    expect(until(fridays, 'UTC', '2026-11-21T06:00:00')).toBe('2026-11-21T07:00');
    expect(until(fridays, 'UTC', '2026-11-21T23:00:00')).toBeNull();
    expect(until(fridays, 'UTC', '2026-11-20T06:00:00')).toBeNull();
  });

  it('end together if they touch or overlap', () => {
    const all = [NIGHT, quiet('06:00', '09:00'), quiet('09:00', '10:00', [1])];
    expect(until(all, 'UTC', '2026-11-22T23:00:00')).toBe('2026-11-23T10:00');
    expect(until(all, 'UTC', '2026-11-23T23:00:00')).toBe('2026-11-24T09:00');
  });

  it('last until the second occurrence of an end time that occurs twice', () => {
    const hours = [quiet('22:00', '02:30')];
    expect(until(hours, 'Europe/Berlin', '2026-10-24T23:00:00')).toBe('2026-10-25T01:30');
    expect(until(hours, 'Europe/Berlin', '2026-10-25T00:45:00')).toBe('2026-10-25T01:30');
  });

  it('start at the first occurrence of a start time that occurs twice', () => {
    const hours = [quiet('02:30', '04:00')];
    expect(until(hours, 'Europe/Berlin', '2026-10-25T00:29:59')).toBeNull();
    expect(until(hours, 'Europe/Berlin', '2026-10-25T00:30:00')).toBe('2026-10-25T03:00');
    expect(until(hours, 'Europe/Berlin', '2026-10-25T01:10:00')).toBe('2026-10-25T03:00');
  });

  it('continue if they began at midnight and the clock goes back over midnight', () => {
    // Until 2011 the clocks of St. John's went from one minute past midnight back to 23:01 of the evening before.
    const hours = [quiet('00:00', '06:00')];
    expect(until(hours, 'America/St_Johns', '2010-11-07T02:30:30')).toBe('2010-11-07T09:30');
    expect(until(hours, 'America/St_Johns', '2010-11-07T02:45:00')).toBe('2010-11-07T09:30');
  });

  it('are absent on a day whose clock change skips them', () => {
    const hours = [quiet('02:00', '03:00')];
    expect(until(hours, 'Europe/Berlin', '2026-03-29T00:59:59')).toBeNull();
    expect(until(hours, 'Europe/Berlin', '2026-03-29T01:00:00')).toBeNull();
  });

  it('still apply in the night before a day that a country skipped', () => {
    // 29 December 2011 was followed by the 31st.
    expect(until([NIGHT], 'Pacific/Apia', '2011-12-30T09:00:00')).toBe('2011-12-30T17:00');
    expect(until([NIGHT], 'Pacific/Apia', '2011-12-30T12:00:00')).toBe('2011-12-30T17:00');
  });

  it('are reported as a mistake if they leave no minute of the week free', () => {
    expect(leavesTimeToSend([])).toBe(true);
    expect(leavesTimeToSend([quiet('00:00', '23:59')])).toBe(true);
    expect(leavesTimeToSend([quiet('00:00', '23:59'), quiet('23:00', '00:30')])).toBe(false);
    expect(leavesTimeToSend([quiet('12:00', '11:59'), quiet('11:00', '12:00', [1, 2, 3, 4, 5, 6])])).toBe(true);
    expect(leavesTimeToSend([quiet('12:00', '11:59'), quiet('11:00', '12:00')])).toBe(false);
  });
});

const minute = fc.integer({ min: 0, max: 1439 });
const hours = fc
  .record({ from: minute, to: minute, days: fc.uniqueArray(fc.constantFrom(...EVERY_DAY), { minLength: 1 }) })
  .filter(({ from, to }) => from !== to)
  .map(({ from, to, days }): QuietHours => ({ from, to, days: new Set(days) }));
const somewhere = fc.record({
  zone: fc.constantFrom(...Intl.supportedValuesOf('timeZone')),
  at: fc.integer({ min: FROM, max: TO }),
});

/** Evaluates quiet hours only by the local clock, without its history. */
function wallSaysQuiet({ from, to, days }: QuietHours, zone: string, at: number): boolean {
  const { minute: now, weekday } = localTimeAt(zone, at);
  const yesterday = (weekday === 1 ? 7 : weekday - 1) as Weekday;
  if (from < to) return days.has(weekday) && from <= now && now < to;
  return (days.has(weekday) && now >= from) || (days.has(yesterday) && now < to);
}

describe('laws of quiet hours', () => {
  it('never allow a send while the wall clock is within quiet hours', () => {
    fc.assert(
      fc.property(hours, somewhere, (one, { zone, at }) => {
        fc.pre(wallSaysQuiet(one, zone, at));
        expect(quietUntil([one], zone, at)).not.toBeNull();
      }),
    );
  });

  it('delay every message to a later time outside quiet hours, if the week leaves time to send', () => {
    fc.assert(
      fc.property(fc.array(hours, { minLength: 1, maxLength: 4 }), somewhere, (all, { zone, at }) => {
        fc.pre(leavesTimeToSend(all));
        const end = quietUntil(all, zone, at);
        fc.pre(end !== null);
        expect(end).toBeGreaterThan(at);
        expect(quietUntil(all, zone, end)).toBeNull();
      }),
    );
  });

  it('delay no message by more than 12 days, even if the week leaves no time to send', () => {
    fc.assert(
      fc.property(somewhere, ({ zone, at }) => {
        const end = quietUntil([quiet('00:00', '23:59'), quiet('23:00', '01:00')], zone, at);
        expect(end).not.toBeNull();
        expect((end ?? 0) - at).toBeLessThan(12 * 86_400_000);
      }),
    );
  });
});
