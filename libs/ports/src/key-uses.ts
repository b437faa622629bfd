import type { Instant } from '@carillon/kernel';

/**
 * Public id of an API key with a time of its use. An id that begins with `cut_off:` is no key: it stores in which
 * minutes of an hour the intake refused requests to protect other clients.
 */
export type KeyUse = { readonly keyId: string; readonly at: Instant };

/**
 * Last uses of API keys, so that people can find unused keys, and other facts that gateways report to the control role.
 * Never used to admit or refuse a request.
 */
export type KeyUseStore = {
  /** Stores the newest time of each key. Calls may come in any order and from any number of processes. */
  record(uses: readonly KeyUse[]): Promise<void>;
  /** Returns the last use by key id. A key that was never used is absent. */
  lastUses(keyIds: readonly string[]): Promise<ReadonlyMap<string, Instant>>;
};
