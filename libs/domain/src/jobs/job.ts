import type { Duration, Instant, JobId } from '@carillon/kernel';
import type { AuditSource } from '../audit/record.ts';
import { SYSTEM_ACTOR, type Actor } from '../people/actor.ts';

/** What a job does to each of its items: the name of its kind, and what else it was asked for. */
export type JobWork = { readonly action: string; readonly [parameter: string]: string };

/** `failed`: it ended, and no item succeeded. `done`: it ended, and items may have failed. */
export const JOB_STATES = ['waiting', 'running', 'done', 'cancelled', 'failed'] as const;
export type JobState = (typeof JOB_STATES)[number];

/** Why a job is cancelled that nobody wished to end. `rights_lost`: whoever began it may no longer do what it does. */
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
  /** The same as one word, for the story of a delivery. */
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
  /** Who wished that it ends early. */
  readonly cancelledBy: Actor | null;
  /** Left out: somebody wished it, or it is not cancelled. */
  readonly cancelledBecause?: JobCancelCause;
  /** The runner that works on it, until when nobody else does. */
  readonly holder: string | null;
  readonly leaseUntil: Instant | null;
  /** Grows by one with every write; compare-and-set goes by it. */
  readonly version: number;
};

export const FAILURES_KEPT = 100;
/** Items of one job: about as many as a ledger reads within one request, and more than anybody looks through. */
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

/** Whether a runner may take it: nobody holds it, or whoever did has not been heard of until its lease ran out. */
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

/** A runner that stops leaves it to whoever comes next. */
export const givenBack = (job: Job, now: Instant): Job => ({
  ...job,
  updatedAt: now,
  holder: null,
  leaseUntil: null,
  version: job.version + 1,
});

/** Counts the next items, in their order: null where one was done. It ends with the last one, and where somebody cancelled it. */
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
 * The wish that it ends early: at once where nobody works on it, else after the items that are under way. What is done stays
 * done. Null: it has ended, or somebody wished it already.
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
