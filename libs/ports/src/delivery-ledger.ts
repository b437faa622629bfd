import type { ChannelName } from '@carillon/domain/channels';
import type { Delivery, DeliveryReason, DeliveryState } from '@carillon/domain/deliveries';
import type { DeliveryId, Duration, EventId, Instant } from '@carillon/kernel';
import type { NewRecord } from './event-log.ts';

export type DeliveryFilter = {
  readonly workspace?: string;
  /**
   * Matches deliveries in any of these states. An empty list matches nothing; this holds for every list in this filter.
   */
  readonly states?: readonly DeliveryState[];
  readonly reasons?: readonly DeliveryReason[];
  readonly channels?: readonly ChannelName[];
  /** Prefixes of the address, case-sensitive. */
  readonly to?: readonly string[];
  /** True if `to` holds whole addresses instead of prefixes. */
  readonly toIsWhole?: boolean;
  /** Person as named by the rule, case-sensitive. */
  readonly person?: string;
  readonly uniqueId?: string;
  readonly eventId?: string;
  readonly notification?: string;
  /** `notification.rule` */
  readonly rule?: string;
  /** True selects only test messages, false excludes them. */
  readonly test?: boolean;
  /** Creation time, inclusive. */
  readonly since?: Instant;
  /** Creation time, exclusive. */
  readonly before?: Instant;
};

/** A time range in a workspace. */
export type DeliverySpan = {
  readonly workspace: string;
  /** Start, inclusive. */
  readonly since: Instant;
  /** End, exclusive. */
  readonly before: Instant;
};

/** Number of deliveries created within one bucket of a time range that are in a state now. */
export type StateCount = {
  /** Start of the bucket, a multiple of the bucket length. */
  readonly at: Instant;
  readonly state: DeliveryState;
  readonly deliveries: number;
};

export type NotificationCount = {
  readonly notification: string;
  readonly state: DeliveryState;
  readonly deliveries: number;
};

/** A due delivery with its approximate memory size: the length of the stored text in bytes. */
export type DueDelivery = { readonly delivery: Delivery; readonly bytes: number };

export type DeliveryPage = { readonly items: readonly Delivery[]; readonly next: string | null };

/** Maximum number of ids per call of `many`. */
export const MAX_MANY = 1_000;

/** Options of `replace`. */
export type Replacing = {
  /**
   * True if the write may share a request with others. `stale` is then ambiguous: the write may have succeeded and
   * another worker may have moved the delivery on. Use it only if the caller reads again and recognizes its own write.
   */
  readonly together?: boolean;
  /**
   * Returns the records of all unpublished outcomes in the document. If ledger and log share one store, the records are
   * appended in the commit of the move, the document is stored without unpublished outcomes, and the result is `told`.
   * Other stores never call it.
   */
  readonly telling?: () => readonly NewRecord[];
};

/**
 * The source of truth about sends: one document per slot, decided by compare-and-set on that document. A write is
 * durable when it resolves. If a write rejects, it may have happened: read the document and compare the token.
 */
export type DeliveryLedger = {
  /**
   * Takes custody: inserts each delivery whose slot is free, else returns the document that holds the slot. Never
   * overwrites. If one call has two deliveries for a slot, the first wins.
   */
  insert(
    deliveries: readonly Delivery[],
  ): Promise<readonly ({ readonly inserted: true } | { readonly inserted: false; readonly holder: Delivery })[]>;
  /** Compare-and-set: replaces the document of `next.id` if its stored version is `next.version - 1`. */
  replace(next: Delivery, how?: Replacing): Promise<'done' | 'told' | 'stale'>;
  get(id: DeliveryId): Promise<Delivery | null>;
  /** Returns the existing documents of at most {@link MAX_MANY} ids, each once, in any order. */
  many(ids: readonly DeliveryId[]): Promise<readonly Delivery[]>;
  /** Workspaces with a WAITING delivery that is due at `now`. */
  dueWorkspaces(now: Instant): Promise<readonly string[]>;
  /** Due WAITING deliveries, earliest first. */
  due(workspace: string, now: Instant, limit: number): Promise<readonly DueDelivery[]>;
  /**
   * Due time of the earliest WAITING delivery that is due at or before `until`. Null if there is none. Reads no later
   * deliveries, so its cost does not depend on their number.
   */
  nextDueAt(until: Instant): Promise<Instant | null>;
  /**
   * WAITING deliveries, due or not, of a workspace or one notification. Reads only these. `cursor` is the `next` of the
   * previous page. Paging neither repeats nor skips a delivery that does not change meanwhile.
   */
  waiting(
    of: { readonly workspace: string; readonly notificationId?: string },
    limit: number,
    cursor?: string,
  ): Promise<DeliveryPage>;
  /** SENDING deliveries whose lease ended before `now`. */
  leaseExpired(now: Instant, limit: number): Promise<readonly Delivery[]>;
  /**
   * COLLECTED deliveries whose document names no digest list yet and whose next check is due at `now`, earliest first.
   */
  unlisted(now: Instant, limit: number): Promise<readonly Delivery[]>;
  /** Documents with outcomes that are not on the log yet, last updated before `olderThan`. */
  unpublished(olderThan: Instant, limit: number): Promise<readonly Delivery[]>;
  /** Newest first; `cursor` is the `next` of the page before. */
  list(filter: DeliveryFilter, limit: number, cursor?: string): Promise<DeliveryPage>;
  byEvent(eventId: EventId): Promise<readonly Delivery[]>;
  /**
   * Number of addresses with a message in one of these states, per workspace or notification. Excludes test messages.
   * May read every matching delivery.
   */
  countAddresses(
    of: { readonly workspace: string; readonly notificationId?: string },
    states: readonly DeliveryState[],
  ): Promise<number>;
  /**
   * Current states of the deliveries of a time range, per bucket of length `part`, for all or one notification. Empty
   * buckets and states are omitted. The counts come from the documents instead of added-up moves, so duplicate writes
   * and take-overs cannot distort them. An implementation may reuse a count while no document behind it has changed.
   */
  countOverTime(of: DeliverySpan & { readonly notification?: string }, part: Duration): Promise<readonly StateCount[]>;
  /** Current states of the deliveries of a time range, per notification. */
  countByNotification(of: DeliverySpan): Promise<readonly NotificationCount[]>;
  /**
   * Exact number of people with a delivery of the time range in one of these states. May read every matching delivery.
   */
  countPeople(of: DeliverySpan, states: readonly DeliveryState[]): Promise<number>;
  countByState(): Promise<Readonly<Partial<Record<DeliveryState, number>>>>;
};
