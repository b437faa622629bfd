import { jobBodyOf, jobPageOf } from '@carillon/contracts';
import type { Job } from '@carillon/domain';
import type { z } from 'zod';
import type { JobKind, JobKindPorts, JobWorker } from './kind.ts';
import { backup } from './kinds/backup.ts';
import { dismissReceipts, redriveDeadLetters } from './kinds/dead-letters.ts';
import { cancelDeliveries, dismissDeliveries, resendDeliveries } from './kinds/deliveries.ts';
import { promotion } from './kinds/promotion.ts';

/** All kinds of jobs. */
export const JOB_KINDS: readonly [JobKind, ...JobKind[]] = [
  resendDeliveries,
  cancelDeliveries,
  dismissDeliveries,
  redriveDeadLetters,
  dismissReceipts,
  promotion,
  backup,
];

const [first, ...others] = JOB_KINDS;
export const JOB_ACTIONS = [first.action, ...others.map(({ action }) => action)] as const;

const parameters: z.ZodRawShape = Object.fromEntries(
  JOB_KINDS.flatMap((kind) => Object.entries(kind.parameters.partial().shape)),
);
export const jobBody = jobBodyOf(JOB_ACTIONS, parameters);
export const jobPage = jobPageOf(jobBody);

/** Returns the kind of a job. Undefined if a later release wrote the job. */
export const kindOf = ({ work }: Pick<Job, 'work'>): JobKind | undefined =>
  JOB_KINDS.find(({ action }) => action === work.action);

/** Returns the worker of a job of this kind. */
export const workerOf = (job: Job, kind: JobKind, ports: JobKindPorts): JobWorker =>
  kind.do({ job, parameters: kind.parameters.parse(job.work), by: `${job.byName} in ${job.id}` }, ports);
