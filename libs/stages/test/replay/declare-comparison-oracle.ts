import { slotStateOf, slotToLookUp, type RowPerson, type SlotState } from '@carillon/domain/runs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countPeople, createRowCounter, type ComparedSlot } from '../../src/index.ts';
import { anyOptions, inOrder, linesOfAll, shopOf, slotsOf, textOf } from './comparison-fixture.ts';
import { countFound, findSlots, rowTextOf, type OracleLedger } from './comparison-oracle.ts';
import { anyPast } from './comparison-past.ts';

/** The slot state of a row, as the comparison asks the ledger for it. */
function slotStateIn(ledger: OracleLedger, slot: Parameters<typeof slotToLookUp>[0]): SlotState {
  const delivery = ledger.get(slotToLookUp(slot));
  const digest = delivery?.digestedIn === undefined ? undefined : ledger.get(delivery.digestedIn);
  return slotStateOf(delivery && { ...delivery, reason: 'new' }, digest && { ...digest, reason: 'new' }).slotState;
}

function countAndName(slots: readonly ComparedSlot[], ledger: OracleLedger) {
  const counter = createRowCounter();
  const texts: string[] = [];
  const people: RowPerson[] = [];
  for (const slot of slots) {
    const { difference } = slot;
    if (difference === 'unchanged') {
      counter.addUnchanged(slot.rule, 1);
      continue;
    }
    const row = { ...slot, difference };
    const state = slotStateIn(ledger, row);
    counter.addRow(row, state);
    people.push({ difference, person: row.person, isNotified: state === 'notified' });
    texts.push(`${textOf(slot)} ${slot.slot} ${state}`);
  }
  return { counts: { ...counter.counts(), ...countPeople(inOrder(people)) }, texts: texts.toSorted() };
}

/** Declares the test of a comparison against the oracle, with `numRuns` random pasts and edits. */
export function declareComparisonOracle(numRuns: number): void {
  describe('the counts and rows of a comparison of two configurations', () => {
    it('are those that plain loops over the events and the ledger give', () => {
      fc.assert(
        fc.property(anyPast, anyOptions, anyOptions, ({ left, answers, ledger }, before, after) => {
          const slots = slotsOf(linesOfAll(left, { before: shopOf(before), after: shopOf(after) }, answers));
          const found = findSlots(left, { before, after }, answers);
          const { counts, texts } = countAndName(slots, ledger);
          expect(counts).toEqual(countFound(found, ledger));
          const rows = found.filter(({ difference }) => difference !== 'unchanged');
          expect(texts).toEqual(rows.map((row) => rowTextOf(row, ledger)).toSorted());
        }),
        { numRuns },
      );
    });
  });
}
