import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SourceEvent } from '@carillon/domain/events';
import { anyHistory, checksum, compareOne, OPTIONS, shopOf } from './comparison-fixture.ts';
import { declareComparisonLaws } from './declare-comparison-laws.ts';
import { declareQuietLaws } from './declare-quiet-laws.ts';

declareComparisonLaws(100);
declareQuietLaws(100);

describe('the checksum of a comparison of two configurations', () => {
  const sides = { before: shopOf(OPTIONS), after: shopOf({ ...OPTIONS, threshold: 80 }) };
  const events =
    fc.sample(
      anyHistory.filter((history) => compareAll(history).length > 1),
      { numRuns: 1, seed: 7 },
    )[0] ?? [];
  function compareAll(history: readonly SourceEvent[]) {
    return history.flatMap((event) => compareOne(event, sides).lines);
  }

  it('ignores positions and times, which differ on another backend', () => {
    const moved = events.map((event) => ({
      ...event,
      appendedAt: event.appendedAt + 1,
      position: { ...event.position, offset: event.position.offset + 100 },
    }));
    expect(checksum(compareAll(moved))).toBe(checksum(compareAll(events)));
  });

  it('differs if a page of results is repeated or lost', () => {
    const lines = compareAll(events);
    expect(checksum([...lines, ...lines.slice(0, 1)])).not.toBe(checksum(lines));
    expect(checksum(lines.slice(1))).not.toBe(checksum(lines));
  });
});
