import type { Instant } from '@carillon/kernel';
import type { FencedWrite, LogRecord, NewRecord } from '@carillon/ports';

/** What a stage knows of its partition when a batch begins: from the checkpoint, then from the batches before. */
export type PartitionState = {
  readonly partition: number;
  readonly configNumber: number;
  readonly clocks: Readonly<Record<string, Instant>>;
};

/**
 * What became of one record, out of a closed set. `dropped` has a reason that people may ask for; `parked` can never be
 * processed and goes to the dead letters.
 */
export type RecordFate =
  | { readonly kind: 'done' }
  | { readonly kind: 'dropped'; readonly reason: string }
  | { readonly kind: 'parked'; readonly reason: string };

/** What a batch came to. Nothing has been appended yet: the interpreter appends `outputs`, then saves the state, then the position. */
export type BatchResult = {
  /** Of the records in their order. A stage that has worked for long ends with fewer than it was given: the rest come again. */
  readonly fates: readonly RecordFate[];
  readonly outputs: readonly NewRecord[];
  /** Evaluations of a rule that ended in an error. */
  readonly ruleErrors?: number;
  /** Recipients and user ids that a rule dropped, by reason. */
  readonly dropped?: Readonly<Record<string, number>>;
  /** Saves what the stage itself keeps; `refused` where another worker is further on. */
  readonly save?: () => Promise<FencedWrite>;
  readonly state: PartitionState;
};

/**
 * A stage over one batch of one partition. It may be called again with the same records after a crash; its outputs have
 * deterministic ids. It throws only where infrastructure fails, and then the batch comes again.
 */
export type BatchStage = {
  readonly name: string;
  handle(records: readonly LogRecord[], state: PartitionState): Promise<BatchResult>;
};
