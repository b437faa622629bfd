import type { AttemptId, DeliveryId, EventId, Instant, IntentId } from '@carillon/kernel';
import type { AppliedReceipt } from '../receipts/receipt.ts';
import type { ProviderResult } from './provider-result.ts';
import type { Collected } from '../digests/contents.ts';
import type { Intent, Slot } from './intent.ts';

/** All states, roughly in the order of a delivery's life. Filters, gauges and counts iterate over this list. */
export const DELIVERY_STATES = [
  'WAITING',
  'SENDING',
  'COLLECTED',
  'DIGESTED',
  'SUPPRESSED',
  'FAILED',
  'EXPIRED',
  'CANCELLED',
  'SENT',
  'IN_DOUBT',
  'DELIVERED',
  'BOUNCED',
  'COMPLAINED',
] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** States without automatic next step: ended, or listed for a person. */
export const TERMINAL_STATES: ReadonlySet<DeliveryState> = new Set([
  'DIGESTED',
  'SUPPRESSED',
  'FAILED',
  'EXPIRED',
  'CANCELLED',
  'SENT',
  'DELIVERED',
  'BOUNCED',
  'COMPLAINED',
]);

/** Reason of a delivery's state. A closed list; docs and inbox explain each. */
export type DeliveryReason =
  | 'new'
  | 'rule_withdrawn'
  | 'no_address'
  | 'invalid_address'
  | 'opted_out'
  | 'suppressed_address'
  | 'cannot_send_on_channel'
  | 'not_after_passed'
  | 'delayed'
  | 'held_by_quiet_hours'
  | 'quiet_hours'
  | 'held_by_limit'
  | 'capped'
  | 'collected'
  | 'digested'
  | 'cannot_render'
  | 'no_account'
  | 'refused_recipient'
  | 'refused_content'
  | 'refused_account'
  | 'throttled'
  | 'transient'
  | 'attempts_used_up'
  | 'accepted'
  | 'answer_unknown'
  | 'lease_ran_out'
  | 'stopped_before_sending'
  | 'account_unavailable'
  | 'operator_resend'
  | 'operator_cancel'
  | 'operator_dismiss'
  | 'in_doubt_resend'
  | 'in_doubt_drop'
  | 'taken_over'
  | 'duplicate'
  | 'delivered'
  | 'bounced'
  | 'complained'
  | 'evidence';

/** A call to a provider. It is stored with the step into SENDING, so an unfinished call is visible too. */
export type Attempt = {
  readonly id: AttemptId;
  /** Fencing token: only its holder may settle this attempt. */
  readonly token: string;
  readonly account: string;
  /** Address of this call. A slot that was taken over may have had several. */
  readonly to: string | null;
  readonly startedAt: Instant;
  readonly endedAt: Instant | null;
  readonly result: ProviderResult | null;
  /** Number of past queries to the provider about a doubt. Absent if none. */
  readonly asked?: number;
};

/** Record of one move, appended to `carillon.outcomes` after it is stored in the document. */
export type Outcome = {
  /** Derived from delivery id and version; for a duplicate, from its intent id. */
  readonly id: string;
  readonly deliveryId: DeliveryId;
  readonly intentId: IntentId;
  readonly eventId: EventId;
  readonly workspace: string;
  readonly notification: string;
  readonly state: DeliveryState;
  readonly reason: DeliveryReason;
  readonly detail: string;
  readonly attempt: number;
  readonly at: Instant;
  readonly traceparent: string | null;
};

/** An entry of the delivery's timeline, kept in the document. */
export type HistoryEntry = {
  readonly at: Instant;
  readonly state: DeliveryState;
  readonly reason: DeliveryReason;
  readonly detail: string;
  readonly intentId: IntentId;
  readonly version: number;
};

/** Ledger document of a slot: the intent that holds it, its attempts, and recently seen intents. */
export type Delivery = {
  readonly id: DeliveryId;
  readonly slot: Slot;
  /** Number of writes. Used for compare-and-set. */
  readonly version: number;
  readonly state: DeliveryState;
  readonly reason: DeliveryReason;
  readonly detail: string;
  readonly intent: Intent;
  /** Log position of the holding intent, as `topic/partition@offset`. */
  readonly intentPosition: string;
  /** True while no attempt of any holder was ever in doubt. Required for a take-over. */
  readonly clean: boolean;
  readonly token: string | null;
  readonly leaseUntil: Instant | null;
  /** When a WAITING delivery is due or a COLLECTED one is checked. Null once it is on a digest list. */
  readonly nextAt: Instant | null;
  /** Digest window of the delivery. Kept until another intent takes the slot over. */
  readonly collected?: Collected;
  /** Delivery of the digest, if DIGESTED. */
  readonly digestedIn?: DeliveryId;
  readonly notAfter: Instant;
  readonly attempts: readonly Attempt[];
  /** Calls counted toward `retry.attempts`. An operator's resend resets it. */
  readonly attemptsUsed: number;
  /** Accounts tried since the last pause. Fail-over skips these. */
  readonly tried: readonly string[];
  /** The last 32 intents that this document decided about, including the holder. */
  readonly judged: readonly IntentId[];
  readonly duplicates: number;
  /** The newest 32 provider reports. Reports about a running call take effect when it has ended. */
  readonly receipts: readonly AppliedReceipt[];
  readonly history: readonly HistoryEntry[];
  readonly unpublished: readonly Outcome[];
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
};
