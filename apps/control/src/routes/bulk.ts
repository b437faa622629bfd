import {
  backupRequest,
  chosenCountBody,
  chosenIds,
  chosenItems,
  deadLetterCountBody,
  deliveryCountBody,
  jobBody,
  promotionRequest,
} from '@carillon/contracts';
import { MOST_JOB_ITEMS, type Job, type JobWork, type OperatorDecision } from '@carillon/domain';
import { CarillonError } from '@carillon/kernel';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isAbsolute } from 'node:path';
import { z } from 'zod';
import { lacking } from '../access/guard.ts';
import { principalOf } from '../access/principal.ts';
import { EVERY_WORKSPACE, sightOf } from '../access/sight.ts';
import { demandRoomForAll, liveOf, promotedDrafts } from '../drafts/promote.ts';
import { chooseDeadLetters, chooseDeliveries, chooseOf } from '../jobs/choose.ts';
import { showJob } from '../jobs/shown.ts';
import { mustBeExpected, startJob, type JobPorts } from '../jobs/start.ts';
import type { ControlPorts } from '../ports.ts';
import { showingActors } from '../resources/shown.ts';
import { inWorkspace, readRange, timeRange, type ApiServer } from './app.ts';
import { deliveryFilters, readFilter, refuseUnknown, type DeliveryFilters } from './deliveries.ts';

type BulkPorts = JobPorts &
  Pick<ControlPorts, 'ledger' | 'readModels' | 'configuration' | 'people' | 'turns' | 'drafts'>;

const DECISIONS = ['resend', 'cancel', 'dismiss'] as const satisfies readonly OperatorDecision[];
const DONE = { resend: 'sent again', cancel: 'cancelled', dismiss: 'dismissed' } as const;

/** Long actions are begun here, each under its own permission: the answer is the job, which goes on by itself. */
export function bulkRoutes(app: ApiServer, ports: BulkPorts): void {
  deliveryJobs(app, ports);
  deadLetterJobs(app, ports);
  receiptJob(app, ports);
  promotionJob(app, ports);
  backupJob(app, ports);
}

/** Begins a job and answers it, with the address where it is to be looked at. */
async function begin(
  request: FastifyRequest,
  reply: FastifyReply,
  begun: { readonly workspace: string | null; readonly work: JobWork; readonly items: readonly string[] },
  ports: BulkPorts,
) {
  const job: Job = await startJob(request, begun, ports);
  reply.code(202).header('location', `/v1/workspaces/${job.workspace ?? EVERY_WORKSPACE}/jobs/${job.id}`);
  return showJob(job, showingActors(ports));
}

/** One of two ways to say which, and never both. */
function choiceOf<Filter>({
  ids,
  filter,
  expected,
}: {
  readonly ids?: readonly string[] | undefined;
  readonly filter?: Filter | undefined;
  readonly expected?: number | undefined;
}): { readonly ids: readonly string[] } | { readonly filter: Filter; readonly expected: number } {
  const refused = (pointer: string, detail: string): CarillonError =>
    new CarillonError('invalid_request', detail, { pointer });
  if (ids && (filter || expected !== undefined)) {
    throw refused('/ids', 'ids: name them, or send filter with expected; not both');
  }
  if (ids) return { ids };
  if (!filter) throw refused('/ids', 'ids: name what is meant, or send filter with expected');
  if (expected === undefined) {
    throw refused(
      '/expected',
      'expected: say how many were counted (GET …/count), so that no more than those are meant',
    );
  }
  return { filter, expected };
}

