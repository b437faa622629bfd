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
import { removeRuns } from '../runs/remove-runs.ts';
import { removeTexts } from '../runs/remove-texts.ts';
import { createJobAudit, isRefusal } from './job-audit.ts';
import { ACTIONS_OF_LANES, kindOf, laneOf, workerOf } from './kinds.ts';
import { JobCancelled, type JobKind, type JobKindPorts, type JobLane, type JobWorker } from './kind.ts';
import { mayContinue } from './rights.ts';

/** Another runner takes a job over so long after its holder was last heard of. */
const LEASE: Duration = 15_000;
const LEASE_RENEWAL: Duration = LEASE / 3;
/** Renewal of a job that has to end within 2 s of its cancel. */
const SHORT_LEASE_RENEWAL: Duration = 1_000;
/** Items between two writes of a job's progress. A crash repeats at most as many. */
export const BATCH_SIZE = 40;
/** Concurrent jobs of a lane per process. */
const CONCURRENCY = 4;
/** Concurrent jobs per workspace, or of the deployment, so that one workspace's long jobs do not block others. */
const CONCURRENCY_PER_WORKSPACE = 2;
/** Jobs of each lane that a round looks at. */
const MAX_UNFINISHED = 100;
const REMOVAL_BATCH_SIZE = 100;
const REMOVING_EVERY: Duration = 3_600_000;

export type JobRunnerPorts = JobKindPorts & Pick<ControlPorts, 'jobs'>;

type JobUnderWay = {
  readonly workspace: Job['workspace'];
  readonly lane: JobLane;
  readonly working: Promise<void>;
};

export type JobRunner = {
  /** Takes jobs without a worker, and removes jobs that ended long ago. Does not wait for the jobs. */
  round(): Promise<void>;
  /** Resolves when no job is under way in this process. */
  idle(): Promise<unknown>;
  /** Ends after the items that are under way; whoever comes next goes on from there. */
  end(): Promise<void>;
};

/** Removes jobs and runs that are kept no longer. Resolves to false if runs are left for the next round. */
async function removeOld(now: Instant, ports: JobRunnerPorts): Promise<boolean> {
  await ports.jobs.removeEnded(now - JOBS_KEPT, REMOVAL_BATCH_SIZE);
  return removeRuns(now, ports);
}

/** Reads each lane apart, because jobs that wait for minutes would leave no room for others. */
async function readUnfinished({ jobs }: Pick<JobRunnerPorts, 'jobs'>): Promise<readonly Job[]> {
  const unfinished: Job[] = [];
  for (const actions of ACTIONS_OF_LANES) unfinished.push(...(await jobs.unfinished(MAX_UNFINISHED, actions)));
  return unfinished;
}

/** Returns true if the job is cancelled or its author has lost their rights. */
const isOver = async (job: Job, kind: JobKind, ports: JobRunnerPorts): Promise<boolean> =>
  job.cancelledBy !== null || !(await mayContinue(job, kind, ports));

/** Returns the time between two renewals of a job's lease. */
const renewalOf = (job: Job, kind: JobKind): Duration =>
  laneOf(job, kind) === 'short' ? LEASE_RENEWAL : SHORT_LEASE_RENEWAL;

/** Returns true if this process has to finish another job before it takes this one. */
function isFull(underWay: readonly JobUnderWay[], job: Job, kind: JobKind): boolean {
  const lane = laneOf(job, kind);
  const others = underWay.filter((other) => other.lane === lane);
  if (lane === 'child') return others.length > 0;
  const ofWorkspace = others.filter((other) => other.workspace === job.workspace);
  return others.length >= CONCURRENCY || ofWorkspace.length >= CONCURRENCY_PER_WORKSPACE;
}

/** Returns true if an older job has to end first. `unfinished` has the oldest job first. */
function waitsForOlder(job: Job, kind: JobKind, unfinished: readonly Job[]): boolean {
  if (laneOf(job, kind) !== 'paced') return false;
  const oldest = unfinished.find(
    (other) =>
      other.workspace === job.workspace && other.work.action === job.work.action && laneOf(other, kind) === 'paced',
  );
  return oldest?.id !== job.id;
}

/**
 * Works on jobs. The holder of a job's lease does its items in order and stores its progress by compare-and-set. If two
 * processes hold the lease for a moment, both do the same items, but each item takes effect once, because its effect
 * names the job. Before each batch the author's permission is checked, and without it the job ends. `isAlone`: no other
 * process works on jobs, so leases of other holders belong to killed processes, and their jobs are taken at once.
 */
