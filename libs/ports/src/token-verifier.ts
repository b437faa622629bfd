import type { JwtSettings } from '@carillon/domain/configuration';
import type { Duration, Instant, JsonObject } from '@carillon/kernel';

/** A JWT provider as some configuration has it. */
export type TokenProvider = {
  readonly workspace: string;
  readonly name: string;
  /** Number of the configuration with these settings. Results cached under another number do not count. */
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
  /** The keys could not be fetched, so the token cannot be checked. It must be neither accepted nor called invalid. */
  | { readonly kind: 'unavailable'; readonly retryAfter: Duration };

/** One step of an inspection, with its finding. */
export type TokenCheck = { readonly step: string; readonly ok: boolean; readonly detail: string };

export type TokenInspection = {
  readonly steps: readonly TokenCheck[];
  /** Claims of a good token; null where there is none or it is not good. */
  readonly claims: JsonObject | null;
};

/**
 * Checks whether a provider issued a token, and whether the token is still valid. The provider's key set is fetched on
 * first use and cached. While it is fresh, no check waits for the network. If fetching fails, the old keys are used for
 * a bounded time. However many tokens name unknown keys, and however often fetching fails, a provider is called at most
 * once per cool-down. Never rejects. No result contains a token.
 */
export type TokenVerifier = {
  verify(provider: TokenProvider, token: string): Promise<TokenVerdict>;
  /**
   * Fetches the key set now, without the cache, and verifies the token if one is given. Explains each step up to the
   * first failure. Does not change the state of `verify`.
   */
  inspect(provider: TokenProvider, token: string | null): Promise<TokenInspection>;
};
