import type { ResourceChange } from '@carillon/domain/configuration';
import type {
  FindCounts,
  Finding,
  FoundEvent,
  MissingLookup,
  ReadCounts,
  Run,
  RunKindName,
  RunOf,
  RunProgress,
  SlotState,
  VerifyCounts,
} from '@carillon/domain/runs';
import type { ComparedSlot, PeopleCounts } from '@carillon/stages';

/** Types of the messages between the child process of a run and its parent, by kind of run. */
export type RunWork = {
  readonly compare: {
    readonly order: { readonly edit: readonly ResourceChange[] };
    readonly counts: ReadCounts;
    readonly batches: {
      /** Gets each slot that differs, in the order of the slots. Resolves to their slot states. */
      readonly slots: (slots: readonly ComparedSlot[]) => Promise<readonly SlotState[]>;
      /** Gets each event and rule that needs a lookup. */
      readonly lookups: (lookups: readonly MissingLookup[]) => Promise<void>;
    };
    readonly result: {
      /** SHA-256 over the lines, as 64 hexadecimal digits. */
      readonly checksum: string;
      readonly counts: ReadCounts;
      /** Number of slots on which the sides agree, by rule. */
      readonly unchanged: readonly (readonly [rule: string, slots: number])[];
      readonly people: PeopleCounts;
    };
  };
  readonly verify: {
    /** The run says everything. */
    readonly order: null;
    readonly counts: VerifyCounts;
    /** Gets each finding. */
    readonly batches: { readonly findings: (findings: readonly Finding[]) => Promise<void> };
    readonly result: {
      /** SHA-256 over the findings, as 64 hexadecimal digits. */
      readonly checksum: string;
      readonly counts: VerifyCounts;
    };
  };
  readonly find: {
    /** `texts`: the text in the forms in which it may be written. */
    readonly order: { readonly texts: readonly string[] };
    readonly counts: FindCounts;
    readonly batches: object;
    readonly result: {
      /** SHA-256 over ids and times of the events, as 64 hexadecimal digits. */
      readonly checksum: string;
      readonly counts: FindCounts;
      /** The newest events, newest first. */
      readonly events: readonly FoundEvent[];
    };
  };
};

export type RunOrder<Kind extends RunKindName> = RunWork[Kind]['order'];
export type RunResult<Kind extends RunKindName> = RunWork[Kind]['result'];

/** Get parts of the result once each, some hundreds at a time. The run waits for them. */
export type BatchReports<Kind extends RunKindName> = RunWork[Kind]['batches'];

/** Called while a run is under way. */
export type RunReports<Kind extends RunKindName> = BatchReports<Kind> & {
  /** Called when a process begins. Batches that were given before come again. */
  begin(): Promise<void>;
  /** Called about once per second, and never two at a time. */
  progress(progress: RunProgress, counts: RunWork[Kind]['counts']): Promise<void>;
};

/** Executes runs over the log, outside this process. */
export type RunChild = {
  /**
   * Executes a run. A run that was interrupted continues where it stopped. Rejects with CarillonError `no_room`, and with `internal` if
   * the process keeps ending. Rejects with the reason of `stop` when that is aborted.
   */
  execute<Kind extends RunKindName>(
    run: RunOf<Kind>,
    order: RunOrder<Kind>,
    reports: RunReports<Kind>,
    stop: AbortSignal,
  ): Promise<RunResult<Kind>>;
  /** True if scratch files fill the disk on which the stores are. */
  readonly isOnDiskOfStores: boolean;
  /** Deletes what a run has on the disk. Safe to repeat. */
  forget(run: Pick<Run, 'id'>): Promise<void>;
  /** Counts a run for metrics. Called once per run that ended while this process worked on it. */
  ended(result: 'done' | 'failed' | 'cancelled'): void;
  /** Ids of runs that have something on the disk. */
  known(): Promise<readonly string[]>;
};