function deliveryJobs(app: ApiServer, ports: BulkPorts): void {
  const filter = z.strictObject(deliveryFilters);

  async function chosen(request: FastifyRequest, wanted: DeliveryFilters, decision: OperatorDecision) {
    const found = await chooseDeliveries(readFilter(request, wanted, ports.clock.now()), decision, ports);
    if (found.ids.length === 0) await refuseUnknown(sightOf(request), wanted, ports);
    return found;
  }

  app.get(
    '/v1/workspaces/:workspace/deliveries/count',
    {
      config: { permission: 'read' },
      schema: {
        operationId: 'countDeliveries',
        tags: ['Deliveries'],
        summary:
          'How many deliveries match that an action fits, and to how many people: asked before it is done to all of them',
        params: inWorkspace,
        querystring: z.strictObject({ action: z.enum(DECISIONS), ...deliveryFilters }),
        response: { 200: deliveryCountBody },
      },
    },
    async (request) => {
      const { action, ...wanted } = request.query;
      const { ids, people, byState, more } = await chosen(request, wanted, action);
      return { action, count: ids.length, people, by_state: { ...byState }, more, ceiling: MOST_JOB_ITEMS };
    },
  );

  app.post(
    '/v1/workspaces/:workspace/deliveries/count',
    {
      config: { permission: 'read', audit: false },
      schema: {
        operationId: 'countChosenDeliveries',
        tags: ['Deliveries'],
        summary: 'How many of these deliveries an action fits, and to how many people: asked before it is done to them',
        params: inWorkspace,
        body: z.strictObject({ action: z.enum(DECISIONS), ids: chosenIds }),
        response: { 200: chosenCountBody },
      },
    },
    async (request) => {
      const { action, ids: named } = request.body;
      const { ids, people, byState, more } = await chooseOf(named, request.params.workspace, action, ports);
      return {
        action,
        count: ids.length,
        people,
        by_state: { ...byState },
        more,
        ceiling: MOST_JOB_ITEMS,
        ids: [...ids],
      };
    },
  );

  async function decideOn(
    request: FastifyRequest,
    reply: FastifyReply,
    decision: OperatorDecision,
    work: JobWork,
    body: {
      readonly ids?: readonly string[] | undefined;
      readonly filter?: DeliveryFilters | undefined;
      readonly expected?: number | undefined;
    },
  ) {
    const sight = sightOf(request);
    const choice = choiceOf(body);
    let items: readonly string[];
    if ('ids' in choice) items = choice.ids;
    else {
      const found = await chosen(request, choice.filter, decision);
      mustBeExpected(found, choice.expected, DONE[decision]);
      items = found.ids;
    }
    return begin(request, reply, { workspace: sight.workspace ?? null, work, items }, ports);
  }

  const chosenDeliveries = z.strictObject(chosenItems(filter));
  for (const decision of ['resend', 'cancel'] as const) {
    const action = `${decision}_deliveries` as const;
    app.post(
      `/v1/workspaces/:workspace/deliveries/${decision}`,
      {
        config: {
          permission: 'operate',
          audit: 'job.start',
          answers: ['location'],
          problems: ['wrong_state', 'conflict'],
        },
        schema: {
          operationId: decision === 'resend' ? 'resendDeliveries' : 'cancelDeliveries',
          tags: ['Deliveries'],
          summary:
            decision === 'resend'
              ? 'Sends many deliveries once more, as a job: those named, or all that match'
              : 'Ends many deliveries that have not been sent, as a job: those named, or all that match',
          params: inWorkspace,
          body: chosenDeliveries,
          response: { 202: jobBody },
        },
      },
      (request, reply) => decideOn(request, reply, decision, { action }, request.body),
    );
  }

  app.post(
    '/v1/workspaces/:workspace/deliveries/dismiss',
    {
      config: {
        permission: 'operate',
        audit: 'job.start',
        answers: ['location'],
        problems: ['wrong_state', 'conflict'],
      },
      schema: {
        operationId: 'dismissDeliveries',
        tags: ['Deliveries'],
        summary: 'Says what became of many deliveries that are in doubt, as a job: those named, or all that match',
        params: inWorkspace,
        body: chosenDeliveries.extend({ as: z.enum(['failed', 'sent']), reason: z.string().min(1).max(500) }),
        response: { 202: jobBody },
      },
    },
    (request, reply) => {
      const { as, reason, ...body } = request.body;
      return decideOn(request, reply, 'dismiss', { action: 'dismiss_deliveries', as, reason }, body);
    },
  );
}

