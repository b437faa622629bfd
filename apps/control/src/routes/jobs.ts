import { cancelled, JOB_STATES, type Job } from '@carillon/domain';
import { CarillonError, type JobId } from '@carillon/kernel';
import { z } from 'zod';
import { lacking } from '../access/guard.ts';
import type { Permission } from '../access/permission.ts';
import { principalOf } from '../access/principal.ts';
import { EVERY_WORKSPACE, sightOf, type Sight } from '../access/sight.ts';
import { audited } from '../audit/facts.ts';
import type { JobKind, JobKindPorts } from '../jobs/kind.ts';
import { JOB_ACTIONS, JOB_KINDS, jobBody, jobPage, kindOf } from '../jobs/kinds.ts';
import { showJob } from '../jobs/shown.ts';
import { startJob } from '../jobs/start.ts';
import { shownPage } from '../pages-in-sight.ts';
import type { ControlPorts } from '../ports.ts';
import { showingActors } from '../resources/shown.ts';
import {
  acrossWorkspaces,
  inWorkspace,
  noBody,
  notFound,
  paging,
  someOfWords,
  withIdAcross,
  type ApiServer,
} from './app.ts';

const ANY_OF_THEM = ['operate', 'configure', 'people'] as const satisfies readonly Permission[];

/** A cancel that loses this often is told to whoever asked. */
const TRIES = 20;

const jobFilters = z.strictObject({
  ...paging,
  state: someOfWords('state', JOB_STATES).optional().describe('One state, or several with commas'),
  action: someOfWords('action', JOB_ACTIONS).optional().describe('One action, or several with commas'),
});

type JobRoutePorts = JobKindPorts & Pick<ControlPorts, 'jobs'>;

/** Starts, lists, shows and cancels jobs. Each kind of job has its own start route. */
export function jobRoutes(app: ApiServer, ports: JobRoutePorts): void {
  const { jobs, clock } = ports;

  async function find(sight: Sight, id: string): Promise<Job> {
    const job = await jobs.get(id as JobId);
    if (job && sight.sees(job.workspace)) return job;
    throw notFound(`job ${id}${sight.workspace === undefined ? '' : ` in workspace ${sight.workspace}`}`);
  }

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
      const { limit, cursor, state, action } = request.query;
      const sight = sightOf(request);
      const filter = {
        ...(sight.workspace !== undefined && { workspace: sight.workspace }),
        ...(state !== undefined && { states: state }),
        ...(action !== undefined && { actions: action }),
      };
      const page = await shownPage(
        limit,
        cursor,
        (most, from) => jobs.list(filter, most, from),
        (job) => sight.sees(job.workspace),
      );
      const show = showingActors(ports);
      return { items: await Promise.all(page.items.map((job) => showJob(job, show))), next: page.next };
    },
  );

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
    async (request) => showJob(await find(sightOf(request), request.params.id), showingActors(ports)),
  );

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
      const sight = sightOf(request);
      for (let tries = 0; tries < TRIES; tries += 1) {
        const job = await find(sight, request.params.id);
        const permission = kindOf(job)?.permission;
        if (!permission || !principal.may(permission, job.workspace))
          throw lacking(permission ? [permission] : ANY_OF_THEM);
        if (job.workspace !== null) audited(request, { workspace: job.workspace });
        const next = cancelled(job, principal.actor, clock.now());
        if (!next) {
          const why = job.endedAt === null ? 'it is being cancelled already' : `it has ended: ${job.state}`;
          throw new CarillonError('wrong_state', why);
        }
        if ((await jobs.replace(next)) === 'done') return showJob(next, showingActors(ports));
      }
      throw new CarillonError('conflict', 'it keeps changing; try again');
    },
  );

  for (const kind of JOB_KINDS) startRoute(app, kind, ports);
}

/** Starts a job of one kind. The response is the job, with its address in `Location`. */
function startRoute(app: ApiServer, kind: JobKind, ports: JobRoutePorts): void {
  const { path, body, problems, ...described } = kind.start;
  app.post(
    path,
    {
      config: {
        permission: kind.permission,
        audit: 'job.start',
        answers: ['location'],
        ...(problems && { problems }),
      },
      schema: {
        ...described,
        ...(path.includes(':workspace') && { params: inWorkspace }),
        body,
        response: { 202: jobBody },
      },
    },
    async (request, reply) => {
      const { workspace = '' } = request.params as { readonly workspace?: string };
      const { parameters, ...chosen } = await kind.choose({ request, workspace, body: request.body }, ports);
      const job = await startJob(request, { ...chosen, work: { ...parameters, action: kind.action } }, ports);
      reply.code(202).header('location', `/v1/workspaces/${job.workspace ?? EVERY_WORKSPACE}/jobs/${job.id}`);
      return showJob(job, showingActors(ports));
    },
  );
}
