import type { EventId, Instant } from '@carillon/kernel';

/** Counts of one rule over the events of an evaluation record. */
export type RuleTally = {
  readonly workspace: string;
  /** `notification.rule`. */
  readonly rule: string;
  readonly ruleVersion: number;
  readonly fired: number;
  readonly failed: number;
  /** Recipients dropped, with reasons summed over all. */
  readonly dropped: number;
  readonly waitsStarted: number;
  /** Waits that an event ended without a message. */
  readonly waitsCancelled: number;
  /** Matches and deadlines at which the cooldown kept the rule from firing. */
  readonly inCooldown: number;
  /** Number of firings at the deadline of a wait, included in `fired`. */
  readonly firedByDeadline: number;
  readonly sampleEventId: EventId | null;
  readonly sampleError: string | null;
};

/**
 * The result of evaluating a range of one partition of `carillon.events` by one configuration number. It explains events for which no rule
 * fires. The ranges of a partition follow each other without gaps, and those of a repeated batch may overlap. A range is empty if more deadlines passed at one record than one
 * commit takes: `from` and `to` are the offset of that record.
 */
export type Evaluation = {
  readonly partition: number;
  /** First offset judged. */
  readonly from: number;
  /** Offset after the last one judged. */
  readonly to: number;
  readonly configNumber: number;
  readonly events: number;
  /**
   * Events, and records that have an entity forgotten, that the states of their entities held already, because their batch came
   * again. Rules with state did not evaluate them again.
   */
  readonly repeated: number;
  readonly intents: number;
  readonly triggers: number;
  readonly late: number;
  readonly duplicates: number;
  readonly deadLetters: number;
  readonly rules: readonly RuleTally[];
  readonly at: Instant;
};

/** Bytes of a record that a dead letter holds at most. A larger record, as text and framed, would be too large for a topic itself. */
export const MAX_DEAD_LETTER_BYTES = 2 * 1024 * 1024;

/** A record that can never be processed, kept with the reason; its own bytes ride along. */
export type DeadLetter = {
  readonly id: string;
  readonly stage:
    | 'append'
    | 'evaluate'
    | 'cohorts'
    | 'ask'
    | 'resolve'
    | 'deliver'
    | 'receipts'
    | 'consents'
    | 'project'
    | 'configure';
  readonly workspace: string | null;
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  readonly key: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly value: Uint8Array;
  /** Class of the failure, such as `invalid_json`, `unknown_schema`. */
  readonly reason: string;
  readonly detail: string;
  readonly at: Instant;
};
