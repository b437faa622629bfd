import { createHash } from 'node:crypto';
import type { Instant, JsonObject } from '@carillon/kernel';
import type { TokenProvider } from '@carillon/ports';
import type { KeySet } from './key-set.ts';

export type VerifiedToken = { readonly claims: JsonObject; readonly expiresAt: Instant };
type Entry = VerifiedToken & { readonly keys: KeySet; readonly until: Instant; readonly bytes: number };

/** Tokens, measured by their length, that are remembered at most. */
const MAX_BYTES = 16 * 1024 * 1024;
/** What an entry takes beside the claims. */
const ENTRY_BYTES = 512;
/** A token is verified again after this, whatever it says of itself. */
const MAX_AGE_MS = 60_000;

/**
 * Tokens that were verified a moment ago, by digest: the token itself is not kept. An entry counts only under the
 * configuration and the keys that it was verified with, and never beyond the token's `exp`.
 */
export function createVerifiedTokens(mostBytes = MAX_BYTES) {
  const entries = new Map<string, Entry>();
  let bytes = 0;

  function forget(digest: string): void {
    bytes -= entries.get(digest)?.bytes ?? 0;
    entries.delete(digest);
  }

  return {
    has: (digest: string): boolean => entries.has(digest),
    find(digest: string, keys: KeySet, now: Instant): VerifiedToken | null {
      const entry = entries.get(digest);
      if (!entry) return null;
      // Also not if the clock was set back before the entry was made.
      const good = entry.keys === keys && now < entry.until && entry.until - now <= MAX_AGE_MS;
      if (good) return entry;
      forget(digest);
      return null;
    },
    keep(digest: string, token: VerifiedToken & { readonly size: number }, keys: KeySet, now: Instant): void {
      const { claims, expiresAt } = token;
      const until = Math.min(expiresAt, now + MAX_AGE_MS);
      if (until <= now) return;
      forget(digest);
      entries.set(digest, { claims, expiresAt, keys, until, bytes: token.size * 2 + ENTRY_BYTES });
      bytes += token.size * 2 + ENTRY_BYTES;
      for (const oldest of entries.keys()) {
        if (bytes <= mostBytes) break;
        forget(oldest);
      }
    },
  };
}

/** Names a token under a provider and its configuration. */
export const digestOf = ({ workspace, name, number }: TokenProvider, token: string): string =>
  createHash('sha256').update(`${workspace}/${name}/${number}/`).update(token).digest('base64');
