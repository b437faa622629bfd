import type { AttemptId, DeliveryId, EventId, Instant, IntentId } from '@carillon/kernel';
import type { AppliedReceipt } from '../receipts/receipt.ts';
import type { ProviderResult } from './provider-result.ts';
import type { Collected } from '../digests/contents.ts';
import type { Intent, Slot } from './intent.ts';

/** Every state there is, about in the order in which a delivery meets them. Filters, gauges and counts go through this list. */
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

/** Ended, or in a list that a person sees; nothing goes on by itself from here. */
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

/** Why a delivery is where it is. A closed list: docs and the inbox explain each. */
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

/** One call to a provider. It is written with the step into SENDING, so a call that nobody finished is seen too. */
export type Attempt = {
  readonly id: AttemptId;
  /** Fences the holder: only it may settle this attempt. */
  readonly token: string;
  readonly account: string;
  /** The address that it went to: a slot that was taken over has had several. */
  readonly to: string | null;
  readonly startedAt: Instant;
  readonly endedAt: Instant | null;
  readonly result: ProviderResult | null;
  /** How many of the times at which its provider is asked about a doubt are over; left out: none. */
  readonly asked?: number;
};

/** What happened at one move; appended to `carillon.outcomes` after it stands in the document. */
export type Outcome = {
  /** Derived from delivery id and version; that of a duplicate from its intent id. */
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

/** A line of the delivery's story, kept in the document for the timeline. */
export type HistoryEntry = {
  readonly at: Instant;
  readonly state: DeliveryState;
  readonly reason: DeliveryReason;
  readonly detail: string;
  readonly intentId: IntentId;
  readonly version: number;
};

/** The ledger's document of a slot: the intent that holds it, its attempts, and what it judged before. */
export type Delivery = {
  readonly id: DeliveryId;
  readonly slot: Slot;
  /** Grows by one with every write; compare-and-set goes by it. */
  readonly version: number;
  readonly state: DeliveryState;
  readonly reason: DeliveryReason;
  readonly detail: string;
  readonly intent: Intent;
  /** Where the holding intent stands on the log, as text `topic/partition@offset`. */
  readonly intentPosition: string;
  /** True while no attempt of any holder was ever in doubt; a take-over needs it. */
  readonly clean: boolean;
  readonly token: string | null;
  readonly leaseUntil: Instant | null;
  /** When WAITING is due; when somebody sees whether COLLECTED was listed, null once it was. */
  readonly nextAt: Instant | null;
  /** The window that it is or was collected for; kept until another intent takes the slot over. */
  readonly collected?: Collected;
  /** The delivery of its digest, of DIGESTED. */
  readonly digestedIn?: DeliveryId;
  readonly notAfter: Instant;
  readonly attempts: readonly Attempt[];
  /** Calls counted against `retry.attempts`; an operator's resend starts it again. */
  readonly attemptsUsed: number;
  /** Accounts tried since the last pause; fail-over takes the next one that is not among them. */
  readonly tried: readonly string[];
  /** The last 32 intents that this document judged, the holder among them. */
  readonly judged: readonly IntentId[];
  readonly duplicates: number;
  /** What providers reported, the newest 32. Those about a call that is under way take effect when it has ended. */
  readonly receipts: readonly AppliedReceipt[];
  readonly history: readonly HistoryEntry[];
  readonly unpublished: readonly Outcome[];
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
};
