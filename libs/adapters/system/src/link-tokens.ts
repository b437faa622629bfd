import { createCipheriv, createDecipheriv, createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import type { LinkTokens } from '@carillon/ports';

const CIPHER = 'aes-256-ctr';
const IV_BYTES = 16;
const TOKEN = /^[A-Za-z0-9_-]{23,4000}$/;

/**
 * Deterministic authenticated encryption as SIV does it (RFC 5297, with HMAC-SHA-256 as the function): the hash of the text
 * is both what proves it and what it is encrypted with, so the same text gives the same token and nothing else is learned.
 * Both keys are derived from the ledger key, which never rotates: links are valid for ever.
 */
export function createLinkTokens(ledgerKey: Uint8Array): LinkTokens {
  const derived = (use: string): Buffer => Buffer.from(hkdfSync('sha256', ledgerKey, '', `carillon link ${use}`, 32));
  const [proving, hiding] = [derived('proof'), derived('cipher')];
  const proofOf = (text: Uint8Array): Buffer =>
    createHmac('sha256', proving).update(text).digest().subarray(0, IV_BYTES);
  return {
    seal(text) {
      const clear = Buffer.from(text, 'utf8');
      const proof = proofOf(clear);
      const cipher = createCipheriv(CIPHER, hiding, proof);
      return Buffer.concat([proof, cipher.update(clear), cipher.final()]).toString('base64url');
    },
    open(token) {
      if (!TOKEN.test(token)) return null;
      const bytes = Buffer.from(token, 'base64url');
      // Two texts may decode to equal bytes, so only the text that we write is accepted.
      if (bytes.length <= IV_BYTES || bytes.toString('base64url') !== token) return null;
      const proof = bytes.subarray(0, IV_BYTES);
      const cipher = createDecipheriv(CIPHER, hiding, proof);
      const clear = Buffer.concat([cipher.update(bytes.subarray(IV_BYTES)), cipher.final()]);
      return timingSafeEqual(proofOf(clear), proof) ? clear.toString('utf8') : null;
    },
  };
}
