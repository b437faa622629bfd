import { ID_PREFIXES, isId, type DeliveryId } from '@carillon/kernel';

/** Which attempt a report is about; `attempt` counts from 1 over all attempts of the delivery. */
export type ReportedAttempt = { readonly deliveryId: DeliveryId; readonly attempt: number };

/** HMAC under the deployment's ledger key, in base32. */
export type KeyedHash = (...parts: readonly string[]) => string;

const HASH_LENGTH = 10;
const TOKEN = /^([0-9a-hjkmnp-tv-z]{26})-([1-9]\d{0,2})-([0-9a-z]{10})$/i;

const hashOf = ({ deliveryId, attempt }: ReportedAttempt, keyed: KeyedHash): string =>
  keyed('receipt', deliveryId, String(attempt)).slice(0, HASH_LENGTH).toLowerCase();

/**
 * What goes out with an attempt and comes back with a report (delivery.md section 5): `<26 of the delivery id>-<attempt>-<10
 * of a keyed hash>`, at most 41 characters, all of which an SMTP local part, a header value and a URL carry as they are.
 */
export function writeReceiptToken(reported: ReportedAttempt, keyed: KeyedHash): string {
  const id = reported.deliveryId.slice(ID_PREFIXES.delivery.length).toLowerCase();
  return `${id}-${reported.attempt}-${hashOf(reported, keyed)}`;
}

/**
 * The attempt that a token names; null for a text that this deployment did not write. Case does not matter, since mail
 * servers change it. Everybody who got the message may know its token: the reader still has to check that the report came
 * over the account of that very attempt.
 */
export function readReceiptToken(text: string, keyed: KeyedHash): ReportedAttempt | null {
  const [, id = '', attempt = '', hash = ''] = TOKEN.exec(text) ?? [];
  const deliveryId = `${ID_PREFIXES.delivery}${id.toUpperCase()}`;
  if (!isId('delivery', deliveryId)) return null;
  const reported: ReportedAttempt = { deliveryId: deliveryId as DeliveryId, attempt: Number(attempt) };
  return sameText(hash.toLowerCase(), hashOf(reported, keyed)) ? reported : null;
}

/** Takes as long whatever differs, so that nobody finds a hash letter by letter. */
function sameText(found: string, expected: string): boolean {
  let difference = found.length ^ expected.length;
  for (let at = 0; at < expected.length; at += 1) difference |= found.charCodeAt(at) ^ expected.charCodeAt(at);
  return difference === 0;
}
