import type { Erasure } from '@carillon/domain/erasures';
import type { DocumentPage } from './documents.ts';

/** The erasures of the deployment. They are never removed, because `restore` applies them to backups of any age. */
export type ErasureStore = {
  /** Resolves to `taken` if there is an erasure of this id. */
  insert(erasure: Erasure): Promise<'done' | 'taken'>;
  get(id: string): Promise<Erasure | null>;
  /** Writes an erasure whose version is one more than the stored one's. */
  replace(next: Erasure): Promise<'done' | 'stale'>;
  /** Erasures of a workspace and of all workspaces, or all of them, newest first. */
  list(workspace: string | undefined, limit: number, cursor?: string): Promise<DocumentPage<Erasure>>;
};
