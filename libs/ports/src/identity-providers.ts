import type { Duration, Json, Result } from '@carillon/kernel';

/** Carillon as a client of an OpenID provider. */
export type IdentityClient = {
  readonly issuer: string;
  readonly clientId: string;
  /** Null: a public client, which PKCE alone protects. */
  readonly clientSecret: string | null;
  /** Besides `openid`. */
  readonly scopes: readonly string[];
  /** Where people come back to. */
  readonly redirectUri: string;
};

/**
 * Values of a sign-in that are checked when the browser is redirected back. Only the browser that started the sign-in
 * gets them.
 */
export type BegunProof = { readonly state: string; readonly nonce: string; readonly verifier: string };

/** A person as identified by the provider. Issuer and subject together identify one person permanently. */
export type ProvenIdentity = {
  readonly issuer: string;
  readonly subject: string;
  /** Further claims of the ID token, and those of the user information that the ID token lacks. */
  readonly claims: Readonly<Record<string, Json>>;
};

/**
 * `unavailable`: the provider gave no answer that can be read; trying again may do. `declined`: it sent the person back without a
 * proof. `invalid`: what came does not hold, or was not asked for by this browser. `detail` quotes no secret, code or token.
 */
export type ProofFailure = { readonly reason: 'unavailable' | 'declined' | 'invalid'; readonly detail: string };

/**
 * Sign-in by OpenID Connect: code flow with PKCE, state and nonce. Never throws because of a provider's behaviour.
 * Reads at most 256 KiB per response, and no call takes longer than 15 s.
 */
export type IdentityProviders = {
  /** Where to send the browser. */
  begin(
    client: IdentityClient,
  ): Promise<Result<{ readonly location: string; readonly proof: BegunProof }, ProofFailure>>;
  /** `query`: what the browser brought back. `wanted`: claims for which the provider is asked where the ID token has none. */
  finish(
    client: IdentityClient,
    proof: BegunProof,
    query: string,
    wanted: readonly string[],
  ): Promise<Result<ProvenIdentity, ProofFailure>>;
};

/** No call of `IdentityProviders` takes longer. */
export const PROOF_DEADLINE: Duration = 15_000;
