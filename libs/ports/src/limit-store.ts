import type { SentToPerson } from '@carillon/domain/cadence';

/** What was sent to people, as far as a limit of frequency may count it: one document for each person of a workspace. */
export type LimitStore = {
  find(workspace: string, person: string): Promise<SentToPerson | null>;
  /**
   * Compare-and-set: writes the document if the stored one has the revision `before`; null: if there is none. `stale`:
   * somebody was faster. Durable when it resolves, and every `find` that begins afterwards sees it, in any process. When
   * it rejects, it may have happened: the revision says whose write is there.
   */
  replace(next: SentToPerson, before: string | null): Promise<'done' | 'stale'>;
  /** All documents of a workspace, or of all, in an order that no write changes. */
  list(
    workspace: string | undefined,
    limit: number,
    cursor?: string,
  ): Promise<{ readonly items: readonly SentToPerson[]; readonly next: string | null }>;
};
