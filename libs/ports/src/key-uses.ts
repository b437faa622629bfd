import type { Instant } from '@carillon/kernel';

/**
 * An API key, by its public id, and a time at which it let somebody in. A name that begins with `cut_off:` is no key: it says
 * in which minutes of an hour the intake refused somebody for the sake of others.
 */
export type KeyUse = { readonly keyId: string; readonly at: Instant };

/**
 * When each API key was last used, so that a person can see which ones nobody needs, and what else gateways saw that people
 * ask about in another process. Nobody is let in or kept out by it.
 */
export type KeyUseStore = {
  /** Keeps the newest time of each key, in whatever order and from however many processes they come. */
  record(uses: readonly KeyUse[]): Promise<void>;
  /** By key id; a key that was never used is missing. */
  lastUses(keyIds: readonly string[]): Promise<ReadonlyMap<string, Instant>>;
};
