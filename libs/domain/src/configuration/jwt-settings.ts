import { parseDuration, type Duration } from '@carillon/kernel';
import type { JwtProviderBody } from './resources.ts';

/**
 * Signatures that a public key verifies. No HS*: with those whoever knows the public key could sign (RFC 8725, 2.1);
 * and no `none`.
 */
export const JWT_ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
] as const;
export type JwtAlgorithm = (typeof JWT_ALGORITHMS)[number];

export const DEFAULT_JWT_ALGORITHMS: readonly JwtAlgorithm[] = ['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519'];
export const DEFAULT_CLOCK_TOLERANCE = 60_000;

/** What a token of a provider has to be, defaults filled in. */
export type JwtSettings = {
  readonly jwksUrl: string;
  /** Null: any. */
  readonly issuer: string | null;
  /** One of these has to be among the token's; empty: any, also none. */
  readonly audiences: readonly string[];
  readonly algorithms: readonly JwtAlgorithm[];
  /** The header `typ`; null: none, `JWT` or `at+jwt`, so that tokens made for something else are refused. */
  readonly tokenType: string | null;
  readonly clockTolerance: Duration;
  /** Counted from `iat`, which then has to be there; null: as long as `exp` says. */
  readonly maxTokenAge: Duration | null;
};

/** `apply` has checked what is written, so only valid values come here. */
export function jwtSettings(body: JwtProviderBody): JwtSettings {
  const { audience = [], algorithms } = body;
  const named = JWT_ALGORITHMS.filter((algorithm) => algorithms?.includes(algorithm));
  return {
    jwksUrl: body.jwks_url,
    issuer: body.issuer ?? null,
    audiences: typeof audience === 'string' ? [audience] : audience,
    algorithms: algorithms === undefined ? DEFAULT_JWT_ALGORITHMS : named,
    tokenType: body.token_type ?? null,
    clockTolerance: spanOf(body.clock_tolerance) ?? DEFAULT_CLOCK_TOLERANCE,
    maxTokenAge: spanOf(body.max_token_age),
  };
}

function spanOf(text: string | undefined): Duration | null {
  const span = text === undefined ? undefined : parseDuration(text);
  return span?.ok ? span.value : null;
}
