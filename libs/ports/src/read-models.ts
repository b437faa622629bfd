import type { JsonType } from '@carillon/domain/events';
import type { ParkedReceipt } from '@carillon/domain/receipts';
import type { Instant } from '@carillon/kernel';

/**
 * Data for lookups by people, derived from log and ledger. Rows are written by record id, so a repeated projection
 * changes nothing.
 */
export type EventRow = {
  readonly id: string;
  readonly workspace: string;
  readonly stream: string;
  readonly partition: number;
  readonly offset: number;
  readonly at: Instant;
  readonly bytes: number;
  readonly configNumber: number;
  /** True if another body had arrived under the same id. */
  readonly reused: boolean;
  /** The W3C trace of the request. Null if there is none or an older version projected the event. */
  readonly traceId: string | null;
};

/** A duplicate intent, shown as a separate row: `SUPPRESSED (duplicate of …)`. */
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
  /** Position of the dead letter itself, from which its bytes can be read again. */
  readonly ownPartition: number;
  readonly ownOffset: number;
  readonly redrivenAt: Instant | null;
  /** Person who redrove it. Null also if an older version stored only the time. */
  readonly redrivenBy: string | null;
  /** When and by whom it was dismissed. Only receipts can be dismissed. */
  readonly dismissedAt: Instant | null;
  readonly dismissedBy: string | null;
  /** Content of the record if it is a readable receipt. */
  readonly receipt: ParkedReceipt | null;
};

export type DeadLetterFilter = {
  readonly workspace?: string;
  /** True selects receipts only, false everything else. */
  readonly ofReceipts?: boolean;
  /** True selects letters that are neither redriven nor dismissed. */
  readonly open?: true;
  /** Time of parking, inclusive. */
  readonly since?: Instant;
  /** Time of parking, exclusive. */
  readonly before?: Instant;
};

/** Counts of one evaluation record per rule. Stored per record id, so that a repeat does not count twice. */
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
 * Values of a stream's events at one path in one partition, up to an offset. Of two rows for the same path, the row
 * with the higher offset is right, because each row depends only on the log up to its offset.
 */
export type FieldRow = {
  readonly workspace: string;
  readonly stream: string;
  readonly partition: number;
  /** `customer.email`, `items[].qty`. */
  readonly path: string;
  /** Offset of the newest counted event. */
  readonly offset: number;
  /** Number of events with the field. */
  readonly count: number;
  readonly types: readonly JsonType[];
  /** Tables, as `schema.table`, whose changes had the field. Empty for events that clients sent. */
  readonly tables: readonly string[];
  /** Start of the newest value as JSON text. Null if only objects, lists and null were seen. */
  readonly sample: string | null;
  readonly firstAt: Instant;
  readonly lastAt: Instant;
};

export type Page<Row> = { readonly items: readonly Row[]; readonly next: string | null };

export type ReadModels = {
  /** Writes the rows and the projection's position, in one step if the store can. Idempotent. */
  put(rows: {
    readonly events?: readonly EventRow[];
    readonly duplicates?: readonly DuplicateRow[];
    readonly deadLetters?: readonly DeadLetterRow[];
    readonly evaluations?: readonly EvaluationRow[];
    /** Ignored unless its offset is higher than the stored row's. */
    readonly fields?: readonly FieldRow[];
  }): Promise<void>;
  /** Fields of a stream, by path and partition. `partition` narrows to one partition. */
  fields(stream: string, partition?: number): Promise<readonly FieldRow[]>;
  /** All positions of an event id on the log, oldest first. There are several if the id was reused. */
  event(id: string): Promise<readonly EventRow[]>;
  /**
   * Rows of events with these ids, at most `mostOfEach` per id, because a client can reuse an id any number of times.
   * Their choice and order are undefined.
   */
  eventsWithIds(ids: readonly string[], mostOfEach: number): Promise<readonly EventRow[]>;
  events(
    filter: {
      readonly workspace?: string;
      readonly stream?: string;
      readonly since?: Instant;
      /** Arrival time, exclusive. */
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
      /** Id of the event that caused the duplicate, not of the delivery's event. */
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
  /** Stores the dismissal if none is stored; a later one changes nothing. */
  markDismissed(id: string, at: Instant, by: string): Promise<void>;
  /** Removes a dismissal. Does nothing if there is none. */
  markReopened(id: string): Promise<void>;
  /** Evaluations of a rule, failed ones first, then newest first, as the page of the rule shows them. */
  evaluations(workspace: string, rule: string, limit: number): Promise<readonly EvaluationRow[]>;
};
