import type { ActorBody, JobBody } from '@carillon/contracts';
import { JOBS_KEPT, type Job, type JobWork } from '@carillon/domain/jobs';
import type { Actor } from '@carillon/domain/people';
import { formatInstant, type Instant } from '@carillon/kernel';
import { canUndo } from './kinds.ts';

const timeOrNull = (at: Instant | null): string | null => (at === null ? null : formatInstant(at));

export async function showJob(job: Job, show: (actor: Actor) => Promise<ActorBody>): Promise<JobBody> {
  const { id, workspace, work, state, of, done, failed, failures, endedAt } = job;
  return {
    id,
    workspace,
    action: work.action,
    state,
    of,
    done,
    failed,
    failures: failures.map((one) => ({ ...one })),
    parameters: parametersOf(work),
    created_at: formatInstant(job.createdAt),
    created_by: await show(job.by),
    started_at: timeOrNull(job.startedAt),
    updated_at: formatInstant(job.updatedAt),
    ended_at: timeOrNull(endedAt),
    can_undo: canUndo(job),
    cancelled_by: job.cancelledBy && (await show(job.cancelledBy)),
    cancelled_because: job.cancelledBecause ?? null,
    kept_until: timeOrNull(endedAt === null ? null : endedAt + JOBS_KEPT),
  };
}

function parametersOf(work: JobWork): JobBody['parameters'] {
  const { action: _action, ...parameters } = work;
  return parameters;
}
