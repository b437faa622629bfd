import {
  deadLetterBody,
  deadLetterPage,
  eventPage,
  removedBody,
  suppressionPage,
  traceBody,
  whyBody,
} from '@carillon/contracts';
import { CHANNEL_NAMES, findResource, findRule, readRuleTitle } from '@carillon/domain';
import { CarillonError, parseInstant } from '@carillon/kernel';
import { traceEvent, whyAddress } from '@carillon/insight';
import { z } from 'zod';
import { showDeadLetter, showEvent, showSuppression, showTrace, showWhy } from '../bodies.ts';
import type { ControlPorts } from '../ports.ts';
import { redrivenRecord, type RedrivePorts } from '../redriving.ts';
import { inWorkspace, noBody, notFound, paging, withId, type ApiServer } from './app.ts';
import type { StoryPorts } from './deliveries.ts';

const eventFilters = z.strictObject({
  ...paging,
  stream: z.string().max(200).optional(),
  since: z.string().max(40).optional(),
});

const peopleQuery = z.strictObject({
  to: z.string().min(1).max(320).optional().describe('Only people whose address, person or unique_id begins with this'),
  limit: z.coerce.number().int().min(1).max(500).default(100),
  cursor: z
    .string()
    .regex(/^\d{1,9}$/, 'expected the `next` of the page before')
    .optional(),
});

const whyQuery = z.strictObject({
  ...paging,
  address: z.string().min(1).max(320).describe('An address, a person or a unique_id'),
  notification: z.string().max(200).optional().describe('Only this notification, or this rule of one'),
});

export function eventRoutes(app: ApiServer, ports: StoryPorts & Pick<ControlPorts, 'readModels'>): void {
  const { readModels } = ports;

  app.get(
    '/v1/workspaces/:workspace/events',
    {
      config: { permission: 'read' },
      schema: {
        operationId: 'listEvents',
        tags: ['Events'],
        summary: 'Events of a workspace, newest first',
        params: inWorkspace,
        querystring: eventFilters,
        response: { 200: eventPage },
      },
    },
    async ({ params, query }) => {
      const since = query.since === undefined ? undefined : parseInstant(query.since);
      if (query.since !== undefined && since === undefined) {
        throw new CarillonError('invalid_request', 'since: expected an RFC 3339 time such as 2026-01-31T08:00:00Z');
      }
      const filter = {
        workspace: params.workspace,
        ...(query.stream !== undefined && { stream: query.stream }),
        ...(since !== undefined && { since }),
      };
      const page = await readModels.events(filter, query.limit, query.cursor);
      return { items: page.items.map(showEvent), next: page.next };
    },
  );

  app.get(
    '/v1/workspaces/:workspace/events/:id/trace',
    {
      config: { permission: 'read', problems: ['not_found'] },
      schema: {
        operationId: 'traceEvent',
        tags: ['Events'],
        summary: 'The story of an event, step by step, and of each person whom it names',
        params: withId,
        querystring: peopleQuery,
        response: { 200: traceBody },
      },
    },
    async ({ params, query: { to, limit, cursor } }) => {
      const rows = await readModels.event(params.id);
      const people = { limit, from: Number(cursor ?? 0), ...(to !== undefined && { to }) };
      const isHere = rows.some((row) => row.workspace === params.workspace);
      const trace = isHere ? await traceEvent(params.id, ports, people) : null;
      if (!trace)
        throw notFound(`event ${params.id} in workspace ${params.workspace}`, 'a new one shows within a second');
      return showTrace(trace);
    },
  );

  app.get(
    '/v1/workspaces/:workspace/why',
    {
      config: { permission: 'read', problems: ['not_found'] },
      schema: {
        operationId: 'whyAddress',
        tags: ['Events'],
        summary: 'What each event on the log came to for an address',
        params: inWorkspace,
        querystring: whyQuery,
        response: { 200: whyBody },
      },
    },
    async ({ params: { workspace }, query: { address, notification, limit, cursor } }) => {
      if (notification !== undefined) refuseUnknown(ports, workspace, notification);
      const wanted = { ...(notification !== undefined && { notification }), ...(cursor !== undefined && { cursor }) };
      return showWhy(await whyAddress({ workspace, address, limit, ...wanted }, ports));
    },
  );
}

