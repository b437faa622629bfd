import type { JsonType } from '@carillon/domain/events';
import type { ParkedReceipt } from '@carillon/domain/receipts';
import type { Instant } from '@carillon/kernel';

/** What people look up; derived from log and ledger, written by record id, so projecting twice changes nothing. */
export type EventRow = {
  readonly id: string;
  readonly workspace: string;
  readonly stream: string;
  readonly partition: number;
  readonly offset: number;
  readonly at: Instant;
  readonly bytes: number;
  readonly configNumber: number;
  /** Another body came under the same id before. */
  readonly reused: boolean;
  /** The W3C trace that the request belongs to; null where there is none, or where an older version projected it. */
  readonly traceId: string | null;
};

/** A duplicate intent: shown as a row of its own, `SUPPRESSED (duplicate of ...)`. */
export type DuplicateRow = {
  readonly id: string;
  readonly workspace: string;
  readonly notification: string;
  readonly intentId: string;
  readonly eventId: string;
  readonly deliveryId: string;
  readonly at: Instant;
  readonly detail: string;
};

export type DeadLetterRow = {
  readonly id: string;
  readonly workspace: string | null;
  readonly stage: string;
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  readonly reason: string;
  readonly at: Instant;
  /** Position of the dead letter itself, to read its bytes again. */
  readonly ownPartition: number;
  readonly ownOffset: number;
  readonly redrivenAt: Instant | null;
  /** Who did; null also where an older version noted only when. */
  readonly redrivenBy: string | null;
  /** When somebody said that nothing is to be done about it, and who; only receipts are dismissed. */
  readonly dismissedAt: Instant | null;
  readonly dismissedBy: string | null;
  /** What its record says, where that is a receipt that can be read. */
  readonly receipt: ParkedReceipt | null;
};

export type DeadLetterFilter = {
  readonly workspace?: string;
  /** True: only those of receipts. False: all others. */
  readonly ofReceipts?: boolean;
  /** Only those that nobody redrove or dismissed. */
  readonly open?: true;
  /** Parked at or after. */
  readonly since?: Instant;
  /** Parked before. */
  readonly before?: Instant;
};

/** Sums of evaluation records per rule, kept per record id so that a repeat does not count twice. */
export type EvaluationRow = {
  readonly partition: number;
  readonly from: number;
  readonly to: number;
  readonly configNumber: number;
  readonly workspace: string;
  readonly rule: string;
  readonly fired: number;
  readonly failed: number;
  readonly sampleEventId: string | null;
  readonly sampleError: string | null;
};

/**
 * What events of a stream held at one path, in one partition, up to an offset. A row says what the log says up to there,
 * so of two rows for the same path the one of the higher offset is right, whoever wrote it and how often.
 */
export type FieldRow = {
  readonly workspace: string;
  readonly stream: string;
  readonly partition: number;
  /** `customer.email`, `items[].qty`. */
  readonly path: string;
  /** Offset of the newest event that is counted. */
  readonly offset: number;
  /** Events that had the field. */
  readonly count: number;
  readonly types: readonly JsonType[];
  /** Tables, as `schema.table`, whose changes had the field. Empty for events that were sent. */
  readonly tables: readonly string[];
  /** Beginning of the newest value as JSON text; null where only objects, lists and null were seen. */
  readonly sample: string | null;
  readonly firstAt: Instant;
  readonly lastAt: Instant;
};

export type Page<Row> = { readonly items: readonly Row[]; readonly next: string | null };

export type ReadModels = {
  /** Writes rows and the projection's position in one step where the store can; always safe to repeat. */
  put(rows: {
    readonly events?: readonly EventRow[];
    readonly duplicates?: readonly DuplicateRow[];
    readonly deadLetters?: readonly DeadLetterRow[];
    readonly evaluations?: readonly EvaluationRow[];
    /** A row whose offset is not higher than that of the stored one changes nothing. */
    readonly fields?: readonly FieldRow[];
  }): Promise<void>;
  /** Fields of a stream, of one partition where it is named, by path and partition. */
  fields(stream: string, partition?: number): Promise<readonly FieldRow[]>;
  /** Every place where an event of this id stands, oldest first: more than one if the id was used again. */
  event(id: string): Promise<readonly EventRow[]>;
  /**
   * Places of events with these ids, at most so many for each id: whoever repeats an id thousands of times decides how
   * many there are. Which ones are answered, and in which order, is not said.
   */
  eventsWithIds(ids: readonly string[], mostOfEach: number): Promise<readonly EventRow[]>;
  events(
    filter: {
      readonly workspace?: string;
      readonly stream?: string;
      readonly since?: Instant;
      /** Received before. */
      readonly before?: Instant;
      readonly traceId?: string;
    },
    limit: number,
    cursor?: string,
  ): Promise<Page<EventRow>>;
  duplicatesOfEvent(eventId: string): Promise<readonly DuplicateRow[]>;
  duplicatesOfDelivery(deliveryId: string): Promise<readonly DuplicateRow[]>;
  /** Newest first. */
  duplicates(
    filter: {
      readonly workspace?: string;
      /** The event that made the duplicate, not the delivery. */
      readonly eventId?: string;
      /** Duplicates of any of these deliveries. */
      readonly deliveryIds?: readonly string[];
      readonly since?: Instant;
      readonly before?: Instant;
    },
    limit: number,
    cursor?: string,
  ): Promise<Page<DuplicateRow>>;
  deadLetters(filter: DeadLetterFilter, limit: number, cursor?: string): Promise<Page<DeadLetterRow>>;
  deadLetter(id: string): Promise<DeadLetterRow | null>;
  markRedriven(id: string, at: Instant, by: string): Promise<void>;
  /** The first who dismisses it is remembered; others change nothing. */
  markDismissed(id: string, at: Instant, by: string): Promise<void>;
  /** Takes a dismissal back, whoever's it was; changes nothing where nobody dismissed it. */
  markReopened(id: string): Promise<void>;
  /** Newest evaluations of a rule with failures first: what is shown on the rule. */
  evaluations(workspace: string, rule: string, limit: number): Promise<readonly EvaluationRow[]>;
};
