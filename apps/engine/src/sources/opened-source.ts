import type { SourcePosition, SourceProblem, StoppedReason, WaitingReason } from '@carillon/domain/changes';
import type { Result } from '@carillon/kernel';
import type { ResetRequest, SourceReader, SourceTarget, TableReading, TopicEnd } from '@carillon/ports';
import type { PreparedRecord } from '@carillon/stages';

/** What was read, and the position after it. */
export type SourceBatch = {
  readonly position: SourcePosition;
  /** Number of changes or records, with those that are skipped. */
  readonly count: number;
  /** Returns their records. */
  readonly prepare: () => readonly PreparedRecord[];
};

export type LagReport = {
  readonly tables: readonly TableReading[];
  readonly lagBytes: number | null;
  /** Absent for a database, and until it is known. */
  readonly lagRecords?: number;
};

export type BatchHandlers = {
  readonly take: (batch: SourceBatch) => Promise<void>;
  readonly report: (report: LagReport) => void;
};

export type ResetOrder = {
  readonly from: SourcePosition;
  readonly reason: StoppedReason;
  readonly request: ResetRequest;
};

/** Where a reset continues. `left`: what stays behind, for the audit; empty if nothing does. */
export type Begun = { readonly position: SourcePosition; readonly left: string };

/** A source with its secrets, whatever its kind. */
export type OpenedSource = {
  open(from: SourcePosition | null, handlers: BatchHandlers): SourceReader<TopicEnd>;
  reset(order: ResetOrder): Promise<Result<Begun, SourceProblem<WaitingReason>>>;
  /** The database, so that its slot can be dropped later. Null: nothing has to be dropped. */
  readonly database: SourceTarget | null;
};
