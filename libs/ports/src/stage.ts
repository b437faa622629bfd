import type { Intent } from '@carillon/domain/deliveries';
import type { Evaluation } from '@carillon/domain/events';
import type { Trigger } from '@carillon/domain/lookups';
import type { Instant } from '@carillon/kernel';
import type { FencedWrite } from './checkpoints.ts';
import type { LogRecord, NewRecord } from './event-log.ts';

/** What a stage knows about its partition at the start of a batch: the checkpoint plus the batches since. */
export type PartitionState = {
  readonly partition: number;
  /** Newest configuration number that a marker of this partition named; -1 before any. */
  readonly configNumber: number;
  /** Highest append time of the records that the stage has evaluated; 0 before the first. Rules with state know no other clock. */
  readonly watermark: Instant;
  /** Memory of the stage for this partition. It ends with the assignment, and is never stored. */
  readonly cache?: object;
};

/**
 * Outcome of one record. `dropped` has a reason that users can look up. `parked` can never be processed and becomes a
 * dead letter.
 */
export type RecordFate =
  | { readonly kind: 'done' }
  | { readonly kind: 'dropped'; readonly reason: string }
  | { readonly kind: 'parked'; readonly reason: string };

/**
 * Output of an evaluation as a decoded value, so that readers of a stage's result need no codec. Other records are
 * passed encoded.
 */
export type EvaluationOutput =
  | { readonly kind: 'intent'; readonly intent: Intent }
  | { readonly kind: 'trigger'; readonly trigger: Trigger }
  | { readonly kind: 'evaluation'; readonly evaluation: Evaluation }
  | { readonly kind: 'record'; readonly record: NewRecord };

/** Number of recipients or user ids that one rule dropped for one reason. */
export type DropCount = {
  readonly workspace: string;
  /** `notification.rule`. */
  readonly rule: string;
  readonly reason: string;
  readonly count: number;
};

/** Number of times a rule with state made one decision, such as `wait_started`. */
export type DecisionCount = {
  readonly workspace: string;
  /** `notification.rule`. */
  readonly rule: string;
  readonly decision: string;
  readonly count: number;
};

/** Result of a batch. The interpreter writes `outputs`, then calls `save`, then stores the position. */
export type BatchResult<Output = NewRecord> = {
  /**
   * One fate per record, in order. A stage that reaches its time limit returns fewer fates; the remaining records are
   * delivered again.
   */
  readonly fates: readonly RecordFate[];
  /**
   * True if the stage has more work before its next record. The interpreter writes outputs and calls `save`, then
   * passes the records without a fate again, even if no record has one. The position stays before these records.
   */
  readonly hasMore?: boolean;
  readonly outputs: readonly Output[];
  /** Evaluations of a rule that ended in an error. */
  readonly ruleErrors?: number;
  /** Recipients and user ids that rules dropped. */
  readonly dropped?: readonly DropCount[];
  /** Decisions of rules with state. The same rule and decision may occur more than once. */
  readonly decided?: readonly DecisionCount[];
  /** Saves the stage's own state. Resolves to `refused` if another worker has saved a later position. */
  readonly save?: () => Promise<FencedWrite>;
  readonly state: PartitionState;
};

/**
 * Processes one batch of one partition. After a crash it may get the same records again; its outputs have deterministic
 * ids. It throws only if infrastructure fails, and the batch is then retried.
 */
export type BatchStage<Output = NewRecord> = {
  readonly name: string;
  handle(records: readonly LogRecord[], state: PartitionState): Promise<BatchResult<Output>>;
};

/**
 * Destination of a stage's outputs. All outputs are written when `write` resolves. After a failure some may be written,
 * and the stage writes all of them again.
 */
export type OutputSink<Output = NewRecord> = { write(outputs: readonly Output[]): Promise<void> };
