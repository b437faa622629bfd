import type { Duration, Instant } from '@carillon/kernel';
import type { Attempt, Delivery } from '../deliveries/delivery.ts';
import type { ProviderVerdict } from '../deliveries/provider-result.ts';
import type { ReceiptSource } from './report.ts';

/** A message that a provider has, to the recipient that was asked for and like it in sender and content. */
export type FoundMessage = {
  readonly source: ReceiptSource;
  /** The provider's own name of it. */
  readonly providerId: string;
  readonly createdAt: Instant | null;
};

/** The provider's clock and ours differ by less, and no call of ours lasts longer. */
const NEAR: Duration = 5 * 60_000;

/** After these the provider has a message of the attempt, or may have one. */
const MAY_HAVE: ReadonlySet<ProviderVerdict> = new Set(['accepted', 'ambiguous']);

/**
 * Returns the one message at the provider that must come from the delivery's last attempt: it was made around the call,
 * no other attempt owns it, and no other attempt to this address around that time may have made it. Null proves
 * nothing, because the provider's list may lag. `others`: all deliveries with an attempt to the address.
 */
export function ownMessage(
  delivery: Delivery,
  others: readonly Delivery[],
  found: readonly FoundMessage[],
): FoundMessage | null {
  const attempt = delivery.attempts.at(-1);
  if (!attempt) return null;
  const near = (at: Instant, span: Duration): boolean => Math.abs(at - attempt.startedAt) <= span;
  const rest = [delivery, ...others.filter(({ id }) => id !== delivery.id)]
    .flatMap(({ attempts }) => attempts)
    .filter(({ id, to }) => id !== attempt.id && to === attempt.to);
  if (rest.some((one) => near(one.startedAt, 2 * NEAR) && mayOwnAny(one))) return null;
  const owned = new Set(rest.map(({ result }) => result?.providerId ?? null));
  const candidates = found.filter(({ providerId }) => !owned.has(providerId));
  // A candidate without a time may be the message of this attempt too, which makes the result ambiguous.
  const [only, ...more] = candidates.filter(({ createdAt }) => createdAt === null || near(createdAt, NEAR));
  return only && more.length === 0 && only.createdAt !== null ? only : null;
}

/** Whether it made a message, or may have, of which we do not know which one it is. */
const mayOwnAny = ({ result }: Attempt): boolean =>
  result === null || (MAY_HAVE.has(result.verdict) && result.providerId === null);

/** The delivery once its provider has been asked about the doubt so many times, and had no proof. */
export const askedAbout = (before: Delivery, asked: number, now: Instant): Delivery => ({
  ...before,
  attempts: before.attempts.map((attempt, at) => (at === before.attempts.length - 1 ? { ...attempt, asked } : attempt)),
  version: before.version + 1,
  updatedAt: now,
});
