import { BASE_GONE, type Draft, type ResourceRef } from '@carillon/domain/configuration';
import { pagesOf, type Move } from './move.ts';
import { integer, text, type Collection, type Documents, type DraftStore } from '@carillon/ports';

const DRAFTS: Collection<Draft> = {
  name: 'drafts',
  key: ['workspace', 'kind', 'name'],
  version: { field: 'revision', kind: 'token' },
  fields: {
    workspace: text(({ ref }) => ref.workspace),
    kind: text(({ ref }) => ref.kind),
    name: text(({ ref }) => ref.name),
    revision: text(({ revision }) => revision),
    bytes: integer((draft) => new TextEncoder().encode(JSON.stringify(draft)).length, {
      read: 'octet_length(document)',
    }),
  },
  indexes: { workspace: { by: ['workspace', '_id'] } },
  restore: {
    // The later draft of a resource wins. A configuration number above the backup's will name another configuration.
    carryOver(theirs, ours, configurations) {
      if (ours && (ours.revision === theirs.revision || ours.at > theirs.at)) return null;
      const isGone = theirs.basedOn !== null && theirs.basedOn >= configurations;
      return isGone ? { ...theirs, basedOn: BASE_GONE } : theirs;
    },
  },
};

const keyOf = ({ workspace, kind, name }: ResourceRef) => [workspace, kind, name];

function create(documents: Documents): DraftStore {
  const drafts = documents.collection(DRAFTS);
  return {
    find: (ref) => drafts.get(keyOf(ref)),
    async replace(next, before) {
      return (await drafts.write(next, before)) === 'done' ? 'done' : 'stale';
    },
    async remove(ref, revision) {
      return (await drafts.remove(keyOf(ref), revision)) === 'stale' ? 'stale' : 'done';
    },
    async held(workspace) {
      const found = await drafts.select({ workspace }, ['bytes']);
      return { drafts: found.length, bytes: found.reduce((sum, { bytes }) => sum + Number(bytes ?? 0), 0) };
    },
    async revisions(workspace) {
      return (await drafts.select({ workspace }, ['revision'])).map(({ revision }) => revision as string);
    },
    list: (workspace, limit, cursor) => drafts.page({ index: 'workspace', where: { workspace } }, limit, cursor),
  };
}

const move: Move<DraftStore, Draft> = {
  after: 'configuration',
  read: (store) => pagesOf((limit, cursor) => store.list(undefined, limit, cursor)),
  write: async (store, draft) => (await store.replace(draft, null)) === 'done',
  renumber(draft, shift) {
    const isNumber = draft.basedOn !== null && draft.basedOn !== BASE_GONE;
    return isNumber ? { ...draft, basedOn: draft.basedOn + shift } : draft;
  },
};

export const drafts = { collections: [DRAFTS], create, moves: { draft: move } };
