import type { JsonObject } from '@carillon/kernel';

export type Addresses = { readonly email: string | null; readonly phone: string | null; readonly token: string | null };

/** Somebody whom a fired rule tells. */
export type Recipient = {
  readonly to: Addresses;
  readonly uniqueId: string;
  /** Who is told, for limits, opt-outs and why-not: `recipients.person`, else the address. */
  readonly person: string;
  readonly variables: JsonObject;
};

export type DropReason =
  | 'rule_error'
  | 'where_false'
  | 'no_unique_id'
  | 'too_many_recipients'
  | 'no_user_ids'
  | 'invalid_user_id'
  | 'too_many_user_ids';

export type Dropped = { readonly index: number; readonly reason: DropReason; readonly detail: string };