export function createJobRunner(ports: JobRunnerPorts, holder: string, isAlone = false): JobRunner {
  const { jobs, clock, watch } = ports;
  const audit = createJobAudit(ports);
  const underWay = new Map<JobId, JobUnderWay>();
  const idle = (): Promise<unknown> => Promise.all([...underWay.values()].map(({ working }) => working));
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
        // The previous holder crashed after the cancel was requested.
        if (newest.cancelledBy !== null)
          return void (await write(newest, (one) => reported(one, [], clock.now(), null)));
        if (!(await mayContinue(newest, kind, ports)))
          return void (await write(newest, (one) => cancelledBySystem(one, 'rights_lost', clock.now())));
        // Stores may answer without leaving this turn of the event loop.
        if (ports.slice.isExpired()) await ports.slice.yield();
        const batch = items.slice(nextItem(newest), nextItem(newest) + BATCH_SIZE);
        const { results, job: kept } = await workWithLease(newest, kind, (stop) => work(batch, stop));
        if (!kept) return;
        newest = kept;
        // A worker that was stopped returns no results. The next round of this loop records why it was stopped.
        if (!results) continue;
        await audit.recordBatch(kept, kind, { items: batch.slice(0, results.length), results, tellsRefusals });
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
    // The failure may be temporary and this runner may be stopping, so the lease is released for others.
    if (!hasEnded(newest)) await write(newest, (one) => givenBack(one, clock.now())).catch(() => undefined);
  }

  /**
   * Applies a step to the newest version of a job, repeating after concurrent writes. Returns null if another process
   * has taken the job over. The end of a job is audited before it is stored.
   */
  async function write(job: Job, step: (newest: Job) => Job): Promise<Job | null> {
    for (let known: Job | null = job; known; known = await jobs.get(job.id)) {
      if (hasEnded(known) || known.holder !== holder || nextItem(known) !== nextItem(job)) return null;
      const next = step(known);
      if (hasEnded(next)) await audit.recordEnd(next);
      if ((await jobs.replace(next)) === 'done') return next;
    }
    return null;
  }

  /**
   * Some items take longer than a lease, so it is renewed while they do. Each renewal also tells the worker to stop if the job was
   * cancelled, its author lost their rights, or another runner has the job. `results` is null if the worker stopped, and `job` if
   * another runner has it.
   */
  async function workWithLease(
    job: Job,
    kind: JobKind,
    work: (stop: AbortSignal) => ReturnType<JobWorker>,
  ): Promise<{ readonly results: readonly (JobFailure | null)[] | null; readonly job: Job | null }> {
    const [settled, stopping] = [new AbortController(), new AbortController()];
    const stop = AbortSignal.any([stopping.signal, ending.signal]);
    const working = work(stop)
      .catch((error: unknown) => {
        if (stop.aborted) return null;
        throw error;
      })
      .finally(() => settled.abort());
    let held: Job | null = job;
    for (;;) {
      await Promise.race([working, pause(renewalOf(job, kind), settled.signal)]);
      if (settled.signal.aborted) return { results: held && (await working), job: held };
      try {
        held &&= await write(held, (one) => ({ ...one, leaseUntil: clock.now() + LEASE, version: one.version + 1 }));
        if (!held) stopping.abort();
        else if (await isOver(held, kind, ports)) stopping.abort(new JobCancelled());
      } catch (error) {
        stopping.abort(error);
        throw error;
      }
    }
  }

  return {
    async round() {
      const now = clock.now();
      const unfinished = ending.signal.aborted ? [] : await readUnfinished(ports);
      for (const job of unfinished.filter((one) => (isAlone || isFree(one, now)) && !underWay.has(one.id))) {
        const kind = kindOf(job);
        // A control process of a later release knows the kind.
        if (!kind || waitsForOlder(job, kind, unfinished) || isFull([...underWay.values()], job, kind)) continue;
        const working = take(job, kind)
          .catch((error: unknown) => watch.trouble(`take job ${job.id}`, error))
          .finally(() => underWay.delete(job.id));
        underWay.set(job.id, { workspace: job.workspace, lane: laneOf(job, kind), working });
      }
      await removeTexts(ports);
      if (removedAt !== null && Math.abs(now - removedAt) < REMOVING_EVERY) return;
      if (await removeOld(now, ports)) removedAt = now;
    },
    idle,
    async end() {
      ending.abort();
      await idle();
    },
  };
}
