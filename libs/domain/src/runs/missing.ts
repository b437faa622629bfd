import type { DeliveryId, Duration, EventId, Instant, RunId } from '@carillon/kernel';
import { givesSlotAway } from '../deliveries/custody.ts';
import type { Delivery } from '../deliveries/delivery.ts';
import type { Row } from './row.ts';
import { slotStateOf } from './slot-state.ts';

/**
 * Differences whose messages can be sent after publishing. `removed` is none of them, because *after* wants no message.
 * `needs_lookup` has no rows: it selects events whose recipients only a partner knows.
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
  /** Rules, as `notification.rule`. Null selects all rules. */
  readonly rules: readonly string[] | null;
  /** Events that were appended earlier are too old. */
  readonly since: Instant;
};

/** A message that *after* wants and nobody has received. */
export type MissingMessage = {
  /** Id of its delivery under the published configuration. It differs from the row's slot if publishing gave the notification another id. */
  readonly slot: DeliveryId;
  /** With the slot state that the ledger has now. */
  readonly row: Row;
};

/** A rule that *after* fires for an event, and whose recipients only a partner knows. It has no row. */
export type RunLookup = {
  readonly run: RunId;
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

/** A lookup in a scratch file, with the rule's stable id instead of its title. */
export type ScratchLookup = Omit<RunLookup, 'run' | 'rule'> & { readonly ruleId: string };

/** A lookup that can be sent: the engine then asks the partner. */
export type MissingLookup = Omit<RunLookup, 'run'>;

type Holder = Pick<Delivery, 'state' | 'clean' | 'reason' | 'digestedIn'>;
/** Slot state and reason of a message that may be sent. */
type OpenState = { readonly slotState: MissingSlotState; readonly slotReason: Row['slotReason'] };

const FREE: OpenState = { slotState: 'none', slotReason: null };

/** Returns the state of a slot that is free or that its holder gives to a new intent. Null: its message may not be sent. */
function openStateOf(holder: Holder | undefined, digest: Holder | undefined): OpenState | null {
  if (!holder) return FREE;
  if (!givesSlotAway(holder, digest ?? null)) return null;
  return { slotState: 'stopped', slotReason: slotStateOf(holder, digest).slotReason };
}

/**
 * Returns the slot state of a message that may be sent, or null if it may not. `slots` are the message's own slot and, if its `unique_id`
 * changed, its old slot: a notified old slot forbids the message.
 */
export function missingStateOf(
  slots: readonly DeliveryId[],
  ledger: ReadonlyMap<DeliveryId, Holder>,
): OpenState | null {
  const states: OpenState[] = [];
  for (const slot of slots) {
    const holder = ledger.get(slot);
    const digest = holder?.digestedIn === undefined ? undefined : ledger.get(holder.digestedIn);
    const state = openStateOf(holder, digest);
    if (state === null) return null;
    states.push(state);
  }
  return states.find(({ slotState }) => slotState === 'stopped') ?? FREE;
}
