import { CompactSign, exportJWK, generateKeyPair, type CryptoKey, type JWK } from 'jose';

/** A key pair with the name under which its public half is published. */
export type SigningKey = {
  readonly kid: string;
  readonly alg: string;
  readonly privateKey: CryptoKey;
  readonly publicJwk: JWK;
};

/** A fresh key pair for an algorithm such as `ES256`. */
export async function makeSigningKey(kid: string, alg = 'ES256'): Promise<SigningKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  return { kid, alg, privateKey, publicJwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } };
}

/** What goes into a token; anything can be left out (undefined) or made wrong. */
export type TokenParts = {
  readonly header?: Readonly<Record<string, unknown>>;
  readonly claims?: Readonly<Record<string, unknown>>;
  /** Claims as text, where JSON.stringify would not write them so. */
  readonly claimsText?: string;
};

export const inSeconds = (seconds: number, now = Date.now()): number => Math.floor(now / 1000) + seconds;

/** A token that is good for five minutes, unless its parts say otherwise. */
export async function signToken(key: SigningKey, { header, claims, claimsText }: TokenParts = {}): Promise<string> {
  const said = claimsText ?? JSON.stringify({ sub: 'ada', iat: inSeconds(-1), exp: inSeconds(300), ...claims });
  return new CompactSign(new TextEncoder().encode(said))
    .setProtectedHeader({ alg: key.alg, kid: key.kid, typ: 'JWT', ...header })
    .sign(key.privateKey, { crit: { 'urn:example:test': true } });
}

const part = (value: unknown): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');

/** Returns three parts in the form of a token with any content, unsigned. */
export const forgeToken = (header: unknown, claims: unknown, signature = 'AAAA'): string =>
  `${part(header)}.${part(claims)}.${signature}`;
