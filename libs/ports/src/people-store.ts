import type { PeopleKind, PeopleRecord } from '@carillon/domain/people';
import type { Instant } from '@carillon/kernel';

/**
 * Who may use the deployment: people, how they prove who they are, their sessions, invitations and the tokens of programs. Never
 * on the log and never in files. Words that open something are in here as digests alone.
 */
export type PeopleStore = {
  find<Kind extends PeopleKind>(kind: Kind, id: string): Promise<PeopleRecord<Kind> | null>;
  findByKey<Kind extends PeopleKind>(kind: Kind, key: string): Promise<PeopleRecord<Kind> | null>;
  /** All of a kind, or those that belong to one person, in an order that no write changes. */
  list<Kind extends PeopleKind>(
    kind: Kind,
    filter: { readonly of?: string },
    limit: number,
    cursor?: string,
  ): Promise<{ readonly items: readonly PeopleRecord<Kind>[]; readonly next: string | null }>;
  /**
   * Writes a record whose version is one more than the stored one's; 1 where there is none. `stale`: somebody was faster, or it
   * was removed. `taken`: another record of the kind has its key. Durable when it resolves, and every read that begins afterwards sees it, in any process.
   */
  replace(record: PeopleRecord): Promise<'done' | 'stale' | 'taken'>;
  /** Whether it was there. */
  remove(kind: PeopleKind, id: string): Promise<boolean>;
  /** Removes all records of a kind that belong to a person, but this one; answers how many. */
  removeOf(kind: PeopleKind, of: string, but?: string): Promise<number>;
  /** Removes at most so many that ended before this time; answers how many. */
  removeEnded(before: Instant, limit: number): Promise<number>;
};
