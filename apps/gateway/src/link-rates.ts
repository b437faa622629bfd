import type { Instant } from '@carillon/kernel';

/** Maximum number of remembered clients. Beyond it the least recently active is forgotten. */
const MAX_PAYERS = 10_000;
const PER_SECOND = 1;
const BURST = 30;

/**
 * Limits the use of links: for a valid link by its person, and for invalid ones by the client address. A mail provider
 * that posts for many people is therefore never refused, links cannot be guessed, and nobody can fill the log by
 * repeated changes. Each gateway process counts alone.
 */
export function createLinkRates() {
  const left = new Map<string, { readonly tokens: number; readonly at: Instant }>();
  return {
    /** False: too often. */
    take(payer: string, now: Instant): boolean {
      const before = left.get(payer) ?? { tokens: BURST, at: now };
      // A clock that was set back gives nothing and takes nothing.
      const tokens = Math.min(BURST, before.tokens + (Math.max(0, now - before.at) / 1000) * PER_SECOND);
      left.delete(payer);
      left.set(payer, { tokens: tokens >= 1 ? tokens - 1 : tokens, at: now });
      if (left.size > MAX_PAYERS) {
        const [oldest] = left.keys();
        if (oldest !== undefined) left.delete(oldest);
      }
      return tokens >= 1;
    },
  };
}
