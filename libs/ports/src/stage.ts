import type { Intent } from '@carillon/domain/deliveries';
import type { Evaluation } from '@carillon/domain/events';
import type { Trigger } from '@carillon/domain/lookups';
import type { Instant } from '@carillon/kernel';
import type { FencedWrite } from './checkpoints.ts';
import type { LogRecord, NewRecord } from './event-log.ts';

/** What a stage knows of its partition when a batch begins: from the checkpoint, then from the batches before. */
export type PartitionState = {
  readonly partition: number;
  /** Newest configuration number that a marker of this partition named; -1 before any. */
  readonly configNumber: number;
  /** Highest append time of the records that the stage has evaluated; 0 before the first. Rules with state know no other clock. */
  readonly watermark: Instant;
  /** What the stage keeps in memory of the partition. It ends with the assignment, and no store has it. */
  readonly cache?: object;
};

/**
 * What became of one record, out of a closed set. `dropped` has a reason that people may ask for; `parked` can never be
 * processed and goes to the dead letters.
 */
export type RecordFate =
  | { readonly kind: 'done' }
  | { readonly kind: 'dropped'; readonly reason: string }
  | { readonly kind: 'parked'; readonly reason: string };

/** What judging comes to, as values: whoever reads a stage's answer need not decode it. Other records are given as they are. */
export type EvaluationOutput =
  | { readonly kind: 'intent'; readonly intent: Intent }
  | { readonly kind: 'trigger'; readonly trigger: Trigger }
  | { readonly kind: 'evaluation'; readonly evaluation: Evaluation }
  | { readonly kind: 'record'; readonly record: NewRecord };

/** So many recipients or user ids that one rule dropped for one reason. */
export type DropCount = {
  readonly workspace: string;
  /** `notification.rule`. */
  readonly rule: string;
  readonly reason: string;
  readonly count: number;
};

/** How often one rule with state decided in one way, such as `wait_started`. */
export type DecisionCount = {
  readonly workspace: string;
  /** `notification.rule`. */
  readonly rule: string;
  readonly decision: string;
  readonly count: number;
};

/** What a batch came to. The interpreter writes `outputs`, then saves the state, then the position. */
export type BatchResult<Output = NewRecord> = {
  /**
   * One for each record, in their order. A stage that has worked for long ends with fewer than it was given: the rest
   * come again.
   */
  readonly fates: readonly RecordFate[];
  /**
   * The stage has more to do before its next record. Outputs and saves are written, and the records without a fate are
   * handed to it again, also if none has one. The position stays before them.
   */
  readonly hasMore?: boolean;
  readonly outputs: readonly Output[];
  /** Evaluations of a rule that ended in an error. */
  readonly ruleErrors?: number;
  /** Recipients and user ids that rules dropped. */
  readonly dropped?: readonly DropCount[];
  /** Decisions of rules with state. One rule and decision may be there more than once. */
  readonly decided?: readonly DecisionCount[];
  /** Saves what the stage itself keeps; `refused` where another worker is further on. */
  readonly save?: () => Promise<FencedWrite>;
  readonly state: PartitionState;
};

/**
 * A stage over one batch of one partition. It may be called again with the same records after a crash; its outputs have
 * deterministic ids. It throws only where infrastructure fails, and then the batch comes again.
 */
export type BatchStage<Output = NewRecord> = {
  readonly name: string;
  handle(records: readonly LogRecord[], state: PartitionState): Promise<BatchResult<Output>>;
};

/** Where the outputs of a stage go. All of them are there when it resolves; after a failure some may be, and come again. */
export type OutputSink<Output = NewRecord> = { write(outputs: readonly Output[]): Promise<void> };
