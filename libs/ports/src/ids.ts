import type { IdKind, Instant } from '@carillon/kernel';

/**
 * Names for things. Derived ids are SHA-256 over length-prefixed parts, cut to 128 bits: the same cause gives the same
 * id in every process and for ever. Keyed hashes use the deployment's ledger key, so that they reveal nothing.
 */
export type Ids = {
  /** Prefix of the kind and 26 characters of base32. Safe to call twice; part boundaries matter (`a`,`bc` differs from `ab`,`c`). */
  readonly derive: (kind: IdKind, ...parts: readonly string[]) => string;
  /** A fresh id with 128 bits of chance. */
  random(kind: IdKind): string;
  /**
   * Creates an id that sorts by time, like a ULID: 48 bits of milliseconds, then 80 random bits. Ids of one time are
   * adjacent in every index of a store, and touch few pages.
   */
  inOrder(kind: IdKind, at: Instant): string;
  /** HMAC-SHA-256 under the ledger key, 26 characters of base32: record keys and slot ids. */
  keyed(...parts: readonly string[]): string;
  /** Fencing token of an attempt: 128 bits of chance. */
  token(): string;
  /** A number in [0, 1): jitter. */
  chance(): number;
};
