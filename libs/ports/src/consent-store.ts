import type { Consents } from '@carillon/domain/consent';
import type { Instant } from '@carillon/kernel';

/** What people want no more: one document for each person of a workspace, written by compare-and-set. */
export type ConsentStore = {
  /** The documents that there are of these names, in one question; in no order. */
  find(workspace: string, persons: readonly string[]): Promise<readonly Consents[]>;
  /**
   * Writes a document whose version is one more than the stored one's; 1 where there is none yet. `stale`: somebody was
   * faster. Durable when it resolves, and every `find` that begins afterwards sees it, in any process.
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
