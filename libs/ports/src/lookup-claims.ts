import type { Instant } from '@carillon/kernel';

/** A lookup record that wants to count for its trigger. */
export type LookupClaim = {
  readonly triggerId: string;
  /** Place of the lookup record, as text `topic/partition@offset`. */
  readonly position: string;
  readonly at: Instant;
};

/** Which of a trigger's lookup records counts: the first that was claimed, for ever (promise 3). */
export type LookupClaims = {
  /**
   * Answers for each the position that counts for its trigger: the one given, or that of the first. One that came too
   * late is kept as superseded. Durable when it resolves; a repeat changes nothing. In one call, the earlier one wins.
   */
  claim(claims: readonly LookupClaim[]): Promise<readonly string[]>;
  /** Null where nothing was claimed. */
  get(triggerId: string): Promise<{ readonly position: string; readonly superseded: readonly string[] } | null>;
};
