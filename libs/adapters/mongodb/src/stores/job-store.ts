import type { Job } from '@carillon/domain';
import type { JobStore } from '@carillon/ports';
import type { Attempt } from '../attempts.ts';
import type { Collections } from '../collections.ts';
import { compareAndSet, insertOnce, writeToken } from '../compare-and-set.ts';
import type { JobDocument } from '../documents.ts';
import { ComeAgain } from '../failures.ts';
import { afterCursor, equalities, filterOf, pageOf, sortOf, type Order } from '../pages.ts';

const BY_TIME: Order = { createdAt: 'number', _id: 'string' };
/** The items are long, and only whoever works on the job wants them. */
const WITHOUT_ITEMS = { projection: { items: 0 } } as const;

const read = ({ body }: Pick<JobDocument, 'body'>): Job => JSON.parse(body) as Job;
const fieldsOf = (job: Job) => ({
  state: job.state,
  openSince: job.endedAt === null ? job.createdAt : undefined,
  endedAt: job.endedAt ?? undefined,
  body: JSON.stringify(job),
});
const oneOf = (field: string, values: readonly string[] | undefined) => (values ? { [field]: { $in: values } } : {});

export function createJobStore({ jobs }: Collections, attempt: Attempt): JobStore {
  return {
    insert(job, items) {
      const written = writeToken();
      const given = Object.entries(fieldsOf(job)).filter(([, value]) => value !== undefined);
      // The fields that have no value are those that a document may lack.
      const document = {
        _id: job.id,
        workspace: job.workspace,
        action: job.work.action,
        createdAt: job.createdAt,
        version: job.version,
        written,
        items: JSON.stringify(items),
        ...(Object.fromEntries(given) as ReturnType<typeof fieldsOf>),
      } as JobDocument;
      return attempt(async () => {
        if (await insertOnce(jobs, document)) return 'done';
        // An earlier try of ours whose answer was lost may be what stands there, and may have been written on since.
        const found = await jobs.findOne({ _id: job.id }, { projection: { written: 1 } });
        if (!found) throw new ComeAgain('a write is not yet held by a majority');
        return found.written === written ? 'done' : 'taken';
      });
    },
    async get(id) {
      const found = await attempt(() => jobs.findOne({ _id: id }, WITHOUT_ITEMS));
      return found && read(found);
    },
    async items(id) {
      const found = await attempt(() => jobs.findOne({ _id: id }, { projection: { items: 1 } }));
      return found ? (JSON.parse(found.items) as string[]) : [];
    },
    replace: (next) => compareAndSet(jobs, attempt, next.id, next.version, fieldsOf(next)),
    async unfinished(limit) {
      const sort = { openSince: 1, _id: 1 } as const;
      const found = await attempt(() =>
        jobs.find({ openSince: { $exists: true } }, { ...WITHOUT_ITEMS, sort, limit }).toArray(),
      );
      return found.map(read);
    },
    async list({ workspace, states, actions }, limit, cursor) {
      const wanted = filterOf<JobDocument>(
        equalities({ workspace }),
        oneOf('state', states),
        oneOf('action', actions),
        afterCursor(cursor, BY_TIME),
      );
      const found = await attempt(() =>
        jobs.find<JobDocument>(wanted, { ...WITHOUT_ITEMS, sort: sortOf(BY_TIME), limit: limit + 1 }).toArray(),
      );
      return pageOf(found, limit, read, BY_TIME);
    },
    async removeEnded(before, limit) {
      const ended = await attempt(() =>
        jobs.find({ endedAt: { $lt: before } }, { projection: { _id: 1 }, sort: { endedAt: 1 }, limit }).toArray(),
      );
      if (ended.length === 0) return 0;
      const ids = ended.map(({ _id }) => _id);
      return (await attempt(() => jobs.deleteMany({ _id: { $in: ids } }))).deletedCount;
    },
  };
}
