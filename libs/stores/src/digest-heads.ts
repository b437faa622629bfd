import { headDueAt, type DigestHead } from '@carillon/domain/digests';
import { integer, text, type Collection, type DigestHeads, type Documents } from '@carillon/ports';
import { writeNext } from './documents.ts';

const DIGEST_HEADS: Collection<DigestHead> = {
  name: 'digest_heads',
  key: ['id'],
  version: { field: 'version', kind: 'counter' },
  fields: {
    id: text(({ id }) => id),
    workspace: text(({ workspace }) => workspace),
    version: integer(({ version }) => version),
    dueAt: integer((head) => headDueAt(head) ?? undefined),
  },
  indexes: {
    due: { by: ['workspace', 'dueAt'], present: ['dueAt'] },
    next: { by: ['dueAt'], present: ['dueAt'] },
  },
};

function create(documents: Documents): DigestHeads {
  const heads = documents.collection(DIGEST_HEADS);
  return {
    get: (id) => heads.get([id]),
    async replace(next) {
      return (await writeNext(heads, next)) === 'done' ? 'done' : 'stale';
    },
    async dueWorkspaces(now) {
      const workspaces = await heads.distinct({ index: 'due', where: { dueAt: { until: now } } });
      return workspaces as readonly string[];
    },
    async due(workspace, now, limit) {
      const where = { workspace, dueAt: { until: now } };
      return (await heads.page({ index: 'due', where, order: 'ascending' }, limit)).items;
    },
    async nextDueAt(until) {
      const where = { dueAt: { until } };
      const [next] = (await heads.page({ index: 'next', where, order: 'ascending' }, 1)).items;
      return next ? headDueAt(next) : null;
    },
    list: (limit, cursor) => heads.page({}, limit, cursor),
  };
}

export const digestHeads = { collections: [DIGEST_HEADS], create };
