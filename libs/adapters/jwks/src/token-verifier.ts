import type { Clock, OutboundHttp, TokenFault, TokenProvider, TokenVerdict, TokenVerifier } from '@carillon/ports';
import { wordsOf } from './faults.ts';
import { fetchKeySet } from './fetch-key-set.ts';
import { inspectToken } from './inspection.ts';
import { readToken, verifyToken, type Refusal } from './verify-token.ts';
import { createKeySets, KEY_SET_BOUNDS, type FetchedKeySet, type KeySetBounds } from './key-sets.ts';
import { createVerifiedTokens, digestOf, type VerifiedToken } from './verified-tokens.ts';

/** What happened to one token. */
export type TokenCheck = {
  readonly workspace: string;
  readonly provider: string;
  readonly result: 'valid' | 'unavailable' | TokenFault;
  /** Judged by keys that should have been fetched again, and could not be. */
  readonly stale: boolean;
};

export type TokenVerifierOptions = {
  /** Guards where it connects to: the address of a key set is a tenant's. */
  readonly http: Pick<OutboundHttp, 'request'>;
  readonly clock: Clock;
  readonly bounds?: Partial<KeySetBounds>;
  readonly watch?: { fetched(what: FetchedKeySet): void; judged(what: TokenCheck): void };
};

/** Verifies tokens with jose, by key sets that are fetched over HTTP and kept in this process. */
export function createTokenVerifier({ http, clock, bounds, watch }: TokenVerifierOptions): TokenVerifier {
  const fetch = (url: string) => fetchKeySet(http, url);
  const keySets = createKeySets(fetch, clock, { ...KEY_SET_BOUNDS, ...bounds }, (what) => watch?.fetched(what));
  const verified = createVerifiedTokens();

  async function verify(provider: TokenProvider, token: string): Promise<{ verdict: TokenVerdict; stale: boolean }> {
    const { settings } = provider;
    const digest = digestOf(provider, token);
    // A token that no key could verify causes no fetch, so that garbage cannot trigger requests.
    const read = verified.has(digest) ? null : readToken(token, settings);
    if (read && !read.ok) return { verdict: refusal(read), stale: false };
    const held = await keySets.now(provider);
    if (held.kind === 'none') return { verdict: { kind: 'unavailable', retryAfter: held.retryAfter }, stale: false };
    const { stale } = held;
    const known = verified.find(digest, held.keys, clock.now());
    if (known) return { verdict: valid(known), stale };
    const readable = read ?? readToken(token, settings);
    if (!readable.ok) return { verdict: refusal(readable), stale };
    let { keys } = held;
    let judged = await verifyToken(token, readable, settings, keys, clock.now());
    if (!judged.ok && judged.fault === 'unknown_key') {
      const newer = await keySets.again(provider, keys);
      if (newer !== keys) judged = await verifyToken(token, readable, settings, newer, clock.now());
      keys = newer;
    }
    if (!judged.ok) return { verdict: refusal(judged), stale };
    const { claims, expiresAt } = judged;
    verified.keep(digest, { claims, expiresAt, size: token.length }, keys, clock.now());
    return { verdict: valid(judged), stale };
  }

  return {
    async verify(provider, token) {
      const { verdict, stale } = await verify(provider, token);
      const result = verdict.kind === 'refused' ? verdict.fault : verdict.kind;
      watch?.judged({ workspace: provider.workspace, provider: provider.name, result, stale });
      return verdict;
    },
    async inspect(provider, token) {
      const fetched = await fetch(provider.settings.jwksUrl);
      if (fetched.ok) return inspectToken(provider, fetched.value, token, clock.now());
      return { steps: [{ step: 'key set', ok: false, detail: fetched.error }], claims: null };
    },
  };
}

const valid = ({ claims, expiresAt }: VerifiedToken): TokenVerdict => ({ kind: 'valid', claims, expiresAt });

const refusal = (judged: Refusal): TokenVerdict => ({
  kind: 'refused',
  fault: judged.fault,
  detail: wordsOf(judged),
  signed: judged.signed,
});
