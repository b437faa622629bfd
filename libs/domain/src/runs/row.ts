import type { DeliveryId, EventId, Instant, RunId } from '@carillon/kernel';
import type { ChannelName } from '../channels/channel.ts';
import type { DeliveryReason } from '../deliveries/delivery.ts';
import type { ShownTotals } from '../rules/forms/index.ts';

/** The two configurations of a comparison. */
export const SIDES = ['before', 'after'] as const;
export type Side = (typeof SIDES)[number];

/**
 * A message that one side of a comparison wants. The scratch file has a line for each, with hashes, ids and positions,
 * and no personal data. A message without a valid address has no line, but is counted.
 */
export type Line = {
  /** Keyed hash of the slot: the id that its delivery has. */
  readonly slot: DeliveryId;
  readonly side: Side;
  /** The rule's stable id. */
  readonly ruleId: string;
  readonly channel: ChannelName;
  readonly eventId: EventId;
  /** Position of the event, as text `topic/partition@offset`. */
  readonly position: string;
  /** Append time of the event, or the deadline by which the rule fired. */
  readonly at: Instant;
  /** True if earlier events, which were not read, may change the message. */
  readonly isCold: boolean;
  /** Values of the rule's totals when it fired. Undefined: it has none. */
  readonly totals?: ShownTotals;
  /** Keyed hash of address, variables, and the content of template, layout and partials. */
  readonly content: string;
  /** Keyed hash of the person. */
  readonly person: string;
  /** Slot under which the other side notifies this person about this event by this rule and channel, if `unique_id` differs; else null. */
  readonly otherSlot: DeliveryId | null;
};

/**
 * Effect of the edit on a slot. - `added`: only *after* wants the message. - `removed`: only *before* wants it. -
 * `changed`: both want it, with another address, other variables or other template content. - `new_unique_id`: both
 * notify the person about the event, under different values of `unique_id`. - `unchanged`: both want it with equal
 * content. Only counted.
 */
export const DIFFERENCES = ['added', 'removed', 'changed', 'new_unique_id', 'unchanged'] as const;
export type Difference = (typeof DIFFERENCES)[number];
/** Differences that have rows. */
export const ROW_DIFFERENCES = ['added', 'removed', 'changed', 'new_unique_id'] as const;
export type RowDifference = (typeof ROW_DIFFERENCES)[number];

/**
 * State of a slot in the ledger; for `new_unique_id`, of the slot *before*.
 * - `notified`: a provider has or may have the message.
 * - `waiting`: it will be sent automatically.
 * - `stopped`: it was not sent; the row has the reason.
 * - `none`: there is no delivery.
 */
export const SLOT_STATES = ['notified', 'waiting', 'stopped', 'none'] as const;
export type SlotState = (typeof SLOT_STATES)[number];

/** One slot on which the sides differ, before the ledger is read. */
export type DifferentSlot = {
  readonly slot: DeliveryId;
  readonly difference: RowDifference;
  /** Slot of the message of *before* if the difference is `new_unique_id`; else null. */
  readonly oldSlot: DeliveryId | null;
  readonly ruleId: string;
  /** `notification.rule` */
  readonly rule: string;
  readonly channel: ChannelName;
  /** The first event that wants the slot, by `at` and event id. */
  readonly eventId: EventId;
  readonly position: string;
  /** Append time of the event, or the deadline by which the rule fired. */
  readonly at: Instant;
  /** The same on the side before. Undefined: it does not differ, or that side wants no message in this slot. */
  readonly atBefore?: Instant;
  /** Values of the rule's totals when it fired. Undefined: it has none. */
  readonly totals?: ShownTotals;
  /** The same on the side before. Undefined: they do not differ, or that side wants no message in this slot. */
  readonly totalsBefore?: ShownTotals;
  /** True if earlier events, which were not read, may change the message of a side. Undefined: none do. */
  readonly isCold?: boolean;
  /** Day of `at` in UTC: `2026-11-29`. */
  readonly day: string;
  /** Keyed hash of the person. */
  readonly person: string;
};

/** A different slot with what the ledger knows about it. It holds no personal data. */
export type Row = DifferentSlot & {
  readonly run: RunId;
  readonly slotState: SlotState;
  /** Why the delivery is `stopped`; null in every other slot state. */
  readonly slotReason: DeliveryReason | null;
};

/** The person of a row, as a keyed hash. */
export type RowPerson = Pick<Row, 'difference' | 'person'> & { readonly isNotified: boolean };

/** The slot whose delivery decides about the slot state of a row. */
export const slotToLookUp = ({ slot, oldSlot }: DifferentSlot): DeliveryId => oldSlot ?? slot;

/** Returns true if the side wants a message in the slot of a row. */
export const isWantedBy = (side: Side, { difference }: Pick<DifferentSlot, 'difference'>): boolean =>
  difference !== (side === 'before' ? 'added' : 'removed');

/** Returns the day of an instant in UTC, such as `2026-11-29`. */
export const dayOf = (at: Instant): string => new Date(at).toISOString().slice(0, 10);
