import type { Instant, JsonObject } from '@carillon/kernel';
import type { UnknownReason } from '../changes/visible-change.ts';
import type { Addresses } from '../channels/channel.ts';

/** Somebody whom a fired rule tells. */
export type Recipient = {
  readonly to: Addresses;
  readonly uniqueId: string;
  /** Who is told, for limits, opt-outs and why-not: `recipients.person`, else the first address. */
  readonly person: string;
  readonly variables: JsonObject;
  /** The time that `cadence.delay.until` comes to; null where the notification has none. */
  readonly until: Instant | null;
  /** What `cadence.digest.key` comes to; null where the notification has none. */
  readonly digestKey: string | null;
};

/**
 * Characters of what is made for one recipient, names of variables included. With the event beside it, an intent of it is
 * smaller than what a topic takes, however its characters are written.
 */
export const MAX_RECIPIENT_CHARACTERS = 400_000;

export type DropReason =
  | 'rule_error'
  | 'where_false'
  | 'no_unique_id'
  | 'too_many_recipients'
  | 'too_large'
  | 'no_user_ids'
  | 'invalid_user_id'
  | 'too_many_user_ids'
  | 'too_complex'
  | UnknownReason;

export type Dropped = {
  readonly index: number;
  readonly reason: DropReason;
  readonly detail: string;
  /** How many are dropped, those at `index` and after it. */
  readonly count: number;
};

/** `recipient 3`, or `recipients 68 to 500`; people count from 1. */
export const whoIsDropped = (what: string, { index, count }: Dropped): string =>
  count === 1 ? `${what} ${index + 1}` : `${what}s ${index + 1} to ${index + count}`;

export const countDropped = (dropped: readonly Dropped[]): number => dropped.reduce((sum, { count }) => sum + count, 0);
