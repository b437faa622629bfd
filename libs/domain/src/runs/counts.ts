import {
  DIFFERENCES,
  ROW_DIFFERENCES,
  SLOT_STATES,
  type Difference,
  type RowDifference,
  type SlotState,
} from './row.ts';

/** A number for each side of a comparison. */
export type SideCounts = { readonly before: number; readonly after: number };

/** Slots by difference. */
export type DifferenceCounts = Readonly<Record<Difference, number>>;

/** Counts of a comparison while it reads, for everything that has no row. */
export type ReadCounts = {
  /** Events that were evaluated. */
  readonly events: number;
  /** Events for which a side asks a partner without a recorded answer that fits. */
  readonly needsLookup: number;
  /** Messages without a valid address. */
  readonly noAddress: SideCounts;
  /** Rules and recipients whose evaluation ended in an error. */
  readonly ruleErrors: SideCounts;
  /** Events that cannot be parsed. */
  readonly unreadable: number;
  /** Events that retention removed during the run. */
  readonly pastRetention: number;
  /** Waits whose deadline is after the end of the range. Runs of earlier releases lack it. */
  readonly wouldWait?: SideCounts;
  /** Messages that may be others, because events of their entities were not read. Runs of earlier releases lack it. */
  readonly cold?: SideCounts;
};

/** Counts of a comparison over its slots. Includes all rows, also those that are not stored. */
export type RowCounts = {
  readonly differences: DifferenceCounts;
  readonly slotStates: Readonly<Record<RowDifference, Readonly<Record<SlotState, number>>>>;
  /** People by difference. A person counts once in each. */
  readonly people: Readonly<Record<RowDifference, number>>;
  /** People all of whose messages of this difference are `notified`. */
  readonly notifiedPeople: Readonly<Record<RowDifference, number>>;
  /** By `notification.rule`, sorted by name. */
  readonly byRule: readonly (DifferenceCounts & { readonly rule: string })[];
  /** Differences by day of the event in UTC, oldest first. Only days on which a slot differs. */
  readonly byDay: readonly (Omit<DifferenceCounts, 'unchanged'> & { readonly day: string })[];
};

/** Counts of a run. `rows` is null until the whole range is read. */
export type RunCounts = { readonly read: ReadCounts; readonly rows: RowCounts | null };

/** Returns a record with the same value for each name. */
const recordOf = <Name extends string, Value>(names: readonly Name[], value: () => Value): Record<Name, Value> =>
  Object.fromEntries(names.map((name) => [name, value()])) as Record<Name, Value>;

export const NO_READ_COUNTS: ReadCounts = {
  events: 0,
  needsLookup: 0,
  noAddress: { before: 0, after: 0 },
  ruleErrors: { before: 0, after: 0 },
  unreadable: 0,
  pastRetention: 0,
};

/** Returns row counts of zero. */
export const noRowCounts = (): RowCounts => ({
  differences: recordOf(DIFFERENCES, () => 0),
  slotStates: recordOf(ROW_DIFFERENCES, () => recordOf(SLOT_STATES, () => 0)),
  people: recordOf(ROW_DIFFERENCES, () => 0),
  notifiedPeople: recordOf(ROW_DIFFERENCES, () => 0),
  byRule: [],
  byDay: [],
});
