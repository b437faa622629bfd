import { cancelled, givenBack, type Job } from '@carillon/domain/jobs';
import { SYSTEM_ACTOR } from '@carillon/domain/people';
import { integer, text, type Collection, type Documents, type JobStore } from '@carillon/ports';

const JOBS: Collection<Job> = {
  name: 'jobs',
  key: ['id'],
  version: { field: 'version', kind: 'counter' },
  fields: {
    id: text(({ id }) => id),
    version: integer(({ version }) => version),
    workspace: text(({ workspace }) => workspace),
    action: text(({ work }) => work.action),
    state: text(({ state }) => state),
    createdAt: integer(({ createdAt }) => createdAt),
    openSince: integer(({ endedAt, createdAt }) => (endedAt === null ? createdAt : undefined), {
      read: 'created_at',
      present: 'ended_at IS NULL',
    }),
    endedAt: integer(({ endedAt }) => endedAt ?? undefined),
  },
  parts: ['items'],
  indexes: {
    newest: { by: ['createdAt', '_id'] },
    workspace: { by: ['workspace', 'createdAt', '_id'] },
    open: { by: ['openSince', '_id'], present: ['openSince'] },
    ended: { by: ['endedAt'], present: ['endedAt'] },
  },
  expiry: { field: 'endedAt' },
  restore: {
    // How far a job came after the backup is not in it, and going on from there could notify people again.
    settle(job, now) {
      if (job.endedAt !== null) return job;
      return cancelled({ ...givenBack(job, now), cancelledBy: null }, SYSTEM_ACTOR, now) ?? job;
    },
  },
};

const inOneOf = (values: readonly string[] | undefined) => values && { in: values };

function create(documents: Documents): JobStore {
  const jobs = documents.collection(JOBS);
  return {
    async insert(job, items) {
      return (await jobs.write(job, null, { items: JSON.stringify(items) })) === 'done' ? 'done' : 'taken';
    },
    get: (id) => jobs.get([id]),
    async items(id) {
      return JSON.parse((await jobs.part([id], 'items')) ?? '[]') as string[];
    },
    async replace(next) {
      return (await jobs.write(next, next.version - 1)) === 'done' ? 'done' : 'stale';
    },
    async unfinished(limit, actions) {
      const where = { action: inOneOf(actions) };
      return (await jobs.page({ index: 'open', where, order: 'ascending' }, limit)).items;
    },
    list: ({ workspace, states, actions }, limit, cursor) =>
      jobs.page(
        { index: 'newest', where: { workspace, state: inOneOf(states), action: inOneOf(actions) } },
        limit,
        cursor,
      ),
    removeEnded: (before, limit) => jobs.removeExpired(before, limit),
  };
}

export const jobs = { collections: [JOBS], create };
