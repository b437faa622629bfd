import { jobBodyOf, jobPageOf, runStopBodyOf } from '@carillon/contracts';
import type { AuditAction } from '@carillon/domain/audit';
import { hasEnded, type Job } from '@carillon/domain/jobs';
import { z } from 'zod';
import { runJob } from '../runs/run-job.ts';
import { RUN_KINDS } from '../runs/run-kinds.ts';
import type { JobKind, JobKindPorts, JobLane, JobWorker } from './kind.ts';
import { backup } from './kinds/backup.ts';
import { allowConsents } from './kinds/consents.ts';
import { dismissReceipts, redriveDeadLetters } from './kinds/dead-letters.ts';
import { cancelDeliveries, dismissDeliveries, resendDeliveries } from './kinds/deliveries.ts';
import { erasePerson } from './kinds/erase-person.ts';
import { promotion } from './kinds/promotion.ts';
import { sendMissing } from './kinds/send-missing.ts';
import { removeSuppressions } from './kinds/suppressions.ts';

/** All kinds of jobs. */
export const JOB_KINDS: readonly [JobKind, ...JobKind[]] = [
  resendDeliveries,
  cancelDeliveries,
  dismissDeliveries,
  redriveDeadLetters,
  dismissReceipts,
  promotion,
  backup,
  allowConsents,
  removeSuppressions,
  ...RUN_KINDS.map(runJob),
  sendMissing,
  erasePerson,
];

const [first, ...others] = JOB_KINDS;
export const JOB_ACTIONS = [first.action, ...others.map(({ action }) => action)] as const;

const LANES: readonly JobLane[] = ['short', 'paced', 'child'];
/** The actions of each lane. */
export const ACTIONS_OF_LANES = LANES.map((lane) =>
  JOB_KINDS.filter((kind) => (kind.lane ?? 'short') === lane).map(({ action }) => action),
);

const parameters: z.ZodRawShape = {
  ...Object.fromEntries(JOB_KINDS.flatMap((kind) => Object.entries(kind.parameters.partial().shape))),
  undoes: z.string().optional().describe('The job that this one undoes'),
};
export const jobBody = jobBodyOf(JOB_ACTIONS, parameters);
export const jobPage = jobPageOf(jobBody);
export const runStopBody = runStopBodyOf(jobBody);

/** Returns the kind of a job. Undefined if a later release wrote the job. */
export const kindOf = ({ work }: Pick<Job, 'work'>): JobKind | undefined =>
  JOB_KINDS.find(({ action }) => action === work.action);

/** Returns true for a job that undoes another one. */
const isUndo = ({ work }: Pick<Job, 'work'>): boolean => work['undoes'] !== undefined;

/** Returns the lane of a job. An undo is in lane `short`, so that it does not wait for paced jobs. */
export const laneOf = (job: Pick<Job, 'work'>, { lane = 'short' }: JobKind): JobLane => (isUndo(job) ? 'short' : lane);

/** Returns true if the job has ended and what it did can be taken back. An undo cannot be undone: start a new job. */
export const canUndo = (job: Job): boolean => hasEnded(job) && !isUndo(job) && kindOf(job)?.undo !== undefined;

/** Returns the worker of a job of this kind. */
export function workerOf(job: Job, kind: JobKind, ports: JobKindPorts): JobWorker {
  const run = { job, parameters: kind.parameters.parse(job.work), by: `${job.byName} in ${job.id}` };
  return isUndo(job) && kind.undo ? kind.undo.do(run, ports) : kind.do(run, ports);
}

/** Returns the action of the audit record that each item of a job gets. */
export const itemAudit = (job: Job, kind: JobKind): AuditAction =>
  isUndo(job) && kind.undo ? kind.undo.audit : kind.audit;
