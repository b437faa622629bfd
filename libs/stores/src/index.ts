import type { CollectionShape, Documents, DocumentStores } from '@carillon/ports';
import { auditSeals } from './audit-seals.ts';
import { jobs } from './jobs.ts';
import { secretStore } from './secrets.ts';

/** All stores that are written once, by their names in `DocumentStores`. */
const STORES = { auditSeals, jobs, secretStore };

/** Collections of all stores: what a backend makes when it is opened. */
export const COLLECTIONS: readonly CollectionShape[] = Object.values(STORES).flatMap<CollectionShape>(
  ({ collections }) => collections,
);

export const createStores = (documents: Documents): DocumentStores => ({
  auditSeals: auditSeals.create(documents),
  jobs: jobs.create(documents),
  secretStore: secretStore.create(documents),
});
