import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SourceEvent } from '@carillon/domain/events';
import {
  anyHistory,
  anyOptions,
  answerFor,
  checksum,
  countDifferences,
  linesOfAll,
  shopOf,
  slotsOf,
  textOf,
  type Options,
} from './comparison-fixture.ts';
import { modelOf } from './comparison-model.ts';

const configurations = (before: Options, after: Options) => ({ before: shopOf(before), after: shopOf(after) });
/** Every second event has an answer on the log. */
const answersOf = (events: readonly SourceEvent[]) =>
  events.filter((_event, index) => index % 2 === 0).map((event) => answerFor(event));
const keysOf = (slots: ReturnType<typeof slotsOf>, difference: string) =>
  slots.filter((slot) => slot.difference === difference).map(({ slot }) => slot);

/** Declares the laws of a comparison, each tried with `numRuns` random histories and edits. */
export function declareComparisonLaws(numRuns: number): void {
  describe('a comparison of two configurations over past events', () => {
    it('finds the differences that a full evaluation of both sides gives', () => {
      fc.assert(
        fc.property(anyHistory, anyOptions, anyOptions, (events, before, after) => {
          const answers = answersOf(events);
          const slots = slotsOf(linesOfAll(events, configurations(before, after), answers));
          const model = modelOf(events, { before, after }, answers);
          expect(slots.map(textOf).toSorted()).toEqual(model.texts);
          const { added, removed, new_unique_id: moved } = countDifferences(slots);
          expect(added + moved - removed - model.replaced).toBe(model.wanted.after - model.wanted.before);
        }),
        { numRuns },
      );
    });

    it('has no rows if the configurations are equal', () => {
      fc.assert(
        fc.property(anyHistory, anyOptions, (events, options) => {
          const slots = slotsOf(linesOfAll(events, configurations(options, options), answersOf(events)));
          expect(slots.every(({ difference }) => difference === 'unchanged')).toBe(true);
        }),
        { numRuns },
      );
    });

    it('exchanges added and removed if the two configurations are exchanged', () => {
      fc.assert(
        fc.property(anyHistory, anyOptions, anyOptions, fc.boolean(), (events, before, after, isComplete) => {
          const complete = events.map((event) => answerFor(event, { userIds: ['ann', 'bob', 'cem', 'dee'] }));
          const answers = isComplete ? complete : answersOf(events);
          const there = slotsOf(linesOfAll(events, configurations(before, after), answers));
          const back = slotsOf(linesOfAll(events, configurations(after, before), answers));
          expect(keysOf(back, 'added')).toEqual(keysOf(there, 'removed'));
          expect(keysOf(back, 'removed')).toEqual(keysOf(there, 'added'));
          expect(keysOf(back, 'changed')).toEqual(keysOf(there, 'changed'));
        }),
        { numRuns },
      );
    });

    it('has the same lines for two halves of a range, and one checksum in any order of partitions', () => {
      fc.assert(
        fc.property(anyHistory, anyOptions, anyOptions, fc.nat(12), (events, before, after, cut) => {
          const [sides, answers] = [configurations(before, after), answersOf(events)];
          const whole = linesOfAll(events, sides, answers);
          const halves = [events.slice(cut), events.slice(0, cut)].flatMap((half) => linesOfAll(half, sides, answers));
          const byPartition = events.toSorted((a, b) => b.position.partition - a.position.partition);
          const shuffled = linesOfAll(byPartition, sides, answers.toReversed());
          expect(checksum(halves)).toBe(checksum(whole));
          expect(checksum(shuffled)).toBe(checksum(whole));
          expect(slotsOf(shuffled)).toEqual(slotsOf(whole));
        }),
        { numRuns },
      );
    });

    it('shows no added message for a person who already gets one of the same rule and event under another unique_id', () => {
      fc.assert(
        fc.property(
          anyHistory,
          anyOptions,
          fc.constantFrom('event_id', 'item.id', 'trigger_id'),
          (events, before, uniqueId) => {
            const slots = slotsOf(
              linesOfAll(events, configurations(before, { ...before, uniqueId }), answersOf(events)),
            );
            expect(keysOf(slots, 'added')).toEqual([]);
            expect(keysOf(slots, 'removed')).toEqual([]);
            for (const { difference, oldSlot, slot } of slots) {
              expect(oldSlot !== null && oldSlot !== slot).toBe(difference === 'new_unique_id');
            }
          },
        ),
        { numRuns },
      );
    });
  });
}
