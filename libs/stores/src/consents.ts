import { takeOver, type Consents } from '@carillon/domain/consent';
import { integer, text, type Collection, type ConsentStore, type Documents } from '@carillon/ports';
import { writeNext } from './documents.ts';
import { pagesOf, type Move } from './move.ts';

const CONSENTS: Collection<Consents> = {
  name: 'consents',
  key: ['workspace', 'person'],
  version: { field: 'version', kind: 'counter' },
  fields: {
    workspace: text(({ workspace }) => workspace),
    person: text(({ person }) => person),
    hash: text(({ hash }) => hash),
    version: integer(({ version }) => version),
    unpublishedSince: integer(({ unpublished, updatedAt }) => (unpublished.length > 0 ? updatedAt : undefined)),
  },
  indexes: {
    unpublished: { by: ['unpublishedSince'], present: ['unpublishedSince'] },
    hash: { by: ['workspace', 'hash'], present: ['hash'] },
    workspace: { by: ['workspace', '_id'] },
    all: { by: ['_id'] },
  },
  sequence: 'sequence',
  // A person who opted out since the backup stays out. The log that knew of it is replaced, so it goes onto the restored one.
  restore: { carryOver: (theirs, ours) => takeOver(ours, theirs) ?? null },
};

function create(documents: Documents): ConsentStore {
  const consents = documents.collection(CONSENTS);
  return {
    find: (workspace, persons) => consents.find(persons.map((person) => [workspace, person])),
    async findHashed(workspace, hashes) {
      const where = { workspace, hash: { in: hashes } };
      const found = await consents.page({ index: 'hash', where }, Math.max(1, hashes.length));
      const named = await consents.find(hashes.map((hash) => [workspace, hash]));
      return [...found.items, ...named];
    },
    async replace(next) {
      return (await writeNext(consents, next)) === 'done' ? 'done' : 'stale';
    },
    async unpublished(before, limit) {
      const where = { unpublishedSince: { before } };
      return (await consents.page({ index: 'unpublished', where, order: 'ascending' }, limit)).items;
    },
    list: (workspace, limit, cursor) =>
      consents.page({ index: workspace === undefined ? 'all' : 'workspace', where: { workspace } }, limit, cursor),
  };
}

const move: Move<ConsentStore, Consents> = {
  read: (store) => pagesOf((limit, cursor) => store.list(undefined, limit, cursor)),
  /** Moved words are unpublished: the sweeper of the delivery role appends them to the log of this deployment. */
  async write(store, moved) {
    for (;;) {
      const [before = null] = await store.find(moved.workspace, [moved.person]);
      const next = takeOver(before, moved);
      if (!next) return false;
      if ((await store.replace(next)) === 'done') return true;
    }
  },
};

export const consents = { collections: [CONSENTS], create, moves: { consents: move } };