/** A name that nothing has would be answered as if nobody had ever been told. */
function refuseUnknown({ configuration }: StoryPorts, workspace: string, name: string): void {
  const newest = configuration.current();
  const rule = readRuleTitle(name);
  if (rule ? findRule(newest, workspace, rule) : findResource(newest, 'notification', workspace, name)) return;
  throw notFound(`notification or rule ${name} in workspace ${workspace}`);
}

export function deadLetterRoutes(app: ApiServer, ports: RedrivePorts & Pick<ControlPorts, 'readModels'>): void {
  const { readModels, log, codecs, clock } = ports;

  app.get(
    '/v1/workspaces/:workspace/dead-letters',
    {
      config: { permission: 'read' },
      schema: {
        operationId: 'listDeadLetters',
        tags: ['Dead letters'],
        summary: 'Records of a workspace that could not be processed',
        params: inWorkspace,
        querystring: z.strictObject(paging),
        response: { 200: deadLetterPage },
      },
    },
    async ({ params, query }) => {
      const page = await readModels.deadLetters({ workspace: params.workspace }, query.limit, query.cursor);
      return { items: page.items.map(showDeadLetter), next: page.next };
    },
  );

  /** The deployment's: records so broken that no workspace can be told. */
  app.get(
    '/v1/dead-letters',
    {
      config: { permission: 'read' },
      schema: {
        operationId: 'listAllDeadLetters',
        tags: ['Dead letters'],
        summary: 'Records of the deployment that could not be processed, those without a workspace among them',
        querystring: z.strictObject(paging),
        response: { 200: deadLetterPage },
      },
    },
    async ({ query }) => {
      const page = await readModels.deadLetters({}, query.limit, query.cursor);
      return { items: page.items.map(showDeadLetter), next: page.next };
    },
  );

  app.post(
    '/v1/dead-letters/:id/redrive',
    {
      config: { permission: 'operate', problems: ['not_found', 'wrong_state'] },
      schema: {
        operationId: 'redriveDeadLetter',
        tags: ['Dead letters'],
        summary: 'Puts the record of a dead letter on its topic once more',
        params: z.object({ id: z.string().max(100) }),
        body: noBody,
        response: { 200: deadLetterBody },
      },
    },
    async ({ params }) => {
      const row = await readModels.deadLetter(params.id);
      if (!row) throw notFound(`dead letter ${params.id}`);
      const [record] = await log.read('carillon.dead-letters', row.ownPartition, row.ownOffset, 1);
      const letter = record?.offset === row.ownOffset ? codecs.deadLetter.decode(record.value) : undefined;
      if (!letter?.ok) throw new CarillonError('wrong_state', 'its bytes have left the log (retention)');
      await log.append([await redrivenRecord(letter.value, ports)]);
      await readModels.markRedriven(params.id, clock.now());
      return showDeadLetter({ ...row, redrivenAt: clock.now() });
    },
  );
}

export function suppressionRoutes(app: ApiServer, ports: Pick<ControlPorts, 'suppressions'>): void {
  app.get(
    '/v1/workspaces/:workspace/suppressions',
    {
      config: { permission: 'read' },
      schema: {
        operationId: 'listSuppressions',
        tags: ['Suppressions'],
        summary: 'Addresses of a workspace that nothing is sent to',
        params: inWorkspace,
        querystring: z.strictObject(paging),
        response: { 200: suppressionPage },
      },
    },
    async ({ params, query }) => {
      const page = await ports.suppressions.list({ workspace: params.workspace }, query.limit, query.cursor);
      return { items: page.items.map(showSuppression), next: page.next };
    },
  );

  const which = z.strictObject({ channel: z.enum(CHANNEL_NAMES), address: z.string().max(320) });
  app.post(
    '/v1/workspaces/:workspace/suppressions/remove',
    {
      config: { permission: 'operate', problems: ['not_found'] },
      schema: {
        operationId: 'removeSuppression',
        tags: ['Suppressions'],
        summary: 'Takes an address off the list',
        params: inWorkspace,
        body: which,
        response: { 200: removedBody },
      },
    },
    async ({ params, body }) => {
      const removed = await ports.suppressions.remove(params.workspace, body.channel, body.address);
      if (!removed) throw notFound('such suppressed address');
      return { removed };
    },
  );
}
