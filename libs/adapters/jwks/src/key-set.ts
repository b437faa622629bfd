import { createLocalJWKSet, type JSONWebKeySet, type JWTVerifyGetKey, type JWK } from 'jose';
import { err, ok, type Result } from '@carillon/kernel';

/** More keys than any issuer rotates through. */
export const MAX_KEYS = 50;
/**
 * Maximum characters of a key's member: an RSA modulus of 8,192 bits has 1,366, and larger ones cost too much to
 * verify.
 */
const LONGEST_MEMBER = 1400;

/** RSA with a smaller exponent is open to attacks on small messages and careless padding. */
const LEAST_EXPONENT = 65_537n;

/** Public keys as one fetch found them. */
export type KeySet = {
  /** Returns the key that a token's header names, only from this set. */
  readonly find: JWTVerifyGetKey;
  readonly keys: readonly PublicKey[];
  /** How many there were beside these that cannot verify here. */
  readonly unusable: number;
  /** Equal for equal keys. */
  readonly fingerprint: string;
};

export type PublicKey = { readonly kid: string | null; readonly kind: string; readonly alg: string | null };

/** Only these are kept: nothing private, no certificates, no addresses. */
const MEMBERS = ['kty', 'kid', 'use', 'key_ops', 'alg', 'crv', 'n', 'e', 'x', 'y'] as const;
const KINDS: Readonly<Record<string, readonly (typeof MEMBERS)[number][]>> = {
  RSA: ['n', 'e'],
  EC: ['crv', 'x', 'y'],
  OKP: ['crv', 'x'],
};

/** Reads a JSON Web Key Set (RFC 7517). A key of a kind that is not known here is left out, as the standard wants it. */
export function readKeySet(body: Uint8Array): Result<KeySet, string> {
  let document: unknown;
  try {
    document = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    return err('the answer is not JSON');
  }
  const listed = isObject(document) ? document['keys'] : undefined;
  if (!Array.isArray(listed)) return err('the answer has no list `keys`, so it is no JSON Web Key Set');
  if (listed.length > MAX_KEYS) return err(`the key set has ${listed.length} keys; at most ${MAX_KEYS} are taken`);
  const keys = listed.flatMap((item: unknown) => publicPart(item));
  const set: JSONWebKeySet = { keys };
  return ok({
    find: createLocalJWKSet(set),
    keys: keys.map(({ kid, kty, crv, alg }) => ({ kid: kid ?? null, kind: crv ?? kty ?? '', alg: alg ?? null })),
    unusable: listed.length - keys.length,
    fingerprint: JSON.stringify(set),
  });
}

function publicPart(item: unknown): readonly JWK[] {
  if (!isObject(item) || typeof item['kty'] !== 'string') return [];
  const needed = Object.hasOwn(KINDS, item['kty']) ? (KINDS[item['kty']] ?? []) : null;
  if (!needed?.every((name) => typeof item[name] === 'string')) return [];
  const kept = MEMBERS.filter((name) => item[name] !== undefined).map((name) => [name, item[name]] as const);
  const fits = kept.every(([name, value]) =>
    name === 'key_ops' ? Array.isArray(value) : typeof value === 'string' && value.length <= LONGEST_MEMBER,
  );
  if (!fits) return [];
  const key = Object.fromEntries(kept) as JWK;
  return key.kty === 'RSA' && exponentOf(key) < LEAST_EXPONENT ? [] : [key];
}

const exponentOf = ({ e = '' }: JWK): bigint => BigInt(`0x0${Buffer.from(e, 'base64url').toString('hex')}`);

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
