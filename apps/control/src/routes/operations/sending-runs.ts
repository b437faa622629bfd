import { runSendRequest } from '@carillon/contracts';
import { z } from 'zod';
import { jobBody, runStopBody } from '../../jobs/kinds.ts';
import { showJob } from '../../jobs/shown.ts';
import type { RoutePorts } from '../../ports.ts';
import { showingActors } from '../../resources/shown.ts';
import { findComparison } from '../../runs/find-run.ts';
import { selectionFields } from '../../runs/selection.ts';
import { startSending, type StartSendingPorts } from '../../runs/start-sending.ts';
import { stopSending, type StopSendingPorts } from '../../runs/stop-sending.ts';
import { noBody, withId, type ApiServer } from '../app.ts';

type SendingPorts = StartSendingPorts & StopSendingPorts & Pick<RoutePorts, 'people'>;

/** Sends the missing messages of a run, and stops sending them. */
export function sendingRunRoutes(app: ApiServer, ports: SendingPorts): void {
  app.post(
    '/v1/workspaces/:workspace/runs/:id/send',
    {
      config: {
        permission: 'operate',
        audit: 'run.send',
        answers: ['location'],
        problems: ['not_found', 'run_unfinished', 'not_published', 'conflict', 'wrong_state'],
      },
      schema: {
        operationId: 'sendMissingMessages',
        tags: ['Runs'],
        summary:
          'Sends the missing messages of a published comparison, as a job, if they have not changed since they were read. Nobody is notified twice',
        params: withId,
        body: z.strictObject({ ...selectionFields, ...runSendRequest.shape }),
        response: { 202: jobBody },
      },
    },
    async (request, reply) => {
      const { run } = await findComparison(request.params, ports);
      const job = await startSending(request, run, request.body, ports);
      reply.code(202).header('location', `/v1/workspaces/${run.workspace}/jobs/${job.id}`);
      return showJob(job, showingActors(ports));
    },
  );
  app.post(
    '/v1/workspaces/:workspace/runs/:id/stop',
    {
      config: { permission: 'operate', audit: 'run.stop', problems: ['not_found', 'wrong_state', 'conflict'] },
      schema: {
        operationId: 'stopMissingMessages',
        tags: ['Runs'],
        summary: 'Ends the jobs that send missing messages of a comparison, and cancels what still waits, as jobs',
        params: withId,
        body: noBody,
        response: { 202: runStopBody },
      },
    },
    async (request, reply) => {
      const { run } = await findComparison(request.params, ports);
      const { undoing, waitingLookups, uncountedLookups } = await stopSending(request, run, ports);
      reply.code(202);
      const show = showingActors(ports);
      return {
        jobs: await Promise.all(undoing.map((job) => showJob(job, show))),
        waiting_lookups: waitingLookups,
        uncounted_lookups: uncountedLookups,
      };
    },
  );
}
