import {
  noRowCounts,
  type Difference,
  type RowCounts,
  type RowDifference,
  type RowPerson,
  type SlotState,
} from '@carillon/domain/runs';
import type { ComparedSlot } from './join-slots.ts';

/** Counts of people. They need the rows in another order than all other counts. */
export type PeopleCounts = Pick<RowCounts, 'people' | 'notifiedPeople'>;

export type RowCounter = {
  /** Counts a slot that differs, with what the ledger knows about it. */
  addRow(slot: ComparedSlot & { readonly difference: RowDifference }, state: SlotState): void;
  /** Counts slots of a rule on which the sides agree. */
  addUnchanged(rule: string, slots: number): void;
  counts(): Omit<RowCounts, keyof PeopleCounts>;
};

type Counted = Record<Difference, number>;
const none = (): Counted => ({ added: 0, removed: 0, changed: 0, new_unique_id: 0, unchanged: 0 });

/** Counts rows as they come, in any order. It keeps numbers for each day and rule. */
export function createRowCounter(): RowCounter {
  const differences = none();
  const { slotStates } = noRowCounts();
  const states = structuredClone(slotStates) as Record<RowDifference, Record<SlotState, number>>;
  const rules = new Map<string, Counted>();
  const days = new Map<string, Counted>();

  function count(difference: Difference, rule: string, slots: number): void {
    differences[difference] += slots;
    at(rules, rule)[difference] += slots;
  }

  return {
    addRow({ difference, rule, day }, state) {
      count(difference, rule, 1);
      at(days, day)[difference] += 1;
      states[difference][state] += 1;
    },
    addUnchanged: (rule, slots) => count('unchanged', rule, slots),
    counts: () => ({
      differences: { ...differences },
      slotStates: structuredClone(states),
      byRule: sortedEntries(rules).map(([rule, counted]) => ({ rule, ...counted })),
      byDay: sortedEntries(days).map(([day, { unchanged: _unchanged, ...counted }]) => ({ day, ...counted })),
    }),
  };
}

/** Counts the people of rows. The rows are ordered by difference and person, and only one person is kept at a time. */
export function countPeople(rows: Iterable<RowPerson>): PeopleCounts {
  const people = { ...noRowCounts().people };
  const notifiedPeople = { ...people };
  let last = '';
  let isLastNotified = false;
  for (const { difference, person, isNotified } of rows) {
    const key = `${difference} ${person}`;
    if (key !== last) {
      people[difference] += 1;
      if (isNotified) notifiedPeople[difference] += 1;
      isLastNotified = isNotified;
    } else if (isLastNotified && !isNotified) {
      notifiedPeople[difference] -= 1;
      isLastNotified = false;
    }
    last = key;
  }
  return { people, notifiedPeople };
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
