import type { ChannelName } from '@carillon/domain/channels';
import type { Delivery, DeliveryReason, DeliveryState } from '@carillon/domain/deliveries';
import type { DeliveryId, Duration, EventId, Instant } from '@carillon/kernel';
import type { NewRecord } from './event-log.ts';

export type DeliveryFilter = {
  readonly workspace?: string;
  /** In one of these. An empty list finds nothing, as with every list here. */
  readonly states?: readonly DeliveryState[];
  readonly reasons?: readonly DeliveryReason[];
  readonly channels?: readonly ChannelName[];
  /** The address begins with one of these, letter by letter. */
  readonly to?: readonly string[];
  /** What `to` says are whole addresses, and not how they begin. */
  readonly toIsWhole?: boolean;
  /** As the rule named them, letter by letter. */
  readonly person?: string;
  readonly uniqueId?: string;
  readonly eventId?: string;
  readonly notification?: string;
  /** `notification.rule` */
  readonly rule?: string;
  /** Only test messages, or none of them. */
  readonly test?: boolean;
  /** Created at or after. */
  readonly since?: Instant;
  /** Created before. */
  readonly before?: Instant;
};

/** A span of time in a workspace. */
export type DeliverySpan = {
  readonly workspace: string;
  /** Created at or after. */
  readonly since: Instant;
  /** Created before. */
  readonly before: Instant;
};

/** How many deliveries that were created in a part of a span are in a state now. */
export type StateCount = {
  /** Where the part begins: a multiple of its length. */
  readonly at: Instant;
  readonly state: DeliveryState;
  readonly deliveries: number;
};

export type NotificationCount = {
  readonly notification: string;
  readonly state: DeliveryState;
  readonly deliveries: number;
};

/** A delivery that waits to be sent, with what it takes of the memory, about: the bytes of the text that it was read from. */
export type DueDelivery = { readonly delivery: Delivery; readonly bytes: number };

export type DeliveryPage = { readonly items: readonly Delivery[]; readonly next: string | null };

/** Ids of one `many`. */
export const MAX_MANY = 1_000;

/** How a document is replaced. */
export type Replacing = {
  /**
   * It may be written in one request with others of the same turn; `stale` may then also be said of one that was written and was moved on
   * by somebody right after, so it is for writes whose caller reads again and finds its own work done.
   */
  readonly together?: boolean;
  /**
   * The records of all outcomes that the document holds unpublished. Where ledger and log are one store, they are appended in the commit
   * of the move, the document is written with nothing unpublished, and the answer is `told`. Elsewhere nobody asks for them.
   */
  readonly telling?: () => readonly NewRecord[];
};

/**
 * The truth of what was sent: one document per slot, decided by compare-and-set on that document alone.
 * Every write is durable when it resolves. When a write rejects, it may have happened: read by id and compare the token.
 */
export type DeliveryLedger = {
  /**
   * Custody. Inserts each whose slot is free; answers the document that holds the slot otherwise. Never overwrites.
   * Two inserts of one slot in one call: the first wins.
   */
  insert(
    deliveries: readonly Delivery[],
  ): Promise<readonly ({ readonly inserted: true } | { readonly inserted: false; readonly holder: Delivery })[]>;
  /** Compare-and-set: replaces the document of `next.id` if its version is `next.version - 1`. */
  replace(next: Delivery, how?: Replacing): Promise<'done' | 'told' | 'stale'>;
  get(id: DeliveryId): Promise<Delivery | null>;
  /** Returns the documents that exist of at most {@link MAX_MANY} ids, each once, in no order. */
  many(ids: readonly DeliveryId[]): Promise<readonly Delivery[]>;
  /** Workspaces that have a WAITING delivery due at `now`. */
  dueWorkspaces(now: Instant): Promise<readonly string[]>;
  /** WAITING and due, earliest first. */
  due(workspace: string, now: Instant, limit: number): Promise<readonly DueDelivery[]>;
  /**
   * Time of the earliest WAITING delivery that is due at `until` or earlier, if any. Reads nothing that is due later: who asks for the next
   * second pays nothing for a million that wait for tomorrow.
   */
  nextDueAt(until: Instant): Promise<Instant | null>;
  /**
   * WAITING, due or not, of a workspace or of one of its notifications: reads nothing else. `cursor` is the `next` of the page
   * before. Neither repeats nor leaves out one that does not move meanwhile.
   */
  waiting(
    of: { readonly workspace: string; readonly notificationId?: string },
    limit: number,
    cursor?: string,
  ): Promise<DeliveryPage>;
  /** SENDING whose lease ended before `now`. */
  leaseExpired(now: Instant, limit: number): Promise<readonly Delivery[]>;
  /** COLLECTED and, as far as it says, on no list yet: due at `now` to be looked at again, earliest first. */
  unlisted(now: Instant, limit: number): Promise<readonly Delivery[]>;
  /** Documents with outcomes that are not yet on the log, last updated before `olderThan`. */
  unpublished(olderThan: Instant, limit: number): Promise<readonly Delivery[]>;
  /** Newest first; `cursor` is the `next` of the page before. */
  list(filter: DeliveryFilter, limit: number, cursor?: string): Promise<DeliveryPage>;
  byEvent(eventId: EventId): Promise<readonly Delivery[]>;
  /**
   * How many addresses were told in a workspace, or by one of its notifications: by messages in one of these states, tests not among
   * them. May read every delivery of it.
   */
  countAddresses(
    of: { readonly workspace: string; readonly notificationId?: string },
    states: readonly DeliveryState[],
  ): Promise<number>;
  /**
   * Deliveries of a span by the state that they are in now, in parts of a length: of all, or of one notification. Parts and states of none
   * are left out. Counted from the documents, never by adding up what happened, so that it is right whatever was written twice or taken over. What
   * was counted before may be used again as long as no document of it was written since.
   */
  countOverTime(of: DeliverySpan & { readonly notification?: string }, part: Duration): Promise<readonly StateCount[]>;
  /** The same of each notification, over the whole span. */
  countByNotification(of: DeliverySpan): Promise<readonly NotificationCount[]>;
  /** How many people have deliveries of a span that are in one of these states, exactly. May read every delivery of it. */
  countPeople(of: DeliverySpan, states: readonly DeliveryState[]): Promise<number>;
  countByState(): Promise<Readonly<Partial<Record<DeliveryState, number>>>>;
};
