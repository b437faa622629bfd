import type { DeliveryId, Duration, EventId, Instant } from '@carillon/kernel';
import { givesSlotAway } from '../deliveries/custody.ts';
import type { Delivery } from '../deliveries/delivery.ts';
import type { Row } from './row.ts';

/**
 * What can be sent after publishing. `removed` is not among them, because *after* wants no message. `needs_lookup` has no rows: it
 * stands for events whose recipients only a partner knows.
 */
export const MISSING_DIFFERENCES = ['added', 'changed', 'new_unique_id', 'needs_lookup'] as const;
export type MissingDifference = (typeof MISSING_DIFFERENCES)[number];

/** Slot states of messages that can be sent. `notified`, `waiting` and cancelled messages never can. */
export const MISSING_SLOT_STATES = ['none', 'stopped'] as const;
export type MissingSlotState = (typeof MISSING_SLOT_STATES)[number];

/** Maximum age of an event if the caller names none. */
export const DEFAULT_MISSING_AGE: Duration = 7 * 24 * 3_600_000;

/** Which missing messages are meant. */
export type MissingSelection = {
  readonly differences: readonly MissingDifference[];
  readonly slotStates: readonly MissingSlotState[];
  /** As `notification.rule`. Null selects all rules. */
  readonly rules: readonly string[] | null;
  /** Events that were appended earlier are too old. */
  readonly since: Instant;
};

/** A message that *after* wants and nobody has received. */
export type MissingMessage = {
  /** Id of its delivery under the published configuration. It differs from the row's slot if publishing gave the notification another id. */
  readonly slot: DeliveryId;
  readonly row: Row;
};

/** A rule that fires for an event and has to ask a partner for the recipients. */
export type MissingLookup = {
  readonly eventId: EventId;
  /** Position of the event, as text `topic/partition@offset`. */
  readonly position: string;
  /** Append time of the event. */
  readonly at: Instant;
  /** `notification.rule` */
  readonly rule: string;
  /** Number of user ids that the partner is asked about. */
  readonly userIds: number;
};

type Holder = Pick<Delivery, 'state' | 'clean'>;

/**
 * Returns `none` if a slot is free, `stopped` if its holder gives the slot to a new intent, and null if a message may not be sent.
 * `digest` is the delivery that `digestedIn` of the holder names.
 */
function openStateOf(holder: Holder | undefined, digest: Holder | undefined): MissingSlotState | null {
  if (!holder) return 'none';
  return givesSlotAway(holder, digest ?? null) ? 'stopped' : null;
}

/**
 * Returns the slot state of a message that may be sent, or null if it may not. `slots` are the message's own slot and, if its `unique_id`
 * changed, its old slot: one that was notified forbids the message.
 */
export function missingStateOf(
  slots: readonly DeliveryId[],
  ledger: ReadonlyMap<DeliveryId, Holder & Pick<Delivery, 'digestedIn'>>,
): MissingSlotState | null {
  const states = slots.map((slot) => {
    const holder = ledger.get(slot);
    const digest = holder?.digestedIn === undefined ? undefined : ledger.get(holder.digestedIn);
    return openStateOf(holder, digest);
  });
  if (states.includes(null)) return null;
  return states.includes('stopped') ? 'stopped' : 'none';
}
