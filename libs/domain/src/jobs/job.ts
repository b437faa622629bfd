import type { Duration, Instant, JobId } from '@carillon/kernel';
import type { AuditSource } from '../audit/record.ts';
import { SYSTEM_ACTOR, type Actor } from '../people/actor.ts';

/** Work of a job on each of its items: the kind of the job, and its parameters. */
export type JobWork = { readonly action: string; readonly [parameter: string]: string };

/** `failed`: it ended, and no item succeeded. `done`: it ended, and items may have failed. */
export const JOB_STATES = ['waiting', 'running', 'done', 'cancelled', 'failed'] as const;
export type JobState = (typeof JOB_STATES)[number];

/** Why a job was cancelled without a request. `rights_lost`: its author no longer has the permission. */
export const JOB_CANCEL_CAUSES = ['rights_lost'] as const;
export type JobCancelCause = (typeof JOB_CANCEL_CAUSES)[number];

export type JobFailure = {
  readonly item: string;
  /** A code of the table of errors. */
  readonly code: string;
  readonly detail: string;
};

/** A long action: a list of items that was fixed when it began, and how far it is. */
export type Job = {
  readonly id: JobId;
  /** Null: the deployment's. */
  readonly workspace: string | null;
  readonly work: JobWork;
  readonly by: Actor;
  /** Author as one text, for the history of a delivery. */
  readonly byName: string;
  readonly from: AuditSource;
  readonly requestId: string;
  readonly state: JobState;
  /** How many items there are. */
  readonly of: number;
  /** Items that were done; those that failed are not among them. */
  readonly done: number;
  readonly failed: number;
  /** The first that failed, at most {@link FAILURES_KEPT}. */
  readonly failures: readonly JobFailure[];
  readonly createdAt: Instant;
  readonly startedAt: Instant | null;
  readonly updatedAt: Instant;
  readonly endedAt: Instant | null;
  /** Person who requested the cancellation. */
  readonly cancelledBy: Actor | null;
  /** Cause of a cancellation without a request. Absent if a person requested it, or if the job is not cancelled. */
  readonly cancelledBecause?: JobCancelCause;
  /** Runner that works on the job. No other runner may until `leaseUntil`. */
  readonly holder: string | null;
  readonly leaseUntil: Instant | null;
  /** Grows by one with every write; compare-and-set goes by it. */
  readonly version: number;
};

export const FAILURES_KEPT = 100;
/**
 * Maximum items of one job: about as many as one request can read from the ledger, and more than a person looks
 * through.
 */
export const MAX_JOB_ITEMS = 10_000;
/** Ended jobs are kept so long. */
export const JOBS_KEPT: Duration = 30 * 24 * 3_600_000;

export const hasEnded = ({ endedAt }: Job): boolean => endedAt !== null;
/** Returns the index of the first unprocessed item. */
export const nextItem = ({ done, failed }: Job): number => done + failed;

export function newJob(
  facts: Pick<Job, 'id' | 'workspace' | 'work' | 'by' | 'byName' | 'from' | 'requestId' | 'of'>,
  now: Instant,
): Job {
  return {
    ...facts,
    state: 'waiting',
    done: 0,
    failed: 0,
    failures: [],
    createdAt: now,
    startedAt: null,
    updatedAt: now,
    endedAt: null,
    cancelledBy: null,
    holder: null,
    leaseUntil: null,
    version: 1,
  };
}

/** Returns true if a runner may take the job, because it has no holder, or because its holder's lease has ended. */
export const isFree = (job: Job, now: Instant): boolean =>
  !hasEnded(job) && (job.leaseUntil === null || job.leaseUntil <= now);

export const taken = (job: Job, holder: string, now: Instant, until: Instant): Job => ({
  ...job,
  state: 'running',
  startedAt: job.startedAt ?? now,
  updatedAt: now,
  holder,
  leaseUntil: until,
  version: job.version + 1,
});

/** Releases the job of a stopping runner for the next one. */
export const givenBack = (job: Job, now: Instant): Job => ({
  ...job,
  updatedAt: now,
  holder: null,
  leaseUntil: null,
  version: job.version + 1,
});

/**
 * Counts the next items in order; null stands for a done item. The job ends with the last item, or if it was cancelled.
 */
export function reported(
  job: Job,
  results: readonly (JobFailure | null)[],
  now: Instant,
  leaseUntil: Instant | null,
): Job {
  const failures = results.filter((one) => one !== null);
  const counted: Job = {
    ...job,
    done: job.done + results.length - failures.length,
    failed: job.failed + failures.length,
    failures: [...job.failures, ...failures].slice(0, FAILURES_KEPT),
    updatedAt: now,
    leaseUntil,
    version: job.version + 1,
  };
  if (nextItem(counted) >= counted.of) {
    return ended(counted, counted.failed > 0 && counted.done === 0 ? 'failed' : 'done', now);
  }
  return job.cancelledBy === null ? counted : ended(counted, 'cancelled', now);
}

const ended = (job: Job, state: JobState, now: Instant): Job => ({
  ...job,
  state,
  endedAt: now,
  holder: null,
  leaseUntil: null,
});

/**
 * Requests the end of a job: at once if nobody works on it, else after the running items. Finished items stay. Returns
 * null if the job has ended, or if its end was already requested.
 */
export function cancelled(job: Job, by: Actor, now: Instant): Job | null {
  if (hasEnded(job) || job.cancelledBy !== null) return null;
  const wished: Job = { ...job, cancelledBy: by, updatedAt: now, version: job.version + 1 };
  return isFree(job, now) ? ended(wished, 'cancelled', now) : wished;
}

/** Ends between two batches, by no wish: the reason goes with the job. */
export const cancelledBySystem = (job: Job, cancelledBecause: JobCancelCause, now: Instant): Job =>
  ended(
    { ...job, cancelledBy: SYSTEM_ACTOR, cancelledBecause, updatedAt: now, version: job.version + 1 },
    'cancelled',
    now,
  );
