import type { DeliveryId, Instant, IntentId } from '@carillon/kernel';

/** Which window a delivery is collected for. `token` is fresh at every step into COLLECTED. */
export type Collected = { readonly head: string; readonly n: number; readonly token: string };

/** Content of a digest, stored in the intent of the digest's delivery. */
export type DigestContents = {
  readonly head: string;
  readonly n: number;
  /** Oldest first, as `items` of its variables. */
  readonly items: readonly DigestedItem[];
  /** Resent by an operator: items whose slot another intent holds by now are left out before it is sent. */
  readonly recheck?: true;
};

export type DigestedItem = {
  readonly deliveryId: DeliveryId;
  readonly intentId: IntentId;
  readonly ruleId: string;
  readonly causedAt: Instant;
};
