import { localTimeAt } from '../../src/cadence/index.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FROM, TO, zoned } from './support/temporal.ts';
import { aroundChanges, disagreements } from './support/zone-law.ts';

/** What calendar and clock show, as one text: quick to compare ten thousand times. */
const theirs = (zone: string, at: number): string => {
  const { year, month, day, hour, minute, dayOfWeek } = zoned(zone, at);
  return `${year}-${month}-${day} ${hour * 60 + minute} ${dayOfWeek}`;
};
const ours = (zone: string, at: number): string => {
  const { year, month, day, minute, weekday } = localTimeAt(zone, at);
  return `${year}-${month}-${day} ${minute} ${weekday}`;
};

describe('local time of every zone, compared with another implementation', () => {
  it.each(Intl.supportedValuesOf('timeZone'))(
    'agrees at every clock change of %s from 2000 to 2037, and at 10,000 instants between',
    (zone) => {
      expect(
        aroundChanges(zone)
          .flatMap((at) => disagreements(zone, at))
          .slice(0, 3),
      ).toEqual([]);
      const instants = fc.integer({ min: FROM, max: TO });
      fc.assert(
        fc.property(instants, (at) => ours(zone, at) === theirs(zone, at)),
        { numRuns: 10_000 },
      );
      fc.assert(
        fc.property(instants, (at) => disagreements(zone, at).length === 0),
        { numRuns: 50 },
      );
    },
    600_000,
  );
});
