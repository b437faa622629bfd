import { parseInstant, type Instant } from '@carillon/kernel';
import type { ApiKeyBody } from './resources.ts';

/** Whether a key has ended by itself. A time that cannot be read counts as passed. */
export function hasExpired({ expires_at: expiresAt }: ApiKeyBody, now: Instant): boolean {
  return expiresAt !== undefined && (parseInstant(expiresAt) ?? Number.NEGATIVE_INFINITY) <= now;
}
