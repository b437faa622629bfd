import type { SentToPerson } from '@carillon/domain/cadence';

/** Messages sent to people that a frequency limit may count: one document per person of a workspace. */
export type LimitStore = {
  find(workspace: string, person: string): Promise<SentToPerson | null>;
  /**
   * Compare-and-set: writes the document if the stored document has the revision `before`, or if none is stored and
   * `before` is null. Resolves to `stale` if another writer was first. Durable when it resolves, and visible to every
   * later `find` in any process. If it rejects, it may have happened; the stored revision identifies the writer.
   */
  replace(next: SentToPerson, before: string | null): Promise<'done' | 'stale'>;
  /** All documents of a workspace, or of all, in an order that no write changes. */
  list(
    workspace: string | undefined,
    limit: number,
    cursor?: string,
  ): Promise<{ readonly items: readonly SentToPerson[]; readonly next: string | null }>;
};
