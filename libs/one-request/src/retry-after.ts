import type { Duration, Instant } from '@carillon/kernel';

const HOUR: Duration = 3_600_000;

/**
 * Returns the time of a `Retry-After` header: seconds or a date (RFC 9110 10.2.3), at most an hour ahead. Null if it is
 * neither.
 */
export function retryAfter(text: string | undefined, now: Instant): Instant | null {
  if (text === undefined) return null;
  const at = /^\d{1,6}$/.test(text) ? now + Number(text) * 1000 : Date.parse(text);
  return Number.isNaN(at) ? null : Math.min(Math.max(at, now), now + HOUR);
}
