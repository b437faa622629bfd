import type { ActorBody, RunBody, RunMissingBody, RunRowBody } from '@carillon/contracts';
import { JOBS_KEPT, type Job, type JobCancelCause } from '@carillon/domain/jobs';
import { slotToLookUp, type Row, type Run } from '@carillon/domain/runs';
import { CarillonError, formatInstant, type Duration, type Instant } from '@carillon/kernel';
import { describeSlotState } from '@carillon/insight';
import type { Actor } from '@carillon/domain/people';
import type { Missing } from './missing.ts';
import type { RowDetails } from './row-details.ts';
import { kindOfRun } from './run-kinds.ts';

/**
 * Milliseconds after the creation of a run within which its job is stored. If there is no job by then, the process
 * ended between the two writes.
 */
const START_TIMEOUT: Duration = 60_000;

/** Why a run failed or was cancelled. */
type RunReason = NonNullable<RunBody['reason']>;
/** Fields that only some kinds of runs have. */
const NO_FIELDS = {
  before: null,
  changes: [],
  notifications: [],
  not_compared: [],
  counts: null,
  find: null,
  verified: null,
  warning: null,
};

type RunStatus = Pick<Job, 'state' | 'endedAt'> & { readonly reason: RunReason | null };

/** Returns state, end and reason of a run. They are those of its job. */
function statusOf(run: Run, job: Job | null, now: Instant): RunStatus {
  if (job) return { state: job.state, endedAt: job.endedAt, reason: reasonOf(run, job) };
  const endedAt = run.createdAt + START_TIMEOUT;
  if (isStarting(run, now)) return { state: 'waiting', endedAt: null, reason: null };
  const detail = 'the control role ended before the run could begin: start it again';
  return { state: 'failed', endedAt, reason: { code: 'internal', detail } };
}

/** Returns true if a run without a job is so new that its start may still store the job. */
export const isStarting = ({ createdAt }: Pick<Run, 'createdAt'>, now: Instant): boolean =>
  now < createdAt + START_TIMEOUT;

/** Returns true if a run is kept no longer. Its job is deleted first, then its rows in steps, and the run at the end. */
export const isBeingRemoved = (run: Pick<Run, 'createdAt'>, job: Job | null, now: Instant): boolean =>
  job === null && now >= run.createdAt + JOBS_KEPT;

const CANCEL_DETAILS: Readonly<Record<JobCancelCause | 'cancelled' | 'restored', (noun: string) => string>> = {
  cancelled: (noun) => `somebody cancelled the ${noun}: start it again for a result`,
  restored: (noun) => `a backup was restored that was made before the ${noun} ended: start it again for a result`,
  rights_lost: (noun) =>
    `the person who started the ${noun} may no longer start one: somebody with the permission has to start it`,
};

/** The one item of the job is the run, so its failure is the reason of the run. */
function reasonOf(run: Run, { state, failures: [failure], cancelledBecause, cancelledBy }: Job): RunReason | null {
  const code = cancelledBecause ?? 'cancelled';
  const isRestored = code === 'cancelled' && cancelledBy?.kind === 'system';
  if (state === 'cancelled')
    return { code, detail: CANCEL_DETAILS[isRestored ? 'restored' : code](kindOfRun(run).noun) };
  return state === 'failed' && failure ? { code: failure.code, detail: failure.detail } : null;
}

/** Throws CarillonError `run_unfinished` unless the run is done. Only then are its rows complete. */
export function refuseUnfinished(run: Run, job: Job | null, now: Instant): void {
  const { state } = statusOf(run, job, now);
  if (state === 'done') return;
  const fix = state === 'waiting' || state === 'running' ? 'wait until it is done' : 'start it again';
  throw new CarillonError('run_unfinished', `${run.id} is ${state}, and only a run that is done has messages: ${fix}`);
}

/** Returns the body of a run at `now`. */
export async function showRun(
  run: Run,
  job: Job | null,
  now: Instant,
  show: (actor: Actor) => Promise<ActorBody>,
): Promise<RunBody> {
  const { state, endedAt, reason } = statusOf(run, job, now);
  const isDone = state === 'done';
  return {
    id: run.id,
    workspace: run.workspace,
    kind: run.kind,
    state,
    from: formatInstant(run.from),
    to: formatInstant(run.to),
    log_starts_at: run.logStartsAt === null ? null : formatInstant(run.logStartsAt),
    published: run.published,
    progress: { ...run.progress },
    ...NO_FIELDS,
    ...kindOfRun(run).show(run, isDone),
    checksum: isDone ? run.checksum : null,
    reason,
    job: run.job,
    created_by: await show(run.by),
    created_at: formatInstant(run.createdAt),
    ended_at: endedAt === null ? null : formatInstant(endedAt),
    kept_until: endedAt === null ? null : formatInstant(endedAt + JOBS_KEPT),
  };
}

export const showRow = (row: Row, { person, before, after }: RowDetails): RunRowBody => ({
  slot: row.slot,
  difference: row.difference,
  slot_state: row.slotState,
  slot_state_words: describeSlotState(row),
  delivery_id: row.slotState === 'none' ? null : slotToLookUp(row),
  rule: row.rule,
  channel: row.channel,
  event: row.eventId,
  at: formatInstant(row.at),
  day: row.day,
  cold: row.isCold ?? false,
  person,
  before,
  after,
});

/** Returns the body of a look. `rows` is null for a caller who may not see names. */
export const showMissing = (
  { id }: Pick<Run, 'id'>,
  { count, messages, people, byRule, needsLookup, oldest, newest, tooOld, checksum }: Missing,
  { since, rows }: { readonly since: Instant; readonly rows: RunMissingBody['rows'] },
): RunMissingBody => ({
  run: id,
  count,
  checksum,
  since: formatInstant(since),
  messages: messages.length,
  people,
  by_rule: byRule.map((counted) => ({ ...counted })),
  needs_lookup: { events: needsLookup.events, user_ids: needsLookup.userIds },
  oldest: oldest === null ? null : formatInstant(oldest),
  newest: newest === null ? null : formatInstant(newest),
  too_old: tooOld,
  rows,
});
