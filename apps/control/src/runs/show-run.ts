import type { ActorBody, RunBody, RunCountsBody, RunRowBody } from '@carillon/contracts';
import { JOBS_KEPT, type Job } from '@carillon/domain/jobs';
import { slotToLookUp, type Row, type Run, type RunCounts } from '@carillon/domain/runs';
import { formatInstant, type Duration, type Instant } from '@carillon/kernel';
import { describeRun, describeRunNotes, describeRunWarning, describeSlotState } from '@carillon/insight';
import type { Actor } from '@carillon/domain/people';
import type { RowDetails } from './row-details.ts';

/** The start of a run stores its job within this time, or never: the process ended between the two writes. */
const START_TIMEOUT: Duration = 60_000;

type RunStatus = Pick<Job, 'state' | 'endedAt'> & Pick<Run, 'reason'>;

/** Returns state, end and reason of a run. State and end are those of its job. */
function statusOf(run: Run, job: Job | null, now: Instant): RunStatus {
  if (job) return { state: job.state, endedAt: job.endedAt, reason: run.reason };
  const endedAt = run.createdAt + START_TIMEOUT;
  if (now < endedAt) return { state: 'waiting', endedAt: null, reason: null };
  const detail = 'the control role ended before the run could begin: start it again';
  return { state: 'failed', endedAt, reason: run.reason ?? { code: 'internal', detail } };
}

/** Returns the body of a run at `now`. */
export async function showRun(
  run: Run,
  job: Job | null,
  now: Instant,
  show: (actor: Actor) => Promise<ActorBody>,
): Promise<RunBody> {
  const { state, endedAt, reason } = statusOf(run, job, now);
  return {
    id: run.id,
    workspace: run.workspace,
    kind: run.kind,
    state,
    from: formatInstant(run.from),
    to: formatInstant(run.to),
    log_starts_at: run.logStartsAt === null ? null : formatInstant(run.logStartsAt),
    before: run.before,
    published: run.published,
    changes: run.changes.map(({ ref, based_on: basedOn, body, revision }) => ({
      kind: ref.kind,
      name: ref.name,
      action: body === null ? ('delete' as const) : basedOn === null ? ('create' as const) : ('update' as const),
      revision,
    })),
    notifications: [...run.notifications],
    not_compared: run.notCompared.map(({ kind, name }) => ({ kind, name })),
    progress: { ...run.progress },
    counts: run.counts && showCounts(run.counts),
    sentence: describeRun(run),
    warning: describeRunWarning(run),
    notes: [...describeRunNotes(run)],
    checksum: run.checksum,
    reason: reason && { ...reason },
    job: run.job,
    created_by: await show(run.by),
    created_at: formatInstant(run.createdAt),
    ended_at: endedAt === null ? null : formatInstant(endedAt),
    kept_until: endedAt === null ? null : formatInstant(endedAt + JOBS_KEPT),
  };
}

function showCounts({ read, rows }: RunCounts): RunCountsBody {
  return {
    events: read.events,
    needs_lookup: read.needsLookup,
    no_address: { ...read.noAddress },
    rule_errors: { ...read.ruleErrors },
    unreadable: read.unreadable,
    past_retention: read.pastRetention,
    differences: rows && { ...rows.differences },
    slot_states: rows && structuredClone(rows.slotStates),
    people: rows && { ...rows.people },
    notified_people: rows && { ...rows.notifiedPeople },
    by_rule: (rows?.byRule ?? []).map((counted) => ({ ...counted })),
    by_day: (rows?.byDay ?? []).map((counted) => ({ ...counted })),
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
  person,
  before,
  after,
});
