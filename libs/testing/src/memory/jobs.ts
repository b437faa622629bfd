import type { Job } from '@carillon/domain';
import type { JobId } from '@carillon/kernel';
import type { JobStore } from '@carillon/ports';
import { pageOf } from './pages.ts';
import type { Wire } from './wire.ts';

/** Long actions with their items. */
export function createMemoryJobs() {
  const stored = new Map<JobId, { readonly job: Job; readonly items: readonly string[] }>();
  const all = (): readonly Job[] => [...stored.values()].map(({ job }) => job);
  return {
    connect: (wire: Wire): JobStore => ({
      insert: (job, items) => {
        const insert = (): 'done' | 'taken' => {
          if (stored.has(job.id)) return 'taken';
          stored.set(job.id, { job: structuredClone(job), items: [...items] });
          return 'done';
        };
        return wire.ask('jobs.insert', insert, { writes: true, about: () => job.id });
      },
      get: (id) => wire.ask('jobs.get', () => stored.get(id)?.job ?? null),
      items: (id) => wire.ask('jobs.items', () => stored.get(id)?.items ?? []),
      replace: (next) => {
        const replace = (): 'done' | 'stale' => {
          const found = stored.get(next.id);
          if (found?.job.version !== next.version - 1) return 'stale';
          stored.set(next.id, { ...found, job: structuredClone(next) });
          return 'done';
        };
        return wire.ask('jobs.replace', replace, { writes: true, about: () => `${next.id} v${next.version}` });
      },
      unfinished: (limit) =>
        wire.ask('jobs.unfinished', () =>
          all()
            .filter(({ endedAt }) => endedAt === null)
            .toSorted((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1))
            .slice(0, limit),
        ),
      list: ({ workspace, states, actions }, limit, cursor) =>
        wire.ask('jobs.list', () =>
          pageOf(
            all().filter(
              (job) =>
                (workspace === undefined || job.workspace === workspace) &&
                (states?.includes(job.state) ?? true) &&
                (actions?.includes(job.work.action) ?? true),
            ),
            ({ createdAt, id }) => [createdAt, id],
            (job) => job,
            limit,
            cursor,
          ),
        ),
      removeEnded: (before, limit) => {
        const remove = (): number => {
          const gone = all()
            .filter(({ endedAt }) => endedAt !== null && endedAt < before)
            .slice(0, limit);
          for (const { id } of gone) stored.delete(id);
          return gone.length;
        };
        return wire.ask('jobs.removeEnded', remove, { writes: true });
      },
    }),
  };
}
