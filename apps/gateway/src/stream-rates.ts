import { credentialRate, type EventStream } from '@carillon/domain/configuration';
import { CarillonError, type Instant } from '@carillon/kernel';

type Rate = NonNullable<EventStream['rate']>;
type Bucket = {
  tokens: number;
  at: Instant;
  /** The last one, given again while it says the same: a flood would have the stack of each taken. */
  refusal: CarillonError | null;
};

/** Buckets of streams and credentials that nobody sends with any more are forgotten beyond this many of each. */
const MAX_BUCKETS = 10_000;

export type StreamRates = {
  /**
   * Takes one event off the rate of the credential on this stream, and off the stream's. Throws `rate_limited` with the
   * time after which there is room again.
   */
  take(stream: EventStream, principal: string, now: Instant): void;
};

/** Token buckets of streams and of the credentials on them. Each gateway process counts for itself. */
export function createStreamRates(): StreamRates {
  const streams = new Map<string, Bucket>();
  const credentials = new Map<string, Bucket>();
  return {
    take(stream, principal, now) {
      // The credential first: what one sender has too much takes no room from the others.
      const own = credentialRate(stream);
      if (own) takeFrom(credentials, `${stream.path} ${principal}`, own, now, 'takes from one credential');
      if (stream.rate) takeFrom(streams, stream.path, stream.rate, now, 'takes');
    },
  };
}

function takeFrom(buckets: Map<string, Bucket>, key: string, rate: Rate, now: Instant, verb: string): void {
  const { per_second: perSecond, burst = Math.max(1, perSecond) } = rate;
  const before = buckets.get(key) ?? { tokens: burst, at: now, refusal: null };
  // A clock that was set back gives nothing and takes nothing.
  const grown = before.tokens + (Math.max(0, now - before.at) / 1000) * perSecond;
  const tokens = Math.min(burst, grown);
  const allowed = tokens >= 1;
  buckets.delete(key);
  const refusal = allowed ? null : refusalOf(perSecond, tokens, verb, before.refusal);
  buckets.set(key, { tokens: allowed ? tokens - 1 : tokens, at: now, refusal: refusal ?? before.refusal });
  if (buckets.size > MAX_BUCKETS) forgetOldest(buckets);
  if (refusal) throw refusal;
}

/** When there is room again is told in whole seconds, as the answer does. */
function refusalOf(perSecond: number, tokens: number, verb: string, last: CarillonError | null): CarillonError {
  const limit = `${perSecond} events per second`;
  const retryAfter = Math.ceil((1 - tokens) / perSecond) * 1000;
  if (last?.facts.limit === limit && last.facts.retryAfter === retryAfter) return last;
  return new CarillonError('rate_limited', `This stream ${verb} ${limit}. Send later.`, { limit, retryAfter });
}

function forgetOldest(buckets: Map<string, Bucket>): void {
  for (const key of buckets.keys()) {
    buckets.delete(key);
    return;
  }
}
