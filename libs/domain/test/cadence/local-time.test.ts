import { addDays, calendarWindow, instantAt, localTimeAt, nextLocalTime, weekdayOn } from '../../src/cadence/index.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FROM, TO } from './support/temporal.ts';
import { aroundChanges, disagreements } from './support/zone-law.ts';

const utc = (text: string): number => Date.parse(`${text}Z`);
const shown = (zone: string, at: number): string => {
  const { year, month, day, minute, weekday } = localTimeAt(zone, at);
  return `${year}-${month}-${day} ${Math.floor(minute / 60)}:${minute % 60} day ${weekday}`;
};

describe('local time (converts between instants and wall-clock times of a zone)', () => {
  it('matches the wall clock in zones with whole hours, 45 minutes and fixed offsets', () => {
    const at = utc('2026-11-22T12:00:00');
    expect(shown('Europe/Berlin', at)).toBe('2026-11-22 13:0 day 7');
    expect(shown('Asia/Kathmandu', at)).toBe('2026-11-22 17:45 day 7');
    expect(shown('Pacific/Chatham', at)).toBe('2026-11-23 1:45 day 1');
    expect(shown('+05:45', at)).toBe('2026-11-22 17:45 day 7');
  });

  it('maps an hour that a clock change skips to the first instant after the gap', () => {
    const day = { year: 2026, month: 3, day: 29 };
    expect(instantAt('Europe/Berlin', day, 2 * 60 + 30, 'first')).toBe(utc('2026-03-29T01:00:00'));
    expect(instantAt('Europe/Berlin', day, 2 * 60 + 30, 'second')).toBe(utc('2026-03-29T01:00:00'));
  });

  it('maps an hour that occurs twice to its first or second occurrence, as requested', () => {
    const day = { year: 2026, month: 10, day: 25 };
    expect(instantAt('Europe/Berlin', day, 2 * 60 + 30, 'first')).toBe(utc('2026-10-25T00:30:00'));
    expect(instantAt('Europe/Berlin', day, 2 * 60 + 30, 'second')).toBe(utc('2026-10-25T01:30:00'));
  });

  it('maps every time of a skipped day to the first instant of the next day', () => {
    const day = { year: 2011, month: 12, day: 30 };
    for (const minute of [0, 600, 1439]) {
      expect(instantAt('Pacific/Apia', day, minute, 'first')).toBe(utc('2011-12-30T10:00:00'));
    }
    expect(shown('Pacific/Apia', utc('2011-12-30T10:00:00'))).toBe('2011-12-31 0:0 day 6');
  });

  it('starts a day without midnight at its first existing hour', () => {
    const { from, to } = calendarWindow('Africa/Cairo', utc('2026-04-24T12:00:00'), 'day');
    expect([shown('Africa/Cairo', from), to - from]).toEqual(['2026-4-24 1:0 day 5', 23 * 3_600_000]);
  });

  it('starts weeks on Monday', () => {
    const { from, to } = calendarWindow('Europe/Berlin', utc('2026-11-22T22:59:59'), 'week');
    expect([shown('Europe/Berlin', from), shown('Europe/Berlin', to)]).toEqual([
      '2026-11-16 0:0 day 1',
      '2026-11-23 0:0 day 1',
    ]);
  });

  it('returns tomorrow’s occurrence if the local time is exactly now', () => {
    expect(nextLocalTime('UTC', utc('2026-11-22T09:00:00'), 540)).toBe(utc('2026-11-23T09:00:00'));
    expect(nextLocalTime('UTC', utc('2026-11-22T08:59:59'), 540)).toBe(utc('2026-11-22T09:00:00'));
  });

  it('adds days across month and year ends, and returns the right weekday', () => {
    expect(addDays({ year: 2027, month: 12, day: 31 }, 60)).toEqual({ year: 2028, month: 2, day: 29 });
    expect(weekdayOn({ year: 1969, month: 12, day: 31 })).toBe(3);
  });

  it('rejects unknown zones, and accepts zone names in any case', () => {
    expect(shown('europe/BERLIN', utc('2026-11-22T12:00:00'))).toBe('2026-11-22 13:0 day 7');
    for (const none of ['', 'Berlin', 'Europe/Atlantis', '+25:00']) {
      expect(() => localTimeAt(none, 0)).toThrow(RangeError);
    }
  });
});

/**
 * Zones with each kind of rule: none, half an hour, 45 minutes, change over midnight, a skipped day, two changes around
 * Ramadan.
 */
const ZONES = [
  'Europe/Berlin',
  'America/New_York',
  'Australia/Lord_Howe',
  'Pacific/Chatham',
  'Asia/Kathmandu',
  'Africa/Cairo',
  'Africa/Casablanca',
  'America/Caracas',
  'Pacific/Apia',
  'Asia/Gaza',
];

describe('local time, compared with another implementation', () => {
  it.each(ZONES)('agrees at every clock change of %s from 2000 to 2037', (zone) => {
    expect(
      aroundChanges(zone)
        .flatMap((at) => disagreements(zone, at))
        .slice(0, 3),
    ).toEqual([]);
  });

  it('agrees at random instants of random zones', () => {
    const zones = fc.constantFrom(...Intl.supportedValuesOf('timeZone'));
    fc.assert(
      fc.property(zones, fc.integer({ min: FROM, max: TO }), (zone, at) => {
        expect(disagreements(zone, at)).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });
});
