import type { Instant, JsonObject } from '@carillon/kernel';
import type { UnknownReason } from '../changes/visible-change.ts';
import type { Addresses } from '../channels/channel.ts';

/** A recipient of a fired rule. */
export type Recipient = {
  readonly to: Addresses;
  readonly uniqueId: string;
  /** Identifies the person for limits, opt-outs and why-not: `recipients.person`, else the first address. */
  readonly person: string;
  readonly variables: JsonObject;
  /** Value of `cadence.delay.until`. Null if the notification has none. */
  readonly until: Instant | null;
  /** Value of `cadence.digest.key`. Null if the notification has none. */
  readonly digestKey: string | null;
};

/**
 * Maximum characters of the data of one recipient, including names of variables. An intent with this data and its event
 * always fits into a record of the log.
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
  /** Number of dropped people, counted from the person at `index` onwards. */
  readonly count: number;
};

/** Returns `recipient 3`, or `recipients 68 to 500`. Recipients are counted from 1. */
export const whoIsDropped = (what: string, { index, count }: Dropped): string =>
  count === 1 ? `${what} ${index + 1}` : `${what}s ${index + 1} to ${index + count}`;

export const countDropped = (dropped: readonly Dropped[]): number => dropped.reduce((sum, { count }) => sum + count, 0);
