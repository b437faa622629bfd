import type { ResourceChange } from '@carillon/domain/configuration';
import type { Row, RowDifference, Run, RunEvent, RunFinding, RunLookup, SlotState } from '@carillon/domain/runs';
import type { DeliveryId, Instant, RunId } from '@carillon/kernel';

export type RunPage = { readonly items: readonly Run[]; readonly next: string | null };
export type RowPage = { readonly items: readonly Row[]; readonly next: string | null };
export type RunEventPage = { readonly items: readonly RunEvent[]; readonly next: string | null };
export type RunFindingPage = { readonly items: readonly RunFinding[]; readonly next: string | null };
export type RunLookupPage = { readonly items: readonly RunLookup[]; readonly next: string | null };

export type RunTextPage = { readonly items: readonly RunId[]; readonly next: string | null };

/** Selects rows of a run. Conditions that are left out match every row. */
export type RowFilter = {
  readonly run: RunId;
  readonly difference?: RowDifference | undefined;
  readonly slotState?: SlotState | undefined;
  /** `notification.rule` */
  readonly rule?: string | undefined;
  /** In UTC, such as `2026-11-29`. */
  readonly day?: string | undefined;
};

/** Runs and their rows. A run is written by compare-and-set; a row never changes. */
export type RunStore = {
  /** Stores a run with its edit. `taken`: another run has this id and stays as it is. */
  insert(run: Run, edit: readonly ResourceChange[]): Promise<'done' | 'taken'>;
  get(id: RunId): Promise<Run | null>;
  /** The edit of a run with its bodies. Empty if there is no such run. */
  edit(id: RunId): Promise<readonly ResourceChange[]>;
  /** Compare-and-set: replaces the run of `next.id` if its version is `next.version - 1`. */
  replace(next: Run): Promise<'done' | 'stale'>;
  /** Runs of a workspace, newest first. */
  list(workspace: string, limit: number, cursor?: string): Promise<RunPage>;
  /** Runs of all workspaces that were created before an instant, oldest first. */
  createdBefore(before: Instant, limit: number): Promise<readonly Run[]>;
  /** Writes rows of a run. A row whose slot the run has already stays as it is. */
  addRows(rows: readonly Row[]): Promise<void>;
  /** Rows of a run, in the order of difference, slot state, rule, day and event id. */
  rows(filter: RowFilter, limit: number, cursor?: string): Promise<RowPage>;
  row(run: RunId, slot: DeliveryId): Promise<Row | null>;
  /** Writes lookups of a run. A lookup of an event and rule that the run has already stays as it is. */
  addLookups(lookups: readonly RunLookup[]): Promise<void>;
  /** Lookups of a run, in the order of their event ids. */
  lookups(run: RunId, limit: number, cursor?: string): Promise<RunLookupPage>;
  /** Writes findings of a run. A finding of a number that the run has already stays as it is. */
  addFindings(findings: readonly RunFinding[]): Promise<void>;
  /** Findings of a run, in the order of their numbers. */
  findings(run: RunId, limit: number, cursor?: string): Promise<RunFindingPage>;
  /** Stores the sealed text of a run that searches. */
  addText(run: RunId, sealed: string): Promise<void>;
  /** The sealed text of a run. Null if the run has none, or has ended. */
  text(run: RunId): Promise<string | null>;
  /** Runs that have a sealed text. */
  texts(limit: number, cursor?: string): Promise<RunTextPage>;
  /** Removes the sealed text of a run. Safe to repeat. */
  removeText(run: RunId): Promise<void>;
  /** Writes events that a run found. An event at a position that the run has already stays as it is. */
  addEvents(events: readonly RunEvent[]): Promise<void>;
  /** Events that a run found, newest first. */
  events(run: RunId, limit: number, cursor?: string): Promise<RunEventPage>;
  /** Removes all rows, lookups, findings and events of a run. Safe to repeat. */
  removeRows(run: RunId): Promise<void>;
  /**
   * Removes at most `limit` rows, lookups, findings and events of a run. Resolves to the number removed; the run has no more of them if it
   * is less than `limit`.
   */
  removeSomeRows(run: RunId, limit: number): Promise<number>;
  /** Removes a run after its rows. Safe to repeat. */
  remove(id: RunId): Promise<void>;
};
