import type { ResourceChange } from '@carillon/domain/configuration';
import type { MissingLookup, ReadCounts, Run, RunProgress } from '@carillon/domain/runs';
import type { ComparedSlot } from '@carillon/stages';

/** Called while a comparison is under way. */
export type ComparisonReports = {
  /** Called when a process begins. Slots that were given before come again. */
  begin(): Promise<void>;
  /** Called about once per second, and never two at a time. */
  progress(progress: RunProgress, counts: ReadCounts): Promise<void>;
  /** Gets each slot that differs once, some hundreds at a time and in the order of the slots. The comparison waits for it. */
  slots(slots: readonly ComparedSlot[]): Promise<void>;
  /** Gets each event and rule that needs a lookup once, some hundreds at a time. The comparison waits for it. */
  lookups(lookups: readonly MissingLookup[]): Promise<void>;
};

export type ComparisonResult = {
  /** SHA-256 over the lines, as 64 hexadecimal digits. */
  readonly checksum: string;
  readonly counts: ReadCounts;
  /** Number of slots on which the sides agree, by rule. */
  readonly unchanged: readonly (readonly [rule: string, slots: number])[];
};

/** Compares two configurations over the log, outside this process. */
export type HistoryComparison = {
  /**
   * Evaluates the events of a run, with its edit and without it. A run that was interrupted continues where it stopped. Rejects with
   * CarillonError `no_room`, and with `internal` if the process keeps ending. Rejects with the reason of `stop` when that is aborted.
   */
  compare(
    run: Run,
    edit: readonly ResourceChange[],
    reports: ComparisonReports,
    stop: AbortSignal,
  ): Promise<ComparisonResult>;
  /** Deletes what a run has on the disk. Safe to repeat. */
  forget(run: Pick<Run, 'id'>): Promise<void>;
  /** Counts a run for metrics. Called once per run that ended while this process worked on it. */
  ended(result: 'done' | 'failed' | 'cancelled'): void;
  /** Ids of runs that have something on the disk. */
  known(): Promise<readonly string[]>;
};
