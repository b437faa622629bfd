import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { localTimeAt, type Weekday } from '../../src/cadence/index.ts';
import { extendedBy, openedNow, type DigestWindow } from '../../src/digests/index.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const at = (text: string): number => Date.parse(text);
const EVERY_DAY: ReadonlySet<Weekday> = new Set([1, 2, 3, 4, 5, 6, 7]);
const wall = (...minutes: readonly number[]): DigestWindow => ({ kind: 'at', minutes, days: EVERY_DAY });

describe('the closing time of a digest window', () => {
  it('is fixed by the first item of a fixed window', () => {
    const opened = openedNow({ kind: 'fixed', length: HOUR }, 'UTC', 1000);
    expect(opened).toEqual({ closesAt: 1000 + HOUR, slide: null });
    expect(extendedBy(opened, 1000 + 59 * MINUTE)).toEqual(opened);
  });

  it('moves with each item of a sliding window, up to its latest end', () => {
    const sliding: DigestWindow = { kind: 'sliding', step: 10 * MINUTE, atMost: 25 * MINUTE };
    let end = openedNow(sliding, 'UTC', 0);
    expect(end.closesAt).toBe(10 * MINUTE);
    end = extendedBy(end, 9 * MINUTE);
    expect(end.closesAt).toBe(19 * MINUTE);
    end = extendedBy(end, 18 * MINUTE);
    expect(end.closesAt).toBe(25 * MINUTE);
    expect(extendedBy(end, 24 * MINUTE).closesAt).toBe(25 * MINUTE);
  });

  it('is never moved earlier by an item from a clock that is behind', () => {
    const end = openedNow({ kind: 'sliding', step: 10 * MINUTE, atMost: 2 * HOUR }, 'UTC', 5 * MINUTE);
    expect(extendedBy(end, 0)).toEqual(end);
  });

  it('is the next listed time on the person’s clock', () => {
    const window = wall(8 * 60, 17 * 60);
    expect(openedNow(window, 'Europe/Berlin', at('2026-11-23T06:59:59Z')).closesAt).toBe(at('2026-11-23T07:00:00Z'));
    // The very minute has begun, so it is the next one.
    expect(openedNow(window, 'Europe/Berlin', at('2026-11-23T07:00:00Z')).closesAt).toBe(at('2026-11-23T16:00:00Z'));
    expect(openedNow(window, 'Europe/Berlin', at('2026-11-23T20:00:00Z')).closesAt).toBe(at('2026-11-24T07:00:00Z'));
    expect(openedNow(window, 'Asia/Kathmandu', at('2026-11-23T00:00:00Z')).closesAt).toBe(at('2026-11-23T02:15:00Z'));
  });

  it('falls only on the listed days', () => {
    const mondays: DigestWindow = { kind: 'at', minutes: [480], days: new Set([1]) };
    // 2026-11-23 is a Monday.
    expect(openedNow(mondays, 'UTC', at('2026-11-23T08:00:00Z')).closesAt).toBe(at('2026-11-30T08:00:00Z'));
    expect(openedNow(mondays, 'UTC', at('2026-11-23T07:59:00Z')).closesAt).toBe(at('2026-11-23T08:00:00Z'));
  });

  it('is the first instant after the gap for a skipped time, and the first occurrence of a repeated time', () => {
    const window = wall(2 * 60 + 30);
    expect(openedNow(window, 'Europe/Berlin', at('2026-03-28T23:30:00Z')).closesAt).toBe(at('2026-03-29T01:00:00Z'));
    expect(openedNow(window, 'Europe/Berlin', at('2026-10-24T23:00:00Z')).closesAt).toBe(at('2026-10-25T00:30:00Z'));
  });

  it('is always later than now and within nine days, and is a listed time unless the clock skipped it', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('Europe/Berlin', 'America/New_York', 'Asia/Kathmandu', 'Australia/Lord_Howe', 'Pacific/Apia'),
        fc.integer({ min: at('2005-01-01T00:00:00Z'), max: at('2035-01-01T00:00:00Z') }),
        fc.uniqueArray(fc.integer({ min: 0, max: 1439 }), { minLength: 1, maxLength: 4 }),
        fc.uniqueArray(fc.constantFrom<Weekday>(1, 2, 3, 4, 5, 6, 7), { minLength: 1 }),
        (zone, now, minutes, days) => {
          const { closesAt } = openedNow({ kind: 'at', minutes, days: new Set(days) }, zone, now);
          expect(closesAt).toBeGreaterThan(now);
          expect(closesAt - now).toBeLessThanOrEqual(9 * 24 * HOUR);
          const shown = localTimeAt(zone, closesAt);
          const isOnTime = minutes.includes(shown.minute) && days.includes(shown.weekday);
          // A gap is at most a day long, and its end is the first instant of another offset.
          const before = localTimeAt(zone, closesAt - 1);
          expect(isOnTime || shown.minute - before.minute !== 1).toBe(true);
        },
      ),
      { numRuns: 300 },
    );
  });

  it('of a sliding window stays within its bounds for any order of items', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1000 }),
        fc.integer({ min: 1, max: 5000 }),
        fc.array(fc.integer({ min: 0, max: 10_000 })),
        (step, atMost, times) => {
          let end = openedNow({ kind: 'sliding', step, atMost }, 'UTC', 0);
          for (const now of times) {
            const next = extendedBy(end, now);
            expect(next.closesAt).toBeGreaterThanOrEqual(end.closesAt);
            expect(next.closesAt).toBeLessThanOrEqual(atMost);
            end = next;
          }
        },
      ),
    );
  });
});
