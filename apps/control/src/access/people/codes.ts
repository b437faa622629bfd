import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Instant } from '@carillon/kernel';
import { digestOf } from './secret-tokens.ts';

/** Time-based codes as authenticators make them: RFC 6238 with SHA-1, six digits, thirty seconds. */
const INTERVAL_MS = 30_000;
const DIGITS = 6;
/** A phone's clock may be off by one interval. */
const DRIFT = 1;
const SECRET_BYTES = 20;
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** Returns a new secret of 160 bits in base32. */
export const newTotpSecret = (): string => toBase32(randomBytes(SECRET_BYTES));

/** Returns the contents of the QR code. */
export const totpUri = (secret: string, account: string): string =>
  `otpauth://totp/${encodeURIComponent(`Carillon:${account}`)}?${new URLSearchParams({ secret, issuer: 'Carillon' }).toString()}`;

/** Returns the code of an interval. */
export function totpCode(secret: string, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac('sha1', fromBase32(secret)).update(counter).digest();
  const at = (mac.at(-1) ?? 0) & 15;
  return String((mac.readUInt32BE(at) & 0x7f_ff_ff_ff) % 10 ** DIGITS).padStart(DIGITS, '0');
}

export const totpStep = (now: Instant): number => Math.floor(now / INTERVAL_MS);

/** Returns the interval of a valid code that is newer than the last used one. Null otherwise. */
export function matchingStep(secret: string, code: string, now: Instant, lastStep: number): number | null {
  const given = Buffer.from(code.replaceAll(/\s/g, ''));
  if (given.length !== DIGITS) return null;
  let found: number | null = null;
  for (let step = totpStep(now) - DRIFT; step <= totpStep(now) + DRIFT; step += 1) {
    const same = timingSafeEqual(given, Buffer.from(totpCode(secret, step)));
    if (same && step > lastStep) found = step;
  }
  return found;
}

const RECOVERY_CODES = 10;
/** Ten codes of 80 bits, each for one sign-in without the phone. */
export const newRecoveryCodes = (): readonly string[] =>
  Array.from({ length: RECOVERY_CODES }, () =>
    (toBase32(randomBytes(10)).match(/.{4}/g) ?? []).join('-').toLowerCase(),
  );

/** Returns the stored digest of a recovery code, independent of how it was typed. */
export const recoveryDigest = (code: string): string => digestOf(code.toUpperCase().replaceAll(/[^A-Z2-7]/g, ''));

function toBase32(bytes: Uint8Array): string {
  let text = '';
  let [value, bits] = [0, 0];
  for (const byte of bytes) {
    value = ((value << 8) | byte) & 0xff_ff;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += BASE32.charAt((value >>> bits) & 31);
    }
  }
  return bits > 0 ? text + BASE32.charAt((value << (5 - bits)) & 31) : text;
}

function fromBase32(text: string): Buffer {
  const bytes: number[] = [];
  let [value, bits] = [0, 0];
  for (const letter of text) {
    value = ((value << 5) | BASE32.indexOf(letter)) & 0xff_ff;
    bits += 5;
    if (bits >= 8) {
      bits -= 8;
      bytes.push((value >>> bits) & 255);
    }
  }
  return Buffer.from(bytes);
}
