import { together, type SentToPerson } from '@carillon/domain/cadence';
import { integer, text, type Collection, type Documents, type LimitStore } from '@carillon/ports';
import { pagesOf, type Move } from './move.ts';

const DAY = 86_400_000;

const LIMIT_ENTRIES: Collection<SentToPerson> = {
  name: 'limit_entries',
  key: ['workspace', 'person'],
  version: { field: 'revision', kind: 'token' },
  fields: {
    workspace: text(({ workspace }) => workspace),
    person: text(({ person }) => person),
    revision: text(({ revision }) => revision),
    keptUntil: integer(({ keptUntil }) => keptUntil),
  },
  indexes: {
    keptUntil: { by: ['keptUntil'] },
    workspace: { by: ['workspace', '_id'] },
  },
  expiry: { field: 'keptUntil', kept: DAY },
  restore: {
    // Messages sent since the backup count under limits too.
    carryOver: (theirs, ours) => together(ours, theirs) ?? null,
  },
};

function create(documents: Documents): LimitStore {
  const entries = documents.collection(LIMIT_ENTRIES);
  return {
    find: (workspace, person) => entries.get([workspace, person]),
    async replace(next, before) {
      return (await entries.write(next, before)) === 'done' ? 'done' : 'stale';
    },
    list: (workspace, limit, cursor) => entries.page({ index: 'workspace', where: { workspace } }, limit, cursor),
  };
}

/** Entries of both deployments count, each once. */
async function writeMoved(store: LimitStore, moved: SentToPerson): Promise<boolean> {
  for (;;) {
    const before = await store.find(moved.workspace, moved.person);
    const next = together(before, moved);
    if (!next) return false;
    if ((await store.replace(next, before?.revision ?? null)) === 'done') return true;
  }
}

const move: Move<LimitStore, SentToPerson> = {
  read: (store) => pagesOf((limit, cursor) => store.list(undefined, limit, cursor)),
  write: writeMoved,
};

export const limits = { collections: [LIMIT_ENTRIES], create, moves: { sent: move } };
