import type { AuditAction } from '@carillon/domain/audit';
import type { Job, JobFailure } from '@carillon/domain/jobs';
import { ERRORS, isCarillonError, type ErrorCode } from '@carillon/kernel';
import { forEachConcurrently } from '@carillon/stages';
import type { FastifyRequest } from 'fastify';
import type { z } from 'zod';
import type { Permission } from '../access/permission.ts';
import type { PromotePorts } from '../drafts/promote.ts';
import type { ControlPorts } from '../ports.ts';
import type { RedrivePorts } from '../redriving.ts';

/** The ports that kinds of jobs use, to choose items and to work on them. */
export type JobKindPorts = PromotePorts &
  RedrivePorts &
  Pick<
    ControlPorts,
    | 'backup'
    | 'checkpoints'
    | 'compileRule'
    | 'consents'
    | 'deadLettersKept'
    | 'drafts'
    | 'erasing'
    | 'erasures'
    | 'jobs'
    | 'ledger'
    | 'people'
    | 'readModels'
    | 'runChild'
    | 'runSealer'
    | 'runs'
    | 'suppressions'
    | 'slice'
    | 'watch'
  >;

/** The request that starts a job. */
export type JobStart<Body> = {
  readonly request: FastifyRequest;
  /** The workspace in the path. Empty for a path without one. */
  readonly workspace: string;
  readonly body: Body;
};

/** The items of a new job and what else it was asked for. */
export type JobChoice<Parameters> = {
  /** Null for a job of the deployment. */
  readonly workspace: string | null;
  readonly items: readonly string[];
  readonly parameters: Parameters;
};

/** A job whose items a runner works on. */
export type JobRun<Parameters> = {
  readonly job: Job;
  readonly parameters: Parameters;
  /** Author and job as one text, such as `ada in job_…`. What an item changes carries it, so that a repeated item is recognized. */
  readonly by: string;
};

/** Abort reason of `stop` when a job is cancelled or its author loses their rights. No other worker continues the item. */
export class JobCancelled extends Error {}

/**
 * Works on items and resolves to one result per item, in their order: null for a done item. Repeating an item must change
 * nothing, because a job that lost its runner repeats up to a batch. Rejects while a store or the log is unavailable; the runner
 * then tries the batch again. `stop` is aborted when the job is cancelled, its author lost their rights, its lease cannot be renewed, or
 * the runner ends. A worker whose items take seconds ignores it, or resolves to the results of the first items; one whose item takes
 * minutes ends the item and rejects. If the lease cannot be renewed, the reason of `stop` is the error of the store.
 */
export type JobWorker = (items: readonly string[], stop: AbortSignal) => Promise<readonly (JobFailure | null)[]>;

/**
 * Each lane has its own concurrency, so that long jobs do not delay `short` ones. `child`: items run in a child
 * process, one at a time. `paced`: a job limits its items per second, and jobs of one kind run in sequence per
 * workspace, oldest first. Both react to a cancel within a second; `short` jobs within 5 s.
 */
export type JobLane = 'short' | 'paced' | 'child';

/** A kind of job. Its start route, work and presentation are derived from this value. */
export type JobKind<Body extends z.ZodType = z.ZodType, Parameters extends z.ZodObject = z.ZodObject> = {
  /** Public name, in `Job.action`. */
  readonly action: string;
  /** Needed to start the job, to cancel it, and for each of its batches. Any one permission of a list is enough. */
  readonly permission: Permission | readonly Permission[];
  /** Action of the audit record that each item gets. */
  readonly audit: AuditAction;
  /** The fields of a job besides its items. All are text. */
  readonly parameters: Parameters;
  /** Defaults to `short`. */
  readonly lane?: JobLane;
  /** Left out together with `choose` if a route of another file starts the job. */
  readonly start?: {
    readonly path: string;
    readonly operationId: string;
    readonly tags: readonly string[];
    readonly summary: string;
    readonly body: Body;
    readonly problems?: readonly ErrorCode[];
  };
  choose?(start: JobStart<z.infer<Body>>, ports: JobKindPorts): Promise<JobChoice<z.infer<Parameters>>>;
  do(run: JobRun<z.infer<Parameters>>, ports: JobKindPorts): JobWorker;
  /** Defaults to none: a job of this kind cannot be undone. */
  readonly undo?: {
    /** Action of the audit record that each item gets. */
    readonly audit: AuditAction;
    /**
     * Undoes the effects of `do` on items. Runs as a job of the same kind over the items of the ended job. Up to one
     * batch of them was never worked on, and stays as it is.
     */
    do(run: JobRun<z.infer<Parameters>>, ports: JobKindPorts): JobWorker;
  };
  /** Returns the audit action of one item, for job kinds whose items cause different actions. Defaults to `audit`. */
  auditOf?(item: string, ports: Pick<JobKindPorts, 'readModels'>): Promise<AuditAction>;
  /** Returns the name of an item for audit and failures if the item itself holds personal data. Defaults to the item. */
  nameOf?(item: string, job: Pick<Job, 'workspace'>, ids: Pick<JobKindPorts['ids'], 'keyed'>): string;
  /** Workspaces besides the job's own in which the author needs the permission. Defaults to none. */
  otherWorkspaces?(parameters: z.infer<Parameters>): readonly string[];
};

/** Returns the kind unchanged. Infers the types of body and parameters, which the methods of the kind then see. */
export const jobKind = <Body extends z.ZodType, Parameters extends z.ZodObject>(
  kind: JobKind<Body, Parameters>,
): JobKind<Body, Parameters> => kind;

/** Concurrent items of one job. */
const CONCURRENCY = 8;

/**
 * Returns a worker that does each item by itself. An item that throws fails alone, unless the error is transient. `nameOf` returns the
 * name of an item in its failure and in the log.
 */
export function eachItem(
  { watch }: Pick<JobKindPorts, 'watch'>,
  work: (item: string) => Promise<unknown>,
  nameOf: (item: string) => string = (item) => item,
): JobWorker {
  return async (items) => {
    const results = new Map<string, JobFailure | null>();
    await forEachConcurrently(items, CONCURRENCY, async (item) => {
      try {
        await work(item);
        results.set(item, null);
      } catch (error) {
        if (isTransient(error)) throw error;
        results.set(item, failureOf(nameOf(item), error, watch));
      }
    });
    return items.map((item) => results.get(item) ?? null);
  };
}

/** Returns true if a retry may succeed. */
export const isTransient = (error: unknown): boolean => isCarillonError(error) && ERRORS[error.code].status === 503;

/** Returns the failure of an item. Reports an error that the item is not to blame for. */
export function failureOf(item: string, error: unknown, watch: JobKindPorts['watch']): JobFailure {
  if (!isCarillonError(error)) watch.trouble(`an item of a job, ${item}`, error);
  const { code, detail } = isCarillonError(error)
    ? error
    : { code: 'internal', detail: 'internal error; the log of the control role has the details' };
  return { item, code, detail };
}
