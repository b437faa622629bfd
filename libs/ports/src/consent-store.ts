import type { Consents } from '@carillon/domain/consent';
import type { Instant } from '@carillon/kernel';

/** Opt-outs of people: one document per person of a workspace, written by compare-and-set. */
export type ConsentStore = {
  /** The documents that there are of these names, in one question; in no order. */
  find(workspace: string, persons: readonly string[]): Promise<readonly Consents[]>;
  /** The documents that there are of people with these keyed hashes, as the log names them. */
  findHashed(workspace: string, hashes: readonly string[]): Promise<readonly Consents[]>;
  /**
   * Writes a document whose version is the stored version plus one, or 1 if none is stored. Resolves to `stale` if
   * another writer was first. Durable when it resolves, and visible to every later `find` in any process.
   */
  replace(next: Consents): Promise<'done' | 'stale'>;
  /** Documents with words that are not known to be on the log and were last written before this time. */
  unpublished(before: Instant, limit: number): Promise<readonly Consents[]>;
  /** All documents of a workspace, or of all, in an order that no write changes. */
  list(
    workspace: string | undefined,
    limit: number,
    cursor?: string,
  ): Promise<{ readonly items: readonly Consents[]; readonly next: string | null }>;
};
