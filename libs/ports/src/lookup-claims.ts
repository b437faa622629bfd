import type { Instant } from '@carillon/kernel';

/** A lookup record that wants to count for its trigger. */
export type LookupClaim = {
  readonly triggerId: string;
  /** Place of the lookup record, as text `topic/partition@offset`. */
  readonly position: string;
  readonly at: Instant;
};

/**
 * Begins the ids of claims for STOP and START messages, whose record is a receipt. A claim says that the message was carried
 * out, so that the same message changes nothing when its provider delivers it again.
 */
export const MESSAGE_CLAIM = 'inbound ';

/**
 * Which of a trigger's lookup records counts: the first that was claimed (promise 3). Claims are kept for 30 days, as long as
 * the log keeps the records.
 */
export type LookupClaims = {
  /**
   * Claims a lookup record for each trigger. Returns, per claim, the position that counts for its trigger: the one
   * given if it is the first, else the position claimed before. A later position is stored as superseded. Durable when
   * it resolves. Idempotent. If one call holds two claims for a trigger, the first wins.
   */
  claim(claims: readonly LookupClaim[]): Promise<readonly string[]>;
  /** Null where nothing was claimed. */
  get(triggerId: string): Promise<{ readonly position: string; readonly superseded: readonly string[] } | null>;
  /** Lists the first claim of each id that begins with this text, ordered by id, for moving claims to another backend. */
  list(
    beginning: string,
    limit: number,
    cursor?: string,
  ): Promise<{ readonly items: readonly LookupClaim[]; readonly next: string | null }>;
};
