import type { EventStream } from '@carillon/domain';
import { CarillonError, type Instant } from '@carillon/kernel';

type Bucket = {
  tokens: number;
  at: Instant;
  /** The last one, given again while it says the same: a flood would have the stack of each taken. */
  refusal: CarillonError | null;
};

/** Buckets of streams that nobody sends to any more are forgotten beyond this many. */
const MOST_BUCKETS = 10_000;

export type StreamRates = {
  /** Takes one event off the stream's rate. Throws `rate_limited` with the time after which there is room again. */
  take(stream: EventStream, now: Instant): void;
};

/** Token buckets of the streams that set a rate. Each gateway process counts for itself. */
export function createStreamRates(): StreamRates {
  const buckets = new Map<string, Bucket>();
  return {
    take(stream, now) {
      if (!stream.rate) return;
      const { per_second: perSecond, burst = Math.max(1, perSecond) } = stream.rate;
      const before = buckets.get(stream.path) ?? { tokens: burst, at: now, refusal: null };
      // A clock that was set back gives nothing and takes nothing.
      const grown = before.tokens + (Math.max(0, now - before.at) / 1000) * perSecond;
      const tokens = Math.min(burst, grown);
      const allowed = tokens >= 1;
      buckets.delete(stream.path);
      const refusal = allowed ? null : refusalOf(perSecond, tokens, before.refusal);
      buckets.set(stream.path, { tokens: allowed ? tokens - 1 : tokens, at: now, refusal: refusal ?? before.refusal });
      if (buckets.size > MOST_BUCKETS) forgetOldest(buckets);
      if (refusal) throw refusal;
    },
  };
}

/** When there is room again is told in whole seconds, as the answer does. */
function refusalOf(perSecond: number, tokens: number, last: CarillonError | null): CarillonError {
  const limit = `${perSecond} events per second`;
  const retryAfter = Math.ceil((1 - tokens) / perSecond) * 1000;
  if (last?.facts.limit === limit && last.facts.retryAfter === retryAfter) return last;
  return new CarillonError('rate_limited', `This stream takes ${limit}. Send later.`, { limit, retryAfter });
}

function forgetOldest(buckets: Map<string, Bucket>): void {
  for (const path of buckets.keys()) {
    buckets.delete(path);
    return;
  }
}
