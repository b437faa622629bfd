import type { AuditEntry } from '@carillon/domain/audit';
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
import type { NewRecord } from '@carillon/ports';
import { pause } from '@carillon/runtime';
import { onAudit } from '../audit/audit-log.ts';
import type { ControlPorts } from '../ports.ts';
import { itemAudit, kindOf, workerOf } from './kinds.ts';
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

/** Returns true if an item failed with an internal error. It may have had an effect. */
const mayHaveEffect = ({ code }: JobFailure): boolean => code === 'internal';
/** Whether an item exists and was refused without an effect. */
const isRefusal = (failure: JobFailure | null): failure is JobFailure =>
  failure !== null && failure.code !== 'not_found' && !mayHaveEffect(failure);

export type JobRunnerPorts = JobKindPorts & Pick<ControlPorts, 'jobs'>;

/** Items that a worker is done with. */
type Batch = {
  readonly items: readonly string[];
  readonly results: readonly (JobFailure | null)[];
  /** True until a refused item is on the audit. */
  readonly tellsRefusals: boolean;
};

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
        await tell(kept, kind, { items: batch, results, tellsRefusals });
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
      if (hasEnded(next)) await tellEnd(next);
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

  const entryOf = (job: Job, facts: Pick<AuditEntry, 'id' | 'what' | 'target' | 'outcome' | 'code'>): NewRecord =>
    onAudit(
      {
        kind: 'entry',
        at: clock.now(),
        actor: job.by,
        workspace: job.workspace,
        from: job.from,
        requestId: job.requestId,
        number: null,
        before: null,
        after: null,
        ...facts,
      },
      ports.codecs,
    );

  /**
   * Writes an audit record of each item that was done, or of which a part may have been done, before the item counts. A repetition writes
   * it under the same id. Refused items share one record, whose target is the job, and items that do not exist have none: the audit is kept
   * for ever, and anybody who may begin a job chooses what it names. The job counts and lists them.
   */
  async function tell(job: Job, kind: JobKind, { items, results, tellsRefusals }: Batch): Promise<void> {
    const what = itemAudit(job, kind);
    const records = items.flatMap((item, at) => {
      const failure = results[at] ?? null;
      const name = kind.nameOf?.(item, job, ports.ids);
      // An item that holds personal data is keyed, so that no reader of the audit can find it out by guesses.
      const id = ports.ids.derive('audit', job.id, name === undefined ? item : ports.ids.keyed('audit', item));
      const target = name ?? item;
      if (failure === null) return [entryOf(job, { id, what, target, outcome: 'done', code: null })];
      return mayHaveEffect(failure) ? [entryOf(job, { id, what, target, outcome: 'failed', code: failure.code })] : [];
    });
    const refusal = tellsRefusals ? results.find(isRefusal) : undefined;
    if (refusal) {
      const id = ports.ids.derive('audit', job.id, 'refused items');
      records.push(entryOf(job, { id, what, target: job.id, outcome: 'refused', code: refusal.code }));
    }
    if (records.length > 0) await ports.log.append(records);
  }

  const tellEnd = (job: Job): Promise<unknown> =>
    ports.log.append([
      entryOf(job, {
        id: ports.ids.derive('audit', job.id),
        what: 'job.end',
        target: job.id,
        ...(job.cancelledBecause === undefined
          ? { outcome: job.state === 'failed' ? 'failed' : 'done', code: null }
          : { outcome: 'refused', code: 'forbidden_role' }),
      }),
    ]);

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
