import type { Instant } from '@carillon/kernel';
import type { AnyCollection, Documents, DocumentStores } from '@carillon/ports';
import { auditSeals } from './audit-seals.ts';
import { drafts } from './drafts.ts';
import { jobs } from './jobs.ts';
import { keptAnswers } from './kept-answers.ts';
import { people } from './people.ts';
import { secretStore } from './secrets.ts';

/** All stores that are written once, by their names in `DocumentStores`. */
const STORES = { auditSeals, drafts, jobs, keptAnswers, people, secretStore };

/** Collections of all stores: what a backend makes when it is opened. */
export const COLLECTIONS: readonly AnyCollection[] = Object.values(STORES).flatMap<AnyCollection>(
  ({ collections }) => collections,
);

export const createStores = (documents: Documents): DocumentStores => ({
  auditSeals: auditSeals.create(documents),
  drafts: drafts.create(documents),
  jobs: jobs.create(documents),
  keptAnswers: keptAnswers.create(documents),
  people: people.create(documents),
  secretStore: secretStore.create(documents),
});

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
