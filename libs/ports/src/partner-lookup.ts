import type { LookupIntegration } from '@carillon/domain/configuration';
import type { Duration, Instant, Json } from '@carillon/kernel';

export type PartnerCall = {
  readonly integration: LookupIntegration;
  /** The key to prove ourselves with. */
  readonly key: string;
  /** Values behind the secrets that headers of the integration name. */
  readonly secrets: Readonly<Record<string, string>>;
  readonly userIds: readonly string[];
  /** Sent as `X-Request-Id`, so that both sides can find the call. */
  readonly requestId: string;
  /**
   * Latest start of the request; afterwards another worker may have sent it. Checked immediately before the request,
   * because a process may stall at any earlier point. If it is too late, the result is `not_made`. Absent if no other
   * worker can call.
   */
  readonly beginUntil?: Instant;
  /** Ends on shutdown: the call answers `not_made`. */
  readonly signal?: AbortSignal;
  /** Asked before each piece of the answer is kept, and for the whole before it is read; false ends the call as `no_room`. */
  readonly room?: (bytes: number) => boolean;
};

/**
 * Outcome of a call, as docs/lookup-answers.md lists them. `detail` is for the tenant and holds no text of a body.
 */
export type PartnerAnswer =
  | {
      readonly kind: 'answered';
      readonly status: number;
      readonly items: readonly Json[];
      /** Reasons of unreadable items by index; the item itself is null. Absent if all items are readable. */
      readonly unread?: ReadonlyMap<number, string>;
    }
  /** Success, and a body that is no array of JSON, or too large, too deep, or of too many values. */
  | { readonly kind: 'invalid'; readonly status: number | null; readonly detail: string }
  /** A redirect, a status of 4xx other than those below, or an address that may not be connected to. */
  | { readonly kind: 'refused'; readonly status: number | null; readonly detail: string }
  /** 401 or 403: no call of this integration will do better until somebody looks. */
  | { readonly kind: 'unauthorized'; readonly status: number | null; readonly detail: string }
  /** 429 or 503. */
  | {
      readonly kind: 'throttled';
      readonly status: number;
      readonly retryAfter: Duration | null;
      readonly detail: string;
    }
  /** 5xx, time-outs, connections that did not come about or broke. */
  | { readonly kind: 'unavailable'; readonly status: number | null; readonly detail: string }
  /** The partner's share of our memory is taken by answers of its that are still being read. */
  | { readonly kind: 'no_room'; readonly status: null; readonly detail: string }
  /** Not the partner's doing: stopped, or not even begun. */
  | { readonly kind: 'not_made'; readonly detail: string };

/** The partner's recipient-lookup endpoint (specification 4.2). One call is one request; it never throws for what a partner did. */
export type PartnerLookup = {
  ask(call: PartnerCall): Promise<PartnerAnswer>;
};
