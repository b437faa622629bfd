import type { Duration, Instant, Result } from '@carillon/kernel';
import type { Clock, TokenProvider } from '@carillon/ports';
import type { KeySet } from './key-set.ts';

export type KeySetBounds = {
  /** A key set of this age is fetched again before it is used; from half of it on, beside the requests. */
  readonly fresh: Duration;
  /** Maximum age of a key set that is used while fetching fails. */
  readonly stale: Duration;
  /** Minimum time between two fetches from one provider, successful or not. */
  readonly coolDown: Duration;
  /** Fetches under way at once, of all providers. */
  readonly mostFetches: number;
  /** Providers whose keys are kept. */
  readonly mostProviders: number;
};

export const KEY_SET_BOUNDS: KeySetBounds = {
  fresh: 600_000,
  stale: 86_400_000,
  coolDown: 30_000,
  mostFetches: 32,
  mostProviders: 1000,
};

/** What came of a fetch, for logs and metrics. */
export type FetchedKeySet = {
  readonly workspace: string;
  readonly provider: string;
  /** Null: it worked. */
  readonly failure: string | null;
  /** The fetch before ended the other way; of the first one: it failed. */
  readonly turned: boolean;
  /** Until when older keys serve on; null where there are none. */
  readonly servesUntil: Instant | null;
  readonly span: Duration;
};

export type KeysNow =
  | { readonly kind: 'keys'; readonly keys: KeySet; readonly stale: boolean }
  | { readonly kind: 'none'; readonly retryAfter: Duration };

type Kept = {
  readonly url: string;
  keys: KeySet | null;
  fetchedAt: Instant;
  /** Begin of the last try; null before the first. */
  triedAt: Instant | null;
  failing: boolean;
  flight: Promise<void> | null;
};

export type KeySets = {
  /**
   * Returns keys for verification. Waits for the network only if there are none or they were not used for a long time.
   */
  now(provider: TokenProvider): Promise<KeysNow>;
  /** The keys after another look, if there may be one now: for a token that names a key which these do not hold. */
  again(provider: TokenProvider, than: KeySet): Promise<KeySet>;
};

/** Key sets by provider: fetched when needed, one fetch at a time each, served on through outages. */
export function createKeySets(
  fetch: (url: string) => Promise<Result<KeySet, string>>,
  clock: Clock,
  bounds: KeySetBounds,
  fetched: (what: FetchedKeySet) => void,
): KeySets {
  const providers = new Map<string, Kept>();
  let underWay = 0;

  // A clock that was set back makes everything old, which costs one fetch.
  const ageOf = ({ fetchedAt }: Kept): Duration => Math.abs(clock.now() - fetchedAt);
  const coolsFor = ({ triedAt }: Kept): Duration =>
    triedAt === null ? 0 : Math.max(0, bounds.coolDown - Math.abs(clock.now() - triedAt));

  function keptOf({ workspace, name, settings }: TokenProvider): Kept {
    const id = `${workspace}/${name}`;
    let kept = providers.get(id);
    if (kept?.url !== settings.jwksUrl) {
      kept = { url: settings.jwksUrl, keys: null, fetchedAt: 0, triedAt: null, failing: false, flight: null };
    }
    // Last in the map is the one used last.
    providers.delete(id);
    providers.set(id, kept);
    for (const oldest of providers.keys()) {
      if (providers.size <= bounds.mostProviders) break;
      providers.delete(oldest);
    }
    return kept;
  }

  /** Begins a fetch if there may be one; resolves when it, or the one under way, is done. Never rejects. */
  function refresh(kept: Kept, provider: TokenProvider): Promise<void> {
    if (kept.flight) return kept.flight;
    if (coolsFor(kept) > 0 || underWay >= bounds.mostFetches) return Promise.resolve();
    kept.triedAt = clock.now();
    underWay += 1;
    kept.flight = fetchInto(kept, provider).finally(() => {
      underWay -= 1;
      kept.flight = null;
    });
    return kept.flight;
  }

  async function fetchInto(kept: Kept, { workspace, name }: TokenProvider): Promise<void> {
    const startedAt = clock.now();
    const failedBefore = kept.failing;
    const read = await fetch(kept.url);
    kept.failing = !read.ok;
    if (read.ok) {
      // Unchanged keys stay the same object, so that tokens verified with them stay verified.
      kept.keys = kept.keys?.fingerprint === read.value.fingerprint ? kept.keys : read.value;
      kept.fetchedAt = clock.now();
    }
    fetched({
      workspace,
      provider: name,
      failure: read.ok ? null : read.error,
      turned: failedBefore === read.ok,
      servesUntil: kept.keys && kept.fetchedAt + bounds.stale,
      span: clock.now() - startedAt,
    });
  }

  function answer(kept: Kept): KeysNow {
    const age = ageOf(kept);
    if (kept.keys && age <= bounds.stale) return { kind: 'keys', keys: kept.keys, stale: age > bounds.fresh };
    return { kind: 'none', retryAfter: Math.max(1000, coolsFor(kept)) };
  }

  return {
    async now(provider) {
      const kept = keptOf(provider);
      const age = ageOf(kept);
      const usable = kept.keys !== null && age <= bounds.stale;
      if (usable && age <= bounds.fresh / 2) return answer(kept);
      const trying = refresh(kept, provider);
      // During an outage callers do not wait for the next fetch. After a long pause one must, because the keys may be
      // outdated.
      if (!usable || (age > bounds.fresh && !kept.failing)) await trying;
      return answer(kept);
    },
    async again(provider, than) {
      const kept = keptOf(provider);
      if (kept.keys === than) await refresh(kept, provider);
      return kept.keys ?? than;
    },
  };
}
