import { CarillonError, type Duration, type Instant } from '@carillon/kernel';

/** Maximum number of keys. Beyond it the least recently used is dropped. */
const MAX_KEYS = 10_000;

export type Rate = {
  /** Counts one for `key`. Throws `rate_limited`, with the time after which there is room again, and counts nothing. */
  take(key: string, now: Instant): void;
};

/** Creates a limit of `most` uses per key within any time span. Each process counts alone, from zero at its start. */
export function createRate(of: { readonly what: string; readonly most: number; readonly span: Duration }): Rate {
  const taken = new Map<string, readonly Instant[]>();
  return {
    take(key, now) {
      // Requests with a future time were counted before the clock was set back, so they no longer count.
      const recent = (taken.get(key) ?? []).filter((at) => Math.abs(now - at) < of.span);
      const [oldest = now] = recent;
      taken.delete(key);
      if (recent.length >= of.most) {
        taken.set(key, recent);
        const limit = `${of.most} ${of.what} in ${of.span / 1000} seconds`;
        const retryAfter = oldest + of.span - now;
        throw new CarillonError('rate_limited', `the limit is ${limit}; send later`, { limit, retryAfter });
      }
      taken.set(key, [...recent, now]);
      const [longestAgo] = taken.keys();
      if (taken.size > MAX_KEYS && longestAgo !== undefined) taken.delete(longestAgo);
    },
  };
}
