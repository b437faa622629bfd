import type { Draft, ResourceRef } from '@carillon/domain/configuration';

/** Drafts that people have not published: one document per resource, written by compare-and-set. */
export type DraftStore = {
  find(ref: ResourceRef): Promise<Draft | null>;
  /**
   * Compare-and-set: writes the draft if the stored draft has the revision `before`, or if none is stored and `before`
   * is null. Resolves to `stale` if another writer was first. Durable when it resolves, and visible to every later
   * `find` in any process. If it rejects, it may have happened; the stored revision identifies the writer.
   */
  replace(next: Draft, before: string | null): Promise<'done' | 'stale'>;
  /**
   * Takes the draft of this revision away. `stale`: it has another one, and stays. A draft that is not there is `done`: a
   * repetition after a lost answer is one too.
   */
  remove(ref: ResourceRef, revision: string): Promise<'done' | 'stale'>;
  /** How many drafts a workspace has, and how many bytes they have together as JSON, roughly. Reads no body. */
  held(workspace: string): Promise<{ readonly drafts: number; readonly bytes: number }>;
  /** The revisions of all drafts of a workspace, in any order. Reads no body. No two savings share a revision. */
  revisions(workspace: string): Promise<readonly string[]>;
  /** All drafts of a workspace, or of all, in an order that no write changes. */
  list(
    workspace: string | undefined,
    limit: number,
    cursor?: string,
  ): Promise<{ readonly items: readonly Draft[]; readonly next: string | null }>;
};
