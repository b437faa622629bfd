import type { Job, JobState } from '@carillon/domain/jobs';
import type { Instant, JobId } from '@carillon/kernel';

export type JobFilter = {
  readonly workspace?: string;
  /** Matches jobs in any of these states. An empty list matches nothing. */
  readonly states?: readonly JobState[];
  readonly actions?: readonly string[];
};

/**
 * Long actions: one document each, written by compare-and-set, and the list of its items, which never changes. Writes are durable
 * when they resolve, and every read that begins afterwards sees them, in any process. When one rejects, it may have happened.
 */
export type JobStore = {
  /** Inserts a job with its items in one write. `taken`: a job with this id exists and stays unchanged. */
  insert(job: Job, items: readonly string[]): Promise<'done' | 'taken'>;
  get(id: JobId): Promise<Job | null>;
  /** In the order in which they were given; empty where there is no such job. */
  items(id: JobId): Promise<readonly string[]>;
  /** Compare-and-set: replaces the job of `next.id` if its version is `next.version - 1`. */
  replace(next: Job): Promise<'done' | 'stale'>;
  /** Jobs of these actions that have not ended, the oldest first. Defaults to all actions. */
  unfinished(limit: number, actions?: readonly string[]): Promise<readonly Job[]>;
  /** Newest first, in an order that no write changes; `cursor` is the `next` of the page before. */
  list(
    filter: JobFilter,
    limit: number,
    cursor?: string,
  ): Promise<{ readonly items: readonly Job[]; readonly next: string | null }>;
  /** Removes at most so many that ended before this time, with their items; answers how many. */
  removeEnded(before: Instant, limit: number): Promise<number>;
};
