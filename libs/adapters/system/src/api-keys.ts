import { createHmac, createSecretKey, hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const SHAPE = /^cln_([0-9A-Za-z]{8})_([0-9A-Za-z]{32})_([0-9A-Za-z]{6})$/;

/** Right keys whose digests are remembered; the one that came first goes first. */
const MAX_REMEMBERED = 1000;

export type NewApiKey = {
  /** Shown once and kept nowhere. */
  readonly key: string;
  readonly keyId: string;
  /** What is stored: HMAC-SHA-256 of the secret part under the pepper, hex. */
  readonly digest: string;
};

export type ApiKeys = {
  make(): NewApiKey;
  /** Whether the presented key is the one of this digest; takes the same time whatever is wrong with it. */
  verify(presentedKey: string, digest: string): boolean;
  /** The public id in a key, or null for text that is no key: a typo is refused without a look into any store. */
  parse(text: string): string | null;
};

/** Keys `cln_<id 8>_<secret 32>_<checksum 6>`: found by secret scanners, and 190 bits of chance, so a fast hash is right. */
export function createApiKeys(pepper: Uint8Array): ApiKeys {
  // Made once, as for ids.
  const key = createSecretKey(pepper);
  const digestOf = (secret: string): Buffer => createHmac('sha256', key).update(secret).digest();
  // Digests by the hash of the key. The key itself is stored nowhere. The caller compares the digest with the current
  // one, so a revoked key is not accepted from memory. Wrong keys are not remembered, so they take equal time each
  // time.
  const remembered = new Map<string, Buffer>();
  const remember = (name: string, digest: Buffer): void => {
    for (const [oldest] of remembered) {
      if (remembered.size < MAX_REMEMBERED) break;
      remembered.delete(oldest);
    }
    remembered.set(name, digest);
  };
  return {
    make() {
      const keyId = randomText(8);
      const secret = randomText(32);
      const body = `cln_${keyId}_${secret}`;
      return { key: `${body}_${checksum(body)}`, keyId, digest: digestOf(secret).toString('hex') };
    },
    verify(presentedKey, digest) {
      const stored = Buffer.from(digest, 'hex');
      const name = hash('sha256', presentedKey, 'base64');
      const known = remembered.get(name);
      if (known && stored.length === known.length) return timingSafeEqual(known, stored);
      const parts = partsOf(presentedKey);
      const own = digestOf(parts?.secret ?? '');
      const usable = parts !== null && stored.length === own.length;
      const right = timingSafeEqual(own, usable ? stored : Buffer.alloc(own.length)) && usable;
      if (right) remember(name, own);
      return right;
    },
    parse: (text) => partsOf(text)?.keyId ?? null,
  };
}

function partsOf(text: string): { keyId: string; secret: string } | null {
  const [, keyId, secret, sum] = SHAPE.exec(text) ?? [];
  if (keyId === undefined || secret === undefined) return null;
  return checksum(`cln_${keyId}_${secret}`) === sum ? { keyId, secret } : null;
}

function checksum(body: string): string {
  let rest = crc32(body);
  let text = '';
  for (let at = 0; at < 6; at += 1) {
    text = ALPHABET.charAt(rest % 62) + text;
    rest = Math.floor(rest / 62);
  }
  return text;
}

/** Characters with equal chance each: bytes that would favour the first letters are thrown away. */
function randomText(length: number): string {
  let text = '';
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      if (byte < 248 && text.length < length) text += ALPHABET.charAt(byte % 62);
    }
  }
  return text;
}
