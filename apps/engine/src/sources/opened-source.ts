import type { SourcePosition, SourceProblem, StoppedReason, WaitingReason } from '@carillon/domain/changes';
import type { Coroutine, Result } from '@carillon/kernel';
import type { ResetRequest, SourceReader, SourceTarget, TableReading, TopicEnd } from '@carillon/ports';
import type { PreparedRecord } from '@carillon/stages';

/** A batch that was read, with the position after it. */
export type SourceBatch = {
  readonly position: SourcePosition;
  /** Number of changes or records, with those that are skipped. */
  readonly count: number;
  /** Makes their records. */
  readonly prepare: () => Coroutine<readonly PreparedRecord[]>;
};

export type LagReport = {
  readonly tables: readonly TableReading[];
  readonly lagBytes: number | null;
  /** Absent for a database, and until it is known. */
  readonly lagRecords?: number;
};

export type BatchHandlers = {
  readonly take: (batch: SourceBatch) => Promise<void>;
  /** Changes that the next batch may hold, of a source that can choose. */
  readonly mostChanges: () => number;
  readonly report: (report: LagReport) => void;
};

export type ResetOrder = {
  readonly from: SourcePosition;
  /** Why it stopped. Null: it waits. */
  readonly reason: StoppedReason | null;
  /** The only topic that is passed over. Null: all of the source. */
  readonly topic: string | null;
  readonly request: ResetRequest;
};

/** Position at which a reset continues. `left`, for the audit, names a slot that remains on an old server, or is empty. */
export type Begun = { readonly position: SourcePosition; readonly left: string };

/** A source with its secrets, whatever its kind. */
export type OpenedSource = {
  open(from: SourcePosition | null, handlers: BatchHandlers): SourceReader<TopicEnd>;
  reset(order: ResetOrder): Promise<Result<Begun, SourceProblem<WaitingReason>>>;
  /** The database, whose slot is dropped when the integration is removed. Null for Kafka, which has no slot. */
  readonly database: SourceTarget | null;
};

/** Makes the records of each change, and may yield after each. */
export function* prepareEach<Change>(
  changes: readonly Change[],
  prepare: (change: Change) => readonly PreparedRecord[],
): Coroutine<readonly PreparedRecord[]> {
  const prepared: PreparedRecord[] = [];
  for (const change of changes) {
    prepared.push(...prepare(change));
    yield;
  }
  return prepared;
}
