import { CarillonError, err, ok, type Result } from '@carillon/kernel';

export const LONGEST_IDEMPOTENCY_KEY = 255;

/**
 * Reads an idempotency key that becomes the event id: 1 to 255 visible ASCII characters. Two headers arrive joined by a
 * comma and a space and are refused, because it is unknown which was meant. Null if none was sent.
 */
export function readIdempotencyKey(header: string | null): Result<string | null, CarillonError> {
  if (header === null) return ok(null);
  if (header.length <= LONGEST_IDEMPOTENCY_KEY && /^[\x21-\x7e]+$/.test(header)) return ok(header);
  const limit = `${LONGEST_IDEMPOTENCY_KEY} characters`;
  const detail = `Send one Idempotency-Key of 1 to ${limit}, letters, digits and punctuation of ASCII without spaces.`;
  return err(new CarillonError('invalid_idempotency_key', detail, { limit }));
}
