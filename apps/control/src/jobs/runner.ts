import {
  cancelledBySystem,
  givenBack,
  hasEnded,
  isFree,
  JOBS_KEPT,
  nextItem,
  reported,
  taken,
  type Job,
  type JobFailure,
} from '@carillon/domain/jobs';
import type { Duration, Instant, JobId } from '@carillon/kernel';
import { pause } from '@carillon/runtime';
import type { ControlPorts } from '../ports.ts';
import { createJobAudit, isRefusal } from './job-audit.ts';
import { kindOf, workerOf } from './kinds.ts';
import type { JobKind, JobKindPorts, JobWorker } from './kind.ts';
import { mayContinue } from './rights.ts';

/** Another runner takes a job over so long after its holder was last heard of. */
const LEASE: Duration = 15_000;
/** Items between two writes of a job's progress. A crash repeats at most as many. */
export const BATCH_SIZE = 40;
/** Jobs that one process works on at once; any other waits for its turn. */
const CONCURRENCY = 4;
/** So many of them are of one workspace, or of the deployment: others find a place however long its jobs are. */
const CONCURRENCY_PER_WORKSPACE = 2;
const MAX_UNFINISHED = 100;
const REMOVAL_BATCH_SIZE = 100;
const REMOVING_EVERY: Duration = 3_600_000;

export type JobRunnerPorts = JobKindPorts & Pick<ControlPorts, 'jobs'>;

export type JobRunner = {
  /** Takes jobs that nobody works on, and removes what ended long ago. Does not wait for the jobs. */
  round(): Promise<void>;
  /** Resolves when no job is under way in this process. */
  idle(): Promise<void>;
  /** Ends after the items that are under way; whoever comes next goes on from there. */
  end(): Promise<void>;
};

/**
 * Works on jobs. Whoever holds the lease of a job does its items in their order and writes how far it is, each time over the version that
 * it knows: two that both think so for a moment do the same items, and each item once, for what is done names the job. Before each batch
 * whoever began it must still be allowed to: else the job ends there.
 */
export function createJobRunner(ports: JobRunnerPorts, holder: string): JobRunner {
  const { jobs, clock, watch } = ports;
  const audit = createJobAudit(ports);
  const underWay = new Map<JobId, { readonly workspace: Job['workspace']; readonly working: Promise<void> }>();
  const isFull = (workspace: Job['workspace']): boolean =>
    underWay.size >= CONCURRENCY ||
    [...underWay.values()].filter((one) => one.workspace === workspace).length >= CONCURRENCY_PER_WORKSPACE;
  const idle = async (): Promise<void> => {
    await Promise.all([...underWay.values()].map(({ working }) => working));
  };
  const ending = new AbortController();
  let removedAt: Instant | null = null;

  async function take(job: Job, kind: JobKind): Promise<void> {
    const now = clock.now();
    const held = taken(job, holder, now, now + LEASE);
    if ((await jobs.replace(held)) === 'stale') return;
    let newest: Job = held;
    try {
      const items = await jobs.items(job.id);
      const work = workerOf(held, kind, ports);
      let tellsRefusals = !held.failures.some(isRefusal);
      while (!hasEnded(newest) && !ending.signal.aborted) {
        // Whoever held it before died after the wish.
        if (newest.cancelledBy !== null)
          return void (await write(newest, (one) => reported(one, [], clock.now(), null)));
        if (!(await mayContinue(newest, kind, ports)))
          return void (await write(newest, (one) => cancelledBySystem(one, 'rights_lost', clock.now())));
        // Stores may answer without leaving this turn of the event loop.
        if (ports.slice.isExpired()) await ports.slice.yield();
        const batch = items.slice(nextItem(newest), nextItem(newest) + BATCH_SIZE);
        const { results, job: kept } = await workWithLease(newest, () => work(batch));
        if (!results) return;
        await audit.recordBatch(kept, kind, { items: batch, results, tellsRefusals });
        tellsRefusals &&= !results.some(isRefusal);
        const written = await write(kept, (one) => {
          const at = clock.now();
          return reported(one, results, at, at + LEASE);
        });
        if (!written) return;
        newest = written;
      }
    } catch (error) {
      watch.trouble(`work on job ${job.id}`, error);
    }
    // What failed may pass, and this runner may be about to stop: nobody has to wait for the lease to run out.
    if (!hasEnded(newest)) await write(newest, (one) => givenBack(one, clock.now())).catch(() => undefined);
  }

  /** Writes a step over whatever somebody else changed meanwhile; null: the job is not ours any more. Its end is on the audit first. */
  async function write(job: Job, step: (newest: Job) => Job): Promise<Job | null> {
    for (let known: Job | null = job; known; known = await jobs.get(job.id)) {
      if (hasEnded(known) || known.holder !== holder || nextItem(known) !== nextItem(job)) return null;
      const next = step(known);
      if (hasEnded(next)) await audit.recordEnd(next);
      if ((await jobs.replace(next)) === 'done') return next;
    }
    return null;
  }

  /** Some items take longer than a lease: it is renewed while they do. */
  async function workWithLease(
    job: Job,
    work: () => ReturnType<JobWorker>,
  ): Promise<{ readonly results: readonly (JobFailure | null)[] | null; readonly job: Job }> {
    const settled = new AbortController();
    const working = work().finally(() => settled.abort());
    let held: Job | null = job;
    for (;;) {
      await Promise.race([working, pause(LEASE / 3, settled.signal)]);
      if (settled.signal.aborted) return { results: held && (await working), job: held ?? job };
      if (held)
        held = await write(held, (one) => ({ ...one, leaseUntil: clock.now() + LEASE, version: one.version + 1 }));
    }
  }

  return {
    async round() {
      const now = clock.now();
      const hasRoom = underWay.size < CONCURRENCY && !ending.signal.aborted;
      const unfinished = hasRoom ? await jobs.unfinished(MAX_UNFINISHED) : [];
      for (const job of unfinished.filter((one) => isFree(one, now) && !underWay.has(one.id))) {
        const kind = kindOf(job);
        // A control process of a later release knows the kind.
        if (!kind || isFull(job.workspace)) continue;
        const working = take(job, kind)
          .catch((error: unknown) => watch.trouble(`take job ${job.id}`, error))
          .finally(() => underWay.delete(job.id));
        underWay.set(job.id, { workspace: job.workspace, working });
      }
      if (removedAt !== null && Math.abs(now - removedAt) < REMOVING_EVERY) return;
      await jobs.removeEnded(now - JOBS_KEPT, REMOVAL_BATCH_SIZE);
      removedAt = now;
    },
    idle,
    async end() {
      ending.abort();
      await idle();
    },
  };
}
