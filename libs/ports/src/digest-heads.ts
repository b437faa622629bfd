import type { DigestHead } from '@carillon/domain/digests';
import type { Instant } from '@carillon/kernel';

/** The windows that items are collected in: one document for each head, written by compare-and-set, and kept for ever. */
export type DigestHeads = {
  get(id: string): Promise<DigestHead | null>;
  /**
   * Writes a document whose version is the stored version plus one, or 1 if none is stored. Resolves to `stale` if
   * another writer was first. Durable when it resolves. If it rejects, it may have happened: read again.
   */
  replace(next: DigestHead): Promise<'done' | 'stale'>;
  /** Workspaces with a window that is to be closed at `now`, or is closed and not emptied. */
  dueWorkspaces(now: Instant): Promise<readonly string[]>;
  /** Returns heads whose window is due, longest due first. */
  due(workspace: string, now: Instant, limit: number): Promise<readonly DigestHead[]>;
  /** When the earliest of those that are due at `until` or earlier is due, if any. Reads nothing that is due later. */
  nextDueAt(until: Instant): Promise<Instant | null>;
  /** All heads, in an order that no write changes. */
  list(
    limit: number,
    cursor?: string,
  ): Promise<{ readonly items: readonly DigestHead[]; readonly next: string | null }>;
};
