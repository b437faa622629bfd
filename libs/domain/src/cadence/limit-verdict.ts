import type { Instant } from '@carillon/kernel';
import type { Resource } from '../configuration/configuration.ts';
import { isCollectable } from '../digests/items.ts';
import type { Delivery } from '../deliveries/delivery.ts';
import { limitWords } from './limit-settings.ts';
import type { LimitVerdict, SentEntry } from './limits.ts';
import { localTimeText } from './local-time.ts';

/** Named one by one; the rest is a number. */
const NAMED = 10;

export type FullLimit = Extract<LimitVerdict, { readonly kind: 'full' }>;

/** Which limit, and which messages fill it, for people. */
export function fullWords({ limit, by }: Pick<FullLimit, 'limit' | 'by'>): string {
  const ids = [...new Set(by.map(({ deliveryId }: SentEntry) => deliveryId))];
  const more = ids.length > NAMED ? ` and ${ids.length - NAMED} more` : '';
  return `${limitWords(limit)}, filled by ${ids.slice(0, NAMED).join(', ')}${more}`;
}

/** Verdict for a message over a limit. `collect` is for a notification with a digest. */
export type CappedVerdict =
  | { readonly kind: 'end'; readonly state: 'SUPPRESSED'; readonly reason: 'capped'; readonly detail: string }
  | { readonly kind: 'wait'; readonly until: Instant; readonly reason: 'held_by_limit'; readonly detail: string };

/**
 * Dropped, or held until all limits have room; what could go only when it is too late ends at once, since waiting moves
 * no `not_after`.
 */
export function cappedVerdict(full: FullLimit, { notAfter }: Pick<Delivery, 'notAfter'>, zone: string): CappedVerdict {
  const words = fullWords(full);
  const capped = (detail: string): CappedVerdict => ({ kind: 'end', state: 'SUPPRESSED', reason: 'capped', detail });
  if (full.limit.action === 'drop') return capped(words);
  const until = localTimeText(zone, full.until);
  if (full.until > notAfter) return capped(`${words}; there is room from ${until}, when it is too late`);
  const detail = `held until ${until} by the limit of ${words}`;
  return { kind: 'wait', until: full.until, reason: 'held_by_limit', detail };
}

/**
 * Returns the verdict of a full limit: the message goes into a digest of its notification, or is held if there is no
 * digest. A digest itself is held.
 */
export function limitVerdict(
  full: FullLimit,
  delivery: Delivery,
  { body }: Resource<'notification'>,
  zone: string,
): CappedVerdict | { readonly kind: 'collect'; readonly detail: string } {
  const isDigested = full.limit.action === 'digest' && body.cadence?.digest !== undefined && isCollectable(delivery);
  return isDigested ? { kind: 'collect', detail: fullWords(full) } : cappedVerdict(full, delivery, zone);
}
