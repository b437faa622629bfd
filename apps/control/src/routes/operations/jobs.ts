import type { JobBody } from '@carillon/contracts';
import { cancelled, hasEnded, JOB_STATES, type Job } from '@carillon/domain/jobs';
import { CarillonError, type JobId } from '@carillon/kernel';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { lacking } from '../../access/guard.ts';
import type { Permission } from '../../access/permission.ts';
import { principalOf, type Principal } from '../../access/principal.ts';
import { EVERY_WORKSPACE, visibleScopeOf, type VisibleScope } from '../../access/visible-scope.ts';
import { audited } from '../../audit/facts.ts';
import type { JobKind, JobKindPorts } from '../../jobs/kind.ts';
import { canUndo, JOB_ACTIONS, JOB_KINDS, jobBody, jobPage, kindOf } from '../../jobs/kinds.ts';
import { showJob } from '../../jobs/shown.ts';
import { MAX_CHOICE_BYTES, startJob } from '../../jobs/start.ts';
import { itemsToUndo } from '../../jobs/undo.ts';
import { shownPage } from '../../pages-in-sight.ts';
import type { ControlPorts } from '../../ports.ts';
import { showingActors } from '../../resources/shown.ts';
import {
  acrossWorkspaces,
  inWorkspace,
  noBody,
  notFound,
  paging,
  someOfWords,
  withIdAcross,
  type ApiServer,
} from '../app.ts';

const ANY_OF_THEM = ['operate', 'configure', 'people'] as const satisfies readonly Permission[];

/** Actions of the jobs that name a run. */
const ACTIONS_OF_RUNS = JOB_KINDS.filter(({ parameters }) => 'run' in parameters.shape).map(({ action }) => action);

/** Lost compare-and-sets after which a cancel is refused. */
const TRIES = 20;

const jobFilters = z.strictObject({
  ...paging,
  state: someOfWords('state', JOB_STATES).optional().describe('One state, or several with commas'),
  action: someOfWords('action', JOB_ACTIONS).optional().describe('One action, or several with commas'),
  run: z
    .string()
    .max(100)
    .optional()
    .describe(
      'Only jobs of this comparison: those that compare, send its missing messages, or cancel them. A page may have few jobs and a `next`',
    ),
});

type JobRoutePorts = JobKindPorts & Pick<ControlPorts, 'jobs'>;

/** Starts, lists, shows and cancels jobs. Each kind of job has its own start route. */
export function jobRoutes(app: ApiServer, ports: JobRoutePorts): void {
  listJobsRoute(app, ports);
  readJobRoute(app, ports);
  cancelJobRoute(app, ports);
  undoJobRoute(app, ports);

  for (const kind of JOB_KINDS) startRoute(app, kind, ports);
}

function listJobsRoute(app: ApiServer, ports: JobRoutePorts): void {
  const { jobs } = ports;
  app.get(
    '/v1/workspaces/:workspace/jobs',
    {
      config: { permission: 'read', across: true },
      schema: {
        operationId: 'listJobs',
        tags: ['Jobs'],
        summary: 'Long actions, newest first; of `-` those of the deployment too',
        params: acrossWorkspaces,
        querystring: jobFilters,
        response: { 200: jobPage },
      },
    },
    async (request) => {
      const { limit, cursor, state, action = JOB_ACTIONS, run } = request.query;
      const sight = visibleScopeOf(request);
      const filter = {
        ...(sight.workspace !== undefined && { workspace: sight.workspace }),
        ...(state !== undefined && { states: state }),
        // The response cannot hold jobs of kinds that only a later release knows.
        actions: run === undefined ? action : action.filter((each) => ACTIONS_OF_RUNS.includes(each)),
      };
      const page = await shownPage(
        limit,
        cursor,
        (most, from) => jobs.list(filter, most, from),
        (job) => sight.sees(job.workspace) && (run === undefined || job.work['run'] === run),
      );
      const show = showingActors(ports);
      return { items: await Promise.all(page.items.map((job) => showJob(job, show))), next: page.next };
    },
  );
}

function readJobRoute(app: ApiServer, ports: JobRoutePorts): void {
  app.get(
    '/v1/workspaces/:workspace/jobs/:id',
    {
      config: { permission: 'read', across: true, problems: ['not_found'] },
      schema: {
        operationId: 'readJob',
        tags: ['Jobs'],
        summary: 'A long action: how far it is, and what of it could not be done',
        params: withIdAcross,
        response: { 200: jobBody },
      },
    },
    async (request) => showJob(await findJob(visibleScopeOf(request), request.params.id, ports), showingActors(ports)),
  );
}

