import type { Erasure } from '@carillon/domain/erasures';
import { integer, text, type Collection, type Documents, type ErasureStore } from '@carillon/ports';
import { writeNext } from './documents.ts';
import { pagesOf, type Move } from './move.ts';

/** Value of the field `workspace` for all workspaces. */
const EVERY_WORKSPACE = '-';

const ERASURES: Collection<Erasure> = {
  name: 'erasures',
  key: ['id'],
  version: { field: 'version', kind: 'counter' },
  fields: {
    id: text(({ id }) => id),
    version: integer(({ version }) => version),
    workspace: text(({ workspace }) => workspace ?? EVERY_WORKSPACE),
    requestedAt: integer(({ requestedAt }) => requestedAt),
  },
  indexes: {
    workspace: { by: ['workspace', 'requestedAt', '_id'] },
    all: { by: ['requestedAt', '_id'] },
  },
};

function create(documents: Documents): ErasureStore {
  const erasures = documents.collection(ERASURES);
  return {
    async insert(erasure) {
      return (await erasures.write(erasure, null)) === 'done' ? 'done' : 'taken';
    },
    get: (id) => erasures.get([id]),
    async replace(next) {
      return (await writeNext(erasures, next)) === 'done' ? 'done' : 'stale';
    },
    list(workspace, limit, cursor) {
      if (workspace === undefined) return erasures.page({ index: 'all' }, limit, cursor);
      const where = { workspace: { in: [workspace, EVERY_WORKSPACE] } };
      return erasures.page({ index: 'all', where }, limit, cursor);
    },
  };
}

const move: Move<ErasureStore, Erasure> = {
  read: (store) => pagesOf((limit, cursor) => store.list(undefined, limit, cursor)),
  write: async (store, moved) => (await store.insert(moved)) === 'done',
};

export const erasures = { collections: [ERASURES], create, moves: { erasures: move } };
