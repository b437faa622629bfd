import { parseDuration, type Duration } from '@carillon/kernel';
import type { JwtAlgorithm } from '@carillon/shapes';
import { DEFAULTS, JWT_ALGORITHMS } from '@carillon/shapes/values';
import type { JwtProviderBody } from './resources.ts';
import { writtenDuration } from './written-duration.ts';

export { JWT_ALGORITHMS };

/** Settings that a provider's token must meet, with defaults filled in. */
export type JwtSettings = {
  readonly jwksUrl: string;
  /** Null: any. */
  readonly issuer: string | null;
  /** Accepted audiences, of which the token needs one. Empty accepts any or none. */
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
  const { audience = [], algorithms = DEFAULTS.jwt_provider.algorithms } = body;
  return {
    jwksUrl: body.jwks_url,
    issuer: body.issuer ?? null,
    audiences: typeof audience === 'string' ? [audience] : audience,
    algorithms: JWT_ALGORITHMS.filter((algorithm) => algorithms.includes(algorithm)),
    tokenType: body.token_type ?? null,
    clockTolerance: writtenDuration(body.clock_tolerance, DEFAULTS.jwt_provider.clock_tolerance),
    maxTokenAge: spanOf(body.max_token_age),
  };
}

function spanOf(text: string | undefined): Duration | null {
  const span = text === undefined ? undefined : parseDuration(text);
  return span?.ok ? span.value : null;
}
