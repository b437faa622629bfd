import type { Instant } from '@carillon/kernel';
import type { AnyCollection, BackendStores, Documents } from '@carillon/ports';
import { auditSeals } from './audit-seals.ts';
import { drafts } from './drafts.ts';
import { jobs } from './jobs.ts';
import { keptAnswers } from './kept-answers.ts';
import { people } from './people.ts';
import { secretStore } from './secrets.ts';

/** All stores that are written once, by the names under which the roles get them. */
const STORES = { auditSeals, drafts, jobs, keptAnswers, people, secretStore };

export type DocumentStores = { readonly [Name in keyof typeof STORES]: ReturnType<(typeof STORES)[Name]['create']> };

/** What a backend keeps besides the log, as the roles get it. */
export type Stores = Omit<BackendStores, 'documents'> & DocumentStores;

/** Collections of all stores: what a backend makes when it is opened, and what restore and retention go through. */
export const COLLECTIONS: readonly AnyCollection[] = Object.values(STORES).flatMap<AnyCollection>(
  ({ collections }) => collections,
);

export const createStores = (documents: Documents): DocumentStores =>
  Object.fromEntries(
    Object.entries(STORES).map(([name, { create }]) => [name, create(documents)]),
  ) as unknown as DocumentStores;

const BATCH_SIZE = 1000;

/** Removes the documents that retention does not keep any longer, in small writes. Resolves to the number removed. */
export async function removeExpired(documents: Documents, now: Instant): Promise<number> {
  let removed = 0;
  for (const collection of COLLECTIONS) {
    const { kept } = collection.expiry ?? {};
    if (kept === undefined) continue;
    for (let last = BATCH_SIZE; last === BATCH_SIZE; removed += last) {
      last = await documents.collection(collection).removeExpired(now - kept, BATCH_SIZE);
    }
  }
  return removed;
}