function cancelJobRoute(app: ApiServer, ports: JobRoutePorts): void {
  const { jobs, clock } = ports;
  app.post(
    '/v1/workspaces/:workspace/jobs/:id/cancel',
    {
      config: {
        permission: ANY_OF_THEM,
        audit: 'job.cancel',
        across: true,
        problems: ['not_found', 'wrong_state', 'conflict'],
      },
      schema: {
        operationId: 'cancelJob',
        tags: ['Jobs'],
        summary: 'Ends a job after the items that are under way; what is done stays done',
        params: withIdAcross,
        body: noBody,
        response: { 200: jobBody },
      },
    },
    async (request) => {
      const principal = principalOf(request);
      const sight = visibleScopeOf(request);
      for (let tries = 0; tries < TRIES; tries += 1) {
        const job = await findJob(sight, request.params.id, ports);
        requirePermission(principal, job);
        if (job.workspace !== null) audited(request, { workspace: job.workspace });
        const next = cancelled(job, principal.actor, clock.now());
        if (!next) {
          const why = job.endedAt === null ? 'the job is being cancelled already' : `the job has ended: ${job.state}`;
          throw new CarillonError('wrong_state', why);
        }
        if ((await jobs.replace(next)) === 'done') return showJob(next, showingActors(ports));
      }
      throw new CarillonError('conflict', 'the job changed several times meanwhile; try again');
    },
  );
}

function undoJobRoute(app: ApiServer, ports: JobRoutePorts): void {
  app.post(
    '/v1/workspaces/:workspace/jobs/:id/undo',
    {
      config: {
        permission: ANY_OF_THEM,
        audit: 'job.start',
        answers: ['location'],
        across: true,
        problems: ['not_found', 'wrong_state'],
      },
      schema: {
        operationId: 'undoJob',
        tags: ['Jobs'],
        summary: 'Takes back what an ended job did, as another job; what was changed since stays',
        params: withIdAcross,
        body: noBody,
        response: { 202: jobBody },
      },
    },
    async (request, reply) => {
      const job = await findJob(visibleScopeOf(request), request.params.id, ports);
      requirePermission(principalOf(request), job);
      if (!hasEnded(job)) throw new CarillonError('wrong_state', 'the job has not ended: cancel it first');
      if (!canUndo(job)) throw new CarillonError('wrong_state', 'a job of this kind cannot be undone');
      const items = await itemsToUndo(job, ports);
      const work = { ...job.work, undoes: job.id };
      return started(await startJob(request, { workspace: job.workspace, work, items }, ports), reply, ports);
    },
  );
}

async function findJob(sight: VisibleScope, id: string, ports: JobRoutePorts): Promise<Job> {
  const { jobs } = ports;
  const job = await jobs.get(id as JobId);
  if (job && kindOf(job) && sight.sees(job.workspace)) return job;
  throw notFound(`job ${id}${sight.workspace === undefined ? '' : ` in workspace ${sight.workspace}`}`);
}

/** Adds the route that starts jobs of one kind. */
function startRoute(app: ApiServer, kind: JobKind, ports: JobRoutePorts): void {
  const { start } = kind;
  if (!start) return;
  const { path, body, problems, ...described } = start;
  app.post(
    path,
    {
      config: {
        permission: kind.permission,
        audit: 'job.start',
        answers: ['location'],
        ...(problems && { problems }),
      },
      bodyLimit: MAX_CHOICE_BYTES,
      schema: {
        ...described,
        ...(path.includes(':workspace') && { params: inWorkspace }),
        body,
        response: { 202: jobBody },
      },
    },
    async (request, reply) => {
      const { workspace = '' } = request.params as { readonly workspace?: string };
      const choice = await kind.choose?.({ request, workspace, body: request.body }, ports);
      if (!choice) throw new Error(`${kind.action} has a start route and chooses no items`);
      const { parameters, ...chosen } = choice;
      const job = await startJob(request, { ...chosen, work: { ...parameters, action: kind.action } }, ports);
      return started(job, reply, ports);
    },
  );
}

/** Returns the body of a job that was just stored, and sets status and address of the response. */
function started(job: Job, reply: FastifyReply, ports: JobRoutePorts): Promise<JobBody> {
  reply.code(202).header('location', `/v1/workspaces/${job.workspace ?? EVERY_WORKSPACE}/jobs/${job.id}`);
  return showJob(job, showingActors(ports));
}

/** Throws unless the caller may start this kind of job in the job's workspace. */
function requirePermission(principal: Principal, job: Job): void {
  const permission = kindOf(job)?.permission;
  if (permission === undefined) throw lacking(ANY_OF_THEM);
  const needed = [permission].flat();
  if (!needed.some((one) => principal.may(one, job.workspace))) throw lacking(needed);
}
