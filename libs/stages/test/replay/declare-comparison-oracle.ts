import type { DeliveryState } from '@carillon/domain/deliveries';
import { slotStateOf, slotToLookUp } from '@carillon/domain/runs';
import type { DeliveryId } from '@carillon/kernel';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRowCounter, type ComparedSlot } from '../../src/index.ts';
import { anyHistory, anyOptions, answerFor, linesOfAll, shopOf, slotsOf } from './comparison-fixture.ts';
import { countsOf, type OracleLedger } from './comparison-oracle.ts';

/** A state per tenth of the slots; null: no delivery. */
const STATES: readonly (DeliveryState | null)[] = [
  'SENT',
  'DELIVERED',
  'IN_DOUBT',
  'SUPPRESSED',
  'FAILED',
  'CANCELLED',
  'COLLECTED',
  'WAITING',
  null,
  null,
];

/** A ledger with a delivery for most slots. The seed decides about each slot, in the order of the ids. */
function ledgerOf(slots: readonly DeliveryId[], seed: readonly number[]): OracleLedger {
  const ledger = new Map<DeliveryId, DeliveryState>();
  for (const [index, slot] of [...new Set(slots)].toSorted().entries()) {
    const state = STATES[seed[index % seed.length] ?? 0];
    if (state) ledger.set(slot, state);
  }
  return ledger;
}

function counted(slots: readonly ComparedSlot[], ledger: OracleLedger) {
  const counter = createRowCounter();
  for (const slot of slots) {
    const { difference } = slot;
    if (difference === 'unchanged') {
      counter.addUnchanged(slot.rule, 1);
      continue;
    }
    const row = { ...slot, difference };
    const state = ledger.get(slotToLookUp(row));
    counter.addRow(row, slotStateOf(state && { state, reason: 'new' }).slotState);
  }
  return counter.counts();
}

/** Declares the test of a comparison against the oracle, with `numRuns` random histories, edits and ledgers. */
export function declareComparisonOracle(numRuns: number): void {
  describe('the counts of a comparison', () => {
    it('are those that plain loops over the events and the ledger give', () => {
      const seeds = fc.array(fc.nat(STATES.length - 1), { minLength: 1, maxLength: 8 });
      fc.assert(
        fc.property(anyHistory, anyOptions, anyOptions, seeds, (events, before, after, seed) => {
          const answers = events.filter((_event, index) => index % 2 === 0).map((event) => answerFor(event));
          const sides = { before: shopOf(before), after: shopOf(after) };
          const lines = linesOfAll(events, sides, answers);
          const ledger = ledgerOf(
            lines.map(({ slot }) => slot),
            seed,
          );
          expect(counted(slotsOf(lines), ledger)).toEqual(countsOf(events, { before, after }, answers, ledger));
        }),
        { numRuns },
      );
    });
  });
}
