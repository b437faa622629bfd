import type { Instant } from '@carillon/kernel';
import { integer, text, type Collection, type Documents } from '@carillon/ports';
import { readAll, writeNext } from './documents.ts';

export type SavedSearch = {
  readonly id: string;
  readonly version: number;
  readonly workspace: string;
  readonly name: string;
  readonly query: string;
  readonly createdAt: Instant;
};

const SAVED_SEARCHES: Collection<SavedSearch> = {
  name: 'saved_searches',
  key: ['id'],
  version: { field: 'version', kind: 'counter' },
  fields: {
    id: text(({ id }) => id),
    version: integer(({ version }) => version),
    workspace: text(({ workspace }) => workspace),
    name: text(({ name }) => name),
    createdAt: integer(({ createdAt }) => createdAt),
  },
  unique: { title: ['workspace', 'name'] },
  indexes: { newest: { by: ['workspace', 'createdAt', '_id'] } },
};

function create(documents: Documents) {
  const searches = documents.collection(SAVED_SEARCHES);
  return {
    /** `stale`: the search was changed or removed. `taken`: another search of the workspace has its name. */
    put: (search: SavedSearch) => writeNext(searches, search),
    named: (workspace: string, name: string) => searches.findUnique('title', [workspace, name]),
    /** Newest first. */
    list: (workspace: string) => readAll(searches, { index: 'newest', where: { workspace } }),
  };
}

export const savedSearches = { collections: [SAVED_SEARCHES], create };
