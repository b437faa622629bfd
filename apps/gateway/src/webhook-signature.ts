import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { CarillonError, type Duration, type Instant } from '@carillon/kernel';

/** How far the time of a signature may be from ours. */
const TOLERANCE: Duration = 5 * 60_000;

/** Bytes of a secret, after the standard. */
const MIN_SECRET_BYTES = 24;

/** Returns true if a request shows a signature in place of an Authorization header. */
export const isSigned = (headers: IncomingHttpHeaders): boolean =>
  headers.authorization === undefined && headers['webhook-signature'] !== undefined;

/** Returns true if a signed request has all that a signature is over. */
export const isWholeSignature = (headers: IncomingHttpHeaders): boolean =>
  ['webhook-id', 'webhook-timestamp', 'webhook-signature'].every((name) => headers[name] !== undefined);

export const wrongSignature = (): CarillonError =>
  new CarillonError(
    'unauthorized',
    'No stream accepts this signature. Check the address, and compare the secret of the sender with the secret named by `webhook_secret` of the stream.',
  );

/**
 * Checks a signature of the Standard Webhooks specification: HMAC-SHA256 over id, time and body. Throws `unauthorized`; who signed
 * with the right secret learns that the time is wrong.
 */
export function checkSignature(headers: IncomingHttpHeaders, body: Uint8Array, secret: string, now: Instant): void {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures } = headers;
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  if (key.length < MIN_SECRET_BYTES) {
    throw new CarillonError(
      'secret_missing',
      `The webhook secret of this stream cannot be used. An editor or owner must set whsec_ and base64 of at least ${MIN_SECRET_BYTES} bytes.`,
    );
  }
  const expected = createHmac('sha256', key)
    .update(`${String(id)}.${String(timestamp)}.`)
    .update(body)
    .digest();
  const isValid = String(signatures)
    .split(' ')
    .map((signature) => isSame(signature, expected))
    .includes(true);
  if (!isValid) throw wrongSignature();
  // NaN is refused too.
  if (!(Math.abs(Number(timestamp) * 1000 - now) <= TOLERANCE)) {
    throw new CarillonError(
      'unauthorized',
      'The signature is older than 5 minutes, or dated more than 5 minutes ahead. Correct the clock of the sender, or sign each attempt again.',
    );
  }
}

function isSame(signature: string, expected: Buffer): boolean {
  const shown = signature.startsWith('v1,') ? Buffer.from(signature.slice(3), 'base64') : Buffer.alloc(0);
  return shown.length === expected.length && timingSafeEqual(shown, expected);
}
