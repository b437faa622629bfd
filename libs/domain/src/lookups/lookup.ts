import type { Instant, JsonObject } from '@carillon/kernel';
import type { Addresses } from '../channels/channel.ts';
import type { Trigger } from './trigger.ts';

/** A usable item of a partner's answer. */
export type LookupItem = {
  /** User id of the item. Null if it is unknown. */
  readonly userId: string | null;
  readonly to: Addresses;
  readonly variables: JsonObject;
};

/** Kinds of problems in an answer. A problem does not affect other items. */
export type LookupProblemKind =
  /** No item for an id that was asked: no recipient. */
  | 'missing'
  /** An item for an id that nobody asked: ignored. */
  | 'extra'
  /** A further item for an id: the first counts. */
  | 'duplicate'
  /** An item that is not of the agreed shape: no recipient. */
  | 'invalid'
  /** One address of an item is invalid. The item's other addresses are used. */
  | 'invalid_address'
  /** The integration says `in_order`, and there are not as many items as ids: nobody can say who is who. */
  | 'not_in_order'
  /** Above the maximum of one trigger. */
  | 'too_many';

export type LookupProblem = {
  readonly kind: LookupProblemKind;
  /** Which item of the answer, from 0; null where it is about none. */
  readonly index: number | null;
  readonly userId: string | null;
  /** Description without any address. */
  readonly detail: string;
};

/** The recorded answer of a partner for one trigger. The first on the log counts, and replay reads it instead of asking. */
export type Lookup = {
  readonly trigger: Trigger;
  /** Request id of the call, as the partner saw it. */
  readonly callId: string;
  readonly askedAt: Instant;
  readonly answeredAt: Instant;
  readonly status: number;
  /** Calls made for the trigger, this one included. */
  readonly calls: number;
  /** Triggers that shared the call. */
  readonly sharedBy: number;
  readonly items: readonly LookupItem[];
  /** The first ones; `problemCounts` has all. */
  readonly problems: readonly LookupProblem[];
  readonly problemCounts: Readonly<Partial<Record<LookupProblemKind, number>>>;
};