function deadLetterJobs(app: ApiServer, ports: BulkPorts): void {
  const chosen = ({ params }: { readonly params: { readonly workspace: string } }, range: z.infer<typeof filter>) =>
    chooseDeadLetters({ workspace: params.workspace, ...readRange(range, ports.clock.now()) }, ports);
  const filter = z.strictObject(timeRange);

  app.get(
    '/v1/workspaces/:workspace/dead-letters/count',
    {
      config: { permission: 'read' },
      schema: {
        operationId: 'countDeadLetters',
        tags: ['Dead letters'],
        summary: 'How many dead letters nobody has redriven or dismissed: asked before all of them are redriven',
        params: inWorkspace,
        querystring: filter,
        response: { 200: deadLetterCountBody },
      },
    },
    async (request) => {
      const { ids, receipts, more } = await chosen(request, request.query);
      return { count: ids.length, receipts, more, ceiling: MOST_JOB_ITEMS };
    },
  );

  app.post(
    '/v1/workspaces/:workspace/dead-letters/redrive',
    {
      config: {
        permission: 'operate',
        audit: 'job.start',
        answers: ['location'],
        problems: ['wrong_state', 'conflict'],
      },
      schema: {
        operationId: 'redriveDeadLetters',
        tags: ['Dead letters'],
        summary:
          'Puts the records of many dead letters on their topics once more, as a job: those named, or all that are open but for parked receipts',
        params: inWorkspace,
        body: z.strictObject(chosenItems(filter)),
        response: { 202: jobBody },
      },
    },
    async (request, reply) => {
      const { workspace } = request.params;
      const choice = choiceOf(request.body);
      let items: readonly string[];
      if ('ids' in choice) items = choice.ids;
      else {
        const found = await chosen(request, choice.filter);
        mustBeExpected(found, choice.expected, 'redriven');
        items = found.ids;
      }
      return begin(request, reply, { workspace, work: { action: 'redrive_dead_letters' }, items }, ports);
    },
  );
}

/** Only those that are named: most are dismissed because somebody looked at them. */
function receiptJob(app: ApiServer, ports: BulkPorts): void {
  app.post(
    '/v1/workspaces/:workspace/receipts/dismiss',
    {
      config: { permission: 'operate', audit: 'job.start', answers: ['location'] },
      schema: {
        operationId: 'dismissParkedReceipts',
        tags: ['Receipts'],
        summary:
          'Says that nothing is to be done about many receipts that nobody could place, as a job; moves no delivery',
        params: inWorkspace,
        body: z.strictObject({ ids: chosenIds }),
        response: { 202: jobBody },
      },
    },
    (request, reply) => {
      const { workspace } = request.params;
      return begin(request, reply, { workspace, work: { action: 'dismiss_receipts' }, items: request.body.ids }, ports);
    },
  );
}

function promotionJob(app: ApiServer, ports: BulkPorts): void {
  app.post(
    '/v1/workspaces/:workspace/promotions',
    {
      config: {
        permission: 'configure',
        audit: 'job.start',
        answers: ['location'],
        problems: ['not_found', 'wrong_state'],
      },
      schema: {
        operationId: 'startPromotion',
        tags: ['Drafts'],
        summary:
          'Promotes a test environment as a job, one draft after the other; the job is of the live workspace. What it would do says `promote` with `check_only`',
        params: inWorkspace,
        body: promotionRequest,
        response: { 202: jobBody },
      },
    },
    async (request, reply) => {
      const { workspace: from } = request.params;
      const live = liveOf(await ports.configuration.refresh(), from);
      if (!principalOf(request).may('configure', live)) throw lacking(['configure']);
      const wanted = await promotedDrafts(from, request.body.resources, ports);
      if (wanted.length === 0) throw new CarillonError('wrong_state', `${from} has nothing that ${live} has not`);
      await demandRoomForAll(wanted, ports);
      const items = wanted.map(({ ref: { kind, name } }) => `${kind}/${name}`);
      return begin(request, reply, { workspace: live, work: { action: 'promote', from }, items }, ports);
    },
  );
}

function backupJob(app: ApiServer, ports: BulkPorts): void {
  app.post(
    '/v1/backups',
    {
      config: { permission: 'people', audit: 'job.start', answers: ['location'] },
      schema: {
        operationId: 'startBackup',
        tags: ['Deployment'],
        summary: 'Writes a consistent copy of data and keys to a file of the server, as a job of the deployment',
        body: backupRequest,
        response: { 202: jobBody },
      },
    },
    async (request, reply) => {
      const { file } = request.body;
      if (!isAbsolute(file)) {
        throw new CarillonError('invalid_request', 'file: name an absolute path on the server', { pointer: '/file' });
      }
      return begin(request, reply, { workspace: null, work: { action: 'write_backup', file }, items: [file] }, ports);
    },
  );
}
