import { ID_PREFIXES, isId, type AttemptId, type DeliveryId } from '@carillon/kernel';

/** Which attempt a report is about; `attempt` counts from 1 over all attempts of the delivery. */
export type ReportedAttempt = {
  readonly deliveryId: DeliveryId;
  readonly attempt: number;
  /**
   * End of the attempt's id. After a restore attempts are numbered again, so the number alone could mean an attempt
   * before or after the loss. Null if unknown.
   */
  readonly tag: string | null;
};

/** HMAC under the deployment's ledger key, in base32. */
export type KeyedHash = (...parts: readonly string[]) => string;

const TAG_LENGTH = 4;
const HASH_LENGTH = 6;
const TOKEN = /^([0-9a-hjkmnp-tv-z]{26})-([1-9]\d{0,4})-([0-9a-z]{4})([0-9a-z]{6})$/i;

/** Returns the part of an attempt id that a receipt token contains: 20 random bits. */
export const attemptTag = (id: AttemptId): string => id.slice(-TAG_LENGTH).padStart(TAG_LENGTH, '0').toLowerCase();

const hashOf = (deliveryId: DeliveryId, attempt: number, tag: string, keyed: KeyedHash): string =>
  keyed('receipt', deliveryId, String(attempt), tag).slice(0, HASH_LENGTH).toLowerCase();

/**
 * Formats the receipt token that goes out with an attempt and comes back with a report (docs/internals/evidence.md):
 * `<26 of the delivery id>-<attempt>-<4 of the attempt's id><6 of a keyed hash>`. At most 43 characters, which an SMTP
 * local part (at most 64), a header value and a URL carry unchanged. Attempts are counted up to 99,999. The delivery id
 * cannot be guessed, so the hash only has to distinguish our tokens from another deployment's.
 */
export function writeReceiptToken(
  { deliveryId, attempt, id }: { readonly deliveryId: DeliveryId; readonly attempt: number; readonly id: AttemptId },
  keyed: KeyedHash,
): string {
  const tag = attemptTag(id);
  const name = deliveryId.slice(ID_PREFIXES.delivery.length).toLowerCase();
  return `${name}-${attempt}-${tag}${hashOf(deliveryId, attempt, tag, keyed)}`;
}

/**
 * Returns the attempt that a token names. Null for a text that this deployment did not write. Ignores case, because
 * mail servers change it. Every recipient may know the token of a message, so the caller must still check that the
 * report came over the account of that attempt.
 */
export function readReceiptToken(text: string, keyed: KeyedHash): ReportedAttempt | null {
  const [, name = '', number = '', shownTag = '', hash = ''] = TOKEN.exec(text) ?? [];
  const deliveryId = `${ID_PREFIXES.delivery}${name.toUpperCase()}` as DeliveryId;
  if (!isId('delivery', deliveryId)) return null;
  const [attempt, tag] = [Number(number), shownTag.toLowerCase()];
  return sameText(hash.toLowerCase(), hashOf(deliveryId, attempt, tag, keyed)) ? { deliveryId, attempt, tag } : null;
}

/** Compares in constant time, so that nobody can guess a hash letter by letter. */
function sameText(found: string, expected: string): boolean {
  let difference = found.length ^ expected.length;
  for (let at = 0; at < expected.length; at += 1) difference |= found.charCodeAt(at) ^ expected.charCodeAt(at);
  return difference === 0;
}
