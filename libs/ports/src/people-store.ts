import type { PeopleKind, PeopleRecord } from '@carillon/domain/people';
import type { Instant } from '@carillon/kernel';

/**
 * Users of the deployment: people with their credentials, sessions and invitations, and tokens of programs. They are
 * never on the log or in files. Secret tokens and passwords are stored only as digests.
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
   * Writes a record whose version is the stored version plus one, or 1 if none is stored. `stale`: another writer was
   * first, or the record was removed. `taken`: another record of the kind has its key. Durable when it resolves, and
   * visible to every later read in any process.
   */
  replace(record: PeopleRecord): Promise<'done' | 'stale' | 'taken'>;
  /** Whether it was there. */
  remove(kind: PeopleKind, id: string): Promise<boolean>;
  /** Removes all records of a kind that belong to a person, but this one; answers how many. */
  removeOf(kind: PeopleKind, of: string, but?: string): Promise<number>;
  /** Removes at most so many that ended before this time; answers how many. */
  removeEnded(before: Instant, limit: number): Promise<number>;
};
