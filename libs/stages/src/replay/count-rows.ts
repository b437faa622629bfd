import {
  noRowCounts,
  ROW_DIFFERENCES,
  type Difference,
  type RowCounts,
  type RowDifference,
  type SlotState,
} from '@carillon/domain/runs';
import type { ComparedSlot } from './join-slots.ts';

export type RowCounter = {
  /** Counts a slot that differs, with what the ledger knows about it. */
  addRow(slot: ComparedSlot & { readonly difference: RowDifference }, state: SlotState): void;
  /** Counts slots of a rule on which the sides agree. */
  addUnchanged(rule: string, slots: number): void;
  counts(): RowCounts;
};

type Counted = Record<Difference, number>;
const none = (): Counted => ({ added: 0, removed: 0, changed: 0, new_unique_id: 0, unchanged: 0 });

/** Bits of a person for the difference at `index`: has a row, and has a row that is not `notified`. */
const hasRow = (index: number): number => 1 << (2 * index);
const hasOtherRow = (index: number): number => 2 << (2 * index);

/** Counts rows as they come, in any order. It keeps a number for each person, day and rule (75 MiB for a million people). */
export function createRowCounter(): RowCounter {
  const differences = none();
  const { slotStates } = noRowCounts();
  const states = structuredClone(slotStates) as Record<RowDifference, Record<SlotState, number>>;
  const people = { ...noRowCounts().people };
  const notifiedPeople = { ...noRowCounts().people };
  const bitsOfPeople = new Map<string, number>();
  const rules = new Map<string, Counted>();
  const days = new Map<string, Counted>();

  function count(difference: Difference, rule: string, slots: number): void {
    differences[difference] += slots;
    at(rules, rule)[difference] += slots;
  }

  function countPerson(person: string, difference: RowDifference, isNotified: boolean): void {
    const index = ROW_DIFFERENCES.indexOf(difference);
    const known = bitsOfPeople.get(person) ?? 0;
    const bits = known | hasRow(index) | (isNotified ? 0 : hasOtherRow(index));
    if (bits === known) return;
    bitsOfPeople.set(person, bits);
    const isNew = (known & hasRow(index)) === 0;
    if (isNew) people[difference] += 1;
    if (isNew && isNotified) notifiedPeople[difference] += 1;
    if (!isNew) notifiedPeople[difference] -= 1;
  }

  return {
    addRow({ difference, rule, day, person }, state) {
      count(difference, rule, 1);
      at(days, day)[difference] += 1;
      states[difference][state] += 1;
      countPerson(person, difference, state === 'notified');
    },
    addUnchanged: (rule, slots) => count('unchanged', rule, slots),
    counts: () => ({
      differences: { ...differences },
      slotStates: structuredClone(states),
      people: { ...people },
      notifiedPeople: { ...notifiedPeople },
      byRule: sortedEntries(rules).map(([rule, counted]) => ({ rule, ...counted })),
      byDay: sortedEntries(days).map(([day, { unchanged: _unchanged, ...counted }]) => ({ day, ...counted })),
    }),
  };
}

function at(counts: Map<string, Counted>, name: string): Counted {
  let counted = counts.get(name);
  if (!counted) {
    counted = none();
    counts.set(name, counted);
  }
  return counted;
}

const sortedEntries = (counts: ReadonlyMap<string, Counted>): readonly (readonly [string, Counted])[] =>
  [...counts.entries()].toSorted(([a], [b]) => (a < b ? -1 : 1));
