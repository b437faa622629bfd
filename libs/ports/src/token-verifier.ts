import type { JwtSettings } from '@carillon/domain/configuration';
import type { Duration, Instant, JsonObject } from '@carillon/kernel';

/** A JWT provider as some configuration has it. */
export type TokenProvider = {
  readonly workspace: string;
  readonly name: string;
  /** The configuration that gave it its settings: what was remembered of a token under another one counts no more. */
  readonly number: number;
  readonly settings: JwtSettings;
};

/** Why a token is not taken, out of a closed set. */
export type TokenFault =
  | 'malformed'
  | 'too_long'
  | 'algorithm'
  | 'critical_header'
  | 'type'
  | 'unknown_key'
  | 'ambiguous_key'
  | 'unusable_key'
  | 'signature'
  | 'claim_missing'
  | 'claim_malformed'
  | 'issuer'
  | 'audience'
  | 'not_yet_valid'
  | 'expired'
  | 'too_old';

export type TokenVerdict =
  | {
      readonly kind: 'valid';
      /** Whole numbers are exact, objects have no prototype, no name comes twice. */
      readonly claims: JsonObject;
      readonly expiresAt: Instant;
    }
  | {
      readonly kind: 'refused';
      readonly fault: TokenFault;
      /** Explanation without any content of the token. */
      readonly detail: string;
      /** True if the provider signed the token. Its holder may then learn what is wrong with it. */
      readonly signed: boolean;
    }
  /** The keys could not be fetched, so nobody can say. Never a reason to let in, and never one to say that the token is bad. */
  | { readonly kind: 'unavailable'; readonly retryAfter: Duration };

/** One step of an inspection, with what was seen. */
export type TokenCheck = { readonly step: string; readonly ok: boolean; readonly detail: string };

export type TokenInspection = {
  readonly steps: readonly TokenCheck[];
  /** Claims of a good token; null where there is none or it is not good. */
  readonly claims: JsonObject | null;
};

/**
 * Says whether a token was issued by a provider, and is still good. The provider's key set is
 * fetched when it is first needed and then kept: while it is fresh, nothing waits for the network. When it cannot be
 * fetched the old keys serve on, for a bounded time. However many tokens name keys that are not there, and however
 * often fetching fails, the provider is asked at most once in a cool-down. Never rejects; nothing that leaves here holds
 * a token.
 */
export type TokenVerifier = {
  verify(provider: TokenProvider, token: string): Promise<TokenVerdict>;
  /**
   * Fetches the key set now, without the cache, and verifies the token if one is given. Explains each step up to the
   * first failure. Does not change the state of `verify`.
   */
  inspect(provider: TokenProvider, token: string | null): Promise<TokenInspection>;
};
