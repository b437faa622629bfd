import type { JwtSettings } from '@carillon/domain/configuration';
import { readEvent } from '@carillon/domain/events';
import type { Instant, JsonObject } from '@carillon/kernel';
import type { TokenFault } from '@carillon/ports';
import { errors, jwtVerify } from 'jose';
import type { KeySet } from './key-set.ts';

/** Longer than what fits into the headers of a request, so only `inspect` ever sees one. */
export const LONGEST_TOKEN = 16 * 1024;
const SHAPE = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/;
const LIMITS = { depth: 8, keys: 500 };
/** Types of tokens for access or identity. Other types were issued for other purposes. */
const USUAL_TYPES: ReadonlySet<string> = new Set(['jwt', 'at+jwt']);

/** Contents of a token, unverified. */
export type ReadToken = { readonly ok: true; readonly header: JsonObject; readonly claims: JsonObject };

export type GoodToken = { readonly ok: true; readonly claims: JsonObject; readonly expiresAt: Instant };

export type Refusal = {
  readonly ok: false;
  readonly fault: TokenFault;
  /** Name of the claim that is at fault, where one is. */
  readonly claim: string | null;
  readonly signed: boolean;
  /** Null where it cannot be read. */
  readonly token: ReadToken | null;
};

const refused = (
  fault: TokenFault,
  token: ReadToken | null = null,
  signed = false,
  claim: string | null = null,
): Refusal => ({ ok: false, fault, claim, signed, token });

/**
 * Reads a token, and refuses what no key could make good. Both of its objects are read as strictly as events are, so
 * that no claim stands there twice and no other program understands it differently.
 */
export function readToken(token: string, settings: JwtSettings): ReadToken | Refusal {
  if (token.length > LONGEST_TOKEN) return refused('too_long');
  if (!SHAPE.test(token)) return refused('malformed');
  const [header, claims] = token.split('.').map((part) => readEvent(Buffer.from(part, 'base64url'), LIMITS));
  if (!header?.ok || !claims?.ok) return refused('malformed');
  const read: ReadToken = { ok: true, header: header.value.body, claims: claims.value.body };
  const fault = headerFault(read.header, settings);
  return fault === null ? read : refused(fault, read);
}

/** Checks the signature, and then the claims, of a token that could be read. */
export async function verifyToken(
  token: string,
  read: ReadToken,
  settings: JwtSettings,
  keys: KeySet,
  now: Instant,
): Promise<GoodToken | Refusal> {
  try {
    const { payload } = await jwtVerify(token, keys.find, {
      algorithms: [...settings.algorithms],
      requiredClaims: ['exp'],
      clockTolerance: settings.clockTolerance / 1000,
      currentDate: new Date(now),
      ...(settings.issuer !== null && { issuer: settings.issuer }),
      ...(settings.audiences.length > 0 && { audience: [...settings.audiences] }),
      ...(settings.tokenType !== null && { typ: settings.tokenType }),
      ...(settings.maxTokenAge !== null && { maxTokenAge: settings.maxTokenAge / 1000 }),
    });
    return { ok: true, claims: read.claims, expiresAt: (payload.exp ?? 0) * 1000 };
  } catch (error) {
    return refusalOf(error, read);
  }
}

/** Returns what is wrong with a header before keys are searched. Key URLs in the header are ignored. */
function headerFault(header: JsonObject, { algorithms, tokenType }: JwtSettings): TokenFault | null {
  const { alg, typ, crit, kid } = header;
  if (crit !== undefined) return 'critical_header';
  if (!algorithms.some((allowed) => allowed === alg)) return 'algorithm';
  if (kid !== undefined && typeof kid !== 'string') return 'malformed';
  if (tokenType !== null || typ === undefined) return null;
  const usual = typeof typ === 'string' && USUAL_TYPES.has(typ.toLowerCase().replace(/^application\//, ''));
  return usual ? null : 'type';
}

/** Claims are looked at only after the signature, so whatever is wrong with one is wrong with a signed token. */
function refusalOf(error: unknown, token: ReadToken): Refusal {
  if (error instanceof errors.JWTExpired) {
    return refused(error.claim === 'iat' ? 'too_old' : 'expired', token, true, error.claim);
  }
  if (error instanceof errors.JWTClaimValidationFailed) {
    return refused(claimFault(error.claim, error.reason), token, true, error.claim);
  }
  if (error instanceof errors.JWKSNoMatchingKey) return refused('unknown_key', token);
  if (error instanceof errors.JWKSMultipleMatchingKeys) return refused('ambiguous_key', token);
  if (error instanceof errors.JWSSignatureVerificationFailed) return refused('signature', token);
  if (error instanceof errors.JOSEAlgNotAllowed) return refused('algorithm', token);
  if (error instanceof errors.JWSInvalid || error instanceof errors.JWTInvalid) return refused('malformed', token);
  // A key that is too weak, or that the platform cannot read.
  return refused('unusable_key', token);
}

function claimFault(claim: string, reason: string): TokenFault {
  if (reason === 'missing') return 'claim_missing';
  if (reason === 'invalid') return 'claim_malformed';
  switch (claim) {
    case 'iss':
      return 'issuer';
    case 'aud':
      return 'audience';
    case 'typ':
      return 'type';
    default:
      return 'not_yet_valid';
  }
}
