import type { Instant } from '@carillon/kernel';

/** Maximum number of remembered clients. Beyond it the least recently active is forgotten. */
const MAX_PAYERS = 10_000;
const PER_SECOND = 1;
const BURST = 30;

/**
 * How often somebody may use links: whoever holds a good one by the person in it, and whoever tries others by the address that
 * he comes from. So a mail provider that posts for many people is never refused, nobody finds a link by trying, and
 * nobody fills the log by changing his mind. Each gateway process counts for itself.
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
