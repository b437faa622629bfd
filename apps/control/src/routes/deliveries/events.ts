import { deadLetterBody, deadLetterPage, eventPage, traceBody, whyBody } from '@carillon/contracts';
import { readRuleTitle, streamTable } from '@carillon/domain/configuration';
import { CarillonError, isCarillonError } from '@carillon/kernel';
import { factsOfEvents, traceEvent, whyAddress } from '@carillon/insight';
import { z } from 'zod';
import { principalOf } from '../../access/principal.ts';
import { answersOf, seesMasked } from '../../access/masking/mask-answers.ts';
import { visibleScopeOf, type VisibleScope } from '../../access/visible-scope.ts';
import { audited } from '../../audit/facts.ts';
import { showDeadLetter, showEvent, traceFor, showWhy } from '../../bodies.ts';
import type { ControlPorts } from '../../ports.ts';
import { withFacts } from '../../letter-facts.ts';
import { namesOf, rulesOf, unknownFilter } from '../../names.ts';
import { pageInSight, shownPage } from '../../pages-in-sight.ts';
import { wasThere } from '../../past-names.ts';
import { redriveLetter, type RedrivePorts } from '../../redriving.ts';
import {
  acrossWorkspaces,
  noBody,
  notFound,
  pageSize,
  paging,
  readRange,
  timeRange,
  withIdAcross,
  type ApiServer,
} from '../app.ts';
import type { StoryPorts } from './deliveries.ts';
import { streamPath } from '../configuration/streams.ts';

/** A trace id, alone or in the header that carries it. */
const TRACE = /^(?:[0-9a-f]{2}-)?([0-9a-f]{32})(?:-[0-9a-f]{16}-[0-9a-f]{2}(?:-.{0,400})?)?$/i;

const eventFilters = z.strictObject({
  ...paging,
  ...timeRange,
  stream: z.string().max(200).optional().describe('Its EVENT_PATH, or what follows the slash'),
  trace_id: z
    .string()
    .regex(TRACE, 'expected a W3C trace id (32 hex digits) or a whole traceparent')
    .optional()
    .describe('Only events of this W3C trace: its id, or a whole traceparent'),
  labels: z
    .enum(['true', 'false'])
    .default('false')
    .describe(
      '`true`: with label and change of each event, read from the log, for those with the permission `bodies`; at most 50 events',
    ),
});

/** Events of a page with labels: each is read from the log. */
const MAX_LABELLED = 50;

const peopleQuery = z.strictObject({
  recipient: z
    .string()
    .min(1)
    .max(4096)
    .optional()
    .describe(
      'Only people whose address, person or unique_id begins with this; without the permission `bodies`, is just this',
    ),
  person: z.string().min(1).max(1000).optional().describe('Only this person'),
  limit: pageSize.default(100),
  cursor: z
    .string()
    .regex(/^\d{1,9}$/, 'expected the `next` of the page before')
    .optional(),
});

const letterFilters = z.strictObject({
  ...paging,
  ...timeRange,
  redriven: z
    .enum(['true', 'false'])
    .optional()
    .describe('`false`: only letters that are neither redriven nor dismissed; `true`: only redriven letters'),
});

const whyQuery = z.strictObject({
  ...paging,
  address: z
    .string()
    .min(1)
    .max(4096)
    .describe('An address, a person or a unique_id; without the permission `bodies` a whole one'),
  notification: z.string().max(200).optional().describe('Only this notification, or this rule of one'),
});

type EventPorts = StoryPorts & Pick<ControlPorts, 'readModels' | 'clock' | 'configuration'>;

export function eventRoutes(app: ApiServer, ports: EventPorts): void {
  listEventsRoute(app, ports);
  traceEventRoute(app, ports);
  whyAddressRoute(app, ports);
}

function listEventsRoute(app: ApiServer, ports: EventPorts): void {
  const { readModels } = ports;
  app.get(
    '/v1/workspaces/:workspace/events',
    {
      config: { permission: 'read', across: true },
      schema: {
        operationId: 'listEvents',
        tags: ['Events'],
        summary: 'Events, newest first',
        params: acrossWorkspaces,
        querystring: eventFilters,
        response: { 200: eventPage },
      },
    },
    async (request) => {
      const { query } = request;
      const sight = visibleScopeOf(request);
      const traceId = query.trace_id === undefined ? undefined : TRACE.exec(query.trace_id)?.[1]?.toLowerCase();
      const filter = {
        ...(sight.workspace !== undefined && { workspace: sight.workspace }),
        ...(query.stream !== undefined && { stream: await streamOf(query.stream, sight, ports) }),
        ...readRange(query, ports.clock.now()),
        ...(traceId !== undefined && { traceId }),
      };
      const isLabelled = query.labels === 'true';
      const most = isLabelled ? Math.min(query.limit, MAX_LABELLED) : query.limit;
      const page = await pageInSight(sight, most, query.cursor, (limit, cursor) =>
        readModels.events(filter, limit, cursor),
      );
      const readable = isLabelled ? page.items.filter((row) => principalOf(request).may('bodies', row.workspace)) : [];
      const { streams } = streamTable(ports.configuration.current());
      const facts = await factsOfEvents(readable, (stream) => streams.get(stream)?.key ?? null, ports);
      const items = page.items.map((row) => showEvent(row, facts.get(`${row.partition}@${row.offset}`)));
      return { items, next: page.next };
    },
  );
}

function traceEventRoute(app: ApiServer, ports: EventPorts): void {
  const { readModels } = ports;
  app.get(
    '/v1/workspaces/:workspace/events/:id/trace',
    {
      config: { permission: 'read', across: true, problems: ['not_found'] },
      schema: {
        operationId: 'traceEvent',
        tags: ['Events'],
        summary: 'The story of an event, step by step, with each person it names',
        params: withIdAcross,
        querystring: peopleQuery,
        response: { 200: traceBody },
      },
    },
    async (request) => {
      const { id } = request.params;
      const { recipient, person, limit, cursor } = request.query;
      const sight = visibleScopeOf(request);
      const rows = await readModels.event(id);
      answersOf(
        request,
        rows.map((row) => row.workspace),
      );
      const people = {
        limit,
        toIsWhole: seesMasked(request),
        from: Number(cursor ?? 0),
        ...(recipient !== undefined && { to: recipient }),
        ...(person !== undefined && { person }),
      };
      const isHere = rows.some((row) => sight.sees(row.workspace));
      const trace = isHere ? await traceEvent(id, ports, people) : null;
      const where = sight.workspace === undefined ? '' : ` in workspace ${sight.workspace}`;
      if (!trace) throw notFound(`event ${id}${where}`, 'a new one shows within a second');
      return traceFor(request, trace, { workspace: rows.at(-1)?.workspace ?? '', target: id });
    },
  );
}

function whyAddressRoute(app: ApiServer, ports: EventPorts): void {
  app.get(
    '/v1/workspaces/:workspace/why',
    {
      config: { permission: 'read', across: true, problems: ['not_found'] },
      schema: {
        operationId: 'whyAddress',
        tags: ['Events'],
        summary: 'The outcome of each event on the log for an address',
        params: acrossWorkspaces,
        querystring: whyQuery,
        response: { 200: whyBody },
      },
    },
    async (request) => {
      const { address, notification, limit, cursor } = request.query;
      const sight = visibleScopeOf(request);
      if (notification !== undefined) refuseUnknown(ports, sight, notification);
      const wanted = {
        ...(sight.workspace !== undefined && { workspace: sight.workspace }),
        ...(notification !== undefined && { notification }),
        ...(cursor !== undefined && { cursor }),
      };
      const page = await whyAddress(
        { address, isWhole: seesMasked(request), sees: sight.sees, limit, ...wanted },
        ports,
      );
      return showWhy(page, !seesMasked(request));
    },
  );
}

/** Returns the EVENT_PATH of the request. A removed path that still has events is accepted. */
async function streamOf(name: string, sight: VisibleScope, ports: EventPorts): Promise<string> {
  const { readModels } = ports;
  try {
    return streamPath(name, sight, ports.configuration.current());
  } catch (error) {
    const [past] = (await readModels.events({ stream: name }, 1)).items;
    if (past && sight.sees(past.workspace)) return name;
    throw isCarillonError(error)
      ? new CarillonError('invalid_request', `stream: ${error.detail}`, { pointer: '/stream' })
      : error;
  }
}

/** Refuses a name that never existed, because an empty result would look as if nobody was ever notified. */
export function refuseUnknown(
  { configuration }: Pick<ControlPorts, 'configuration'>,
  { names }: VisibleScope,
  name: string,
): void {
  const newest = configuration.current();
  const isRule = readRuleTitle(name) !== undefined;
  const known = names.flatMap(isRule ? rulesOf(newest) : namesOf(newest, 'notification'));
  if (known.includes(name) || wasThere(name, names, configuration)) return;
  throw unknownFilter('notification', isRule ? 'rule' : 'notification', name, known);
}

type DeadLetterPorts = RedrivePorts & Pick<ControlPorts, 'readModels' | 'slice'>;

export function deadLetterRoutes(app: ApiServer, ports: DeadLetterPorts): void {
  listDeadLettersRoute(app, ports);
  listAllDeadLettersRoute(app, ports);
  redriveDeadLetterRoute(app, ports);
}

function listDeadLettersRoute(app: ApiServer, ports: DeadLetterPorts): void {
  app.get(
    '/v1/workspaces/:workspace/dead-letters',
    {
      config: { permission: 'read', across: true },
      schema: {
        operationId: 'listDeadLetters',
        tags: ['Dead letters'],
        summary: 'Records that could not be processed',
        params: acrossWorkspaces,
        querystring: letterFilters,
        response: { 200: deadLetterPage },
      },
    },
    (request) => listDeadLetters(visibleScopeOf(request), request.query, ports),
  );
}

/** Dead letters of the deployment: records whose workspace cannot be read. */
function listAllDeadLettersRoute(app: ApiServer, ports: DeadLetterPorts): void {
  app.get(
    '/v1/dead-letters',
    {
      config: { permission: 'read', across: true },
      schema: {
        operationId: 'listAllDeadLetters',
        tags: ['Dead letters'],
        summary: 'Records of the deployment that could not be processed, those without a workspace among them',
        querystring: letterFilters,
        response: { 200: deadLetterPage },
      },
    },
    (request) => listDeadLetters(visibleScopeOf(request), request.query, ports),
  );
}

function redriveDeadLetterRoute(app: ApiServer, ports: DeadLetterPorts): void {
  const { readModels } = ports;
  app.post(
    '/v1/dead-letters/:id/redrive',
    {
      config: {
        permission: 'operate',
        audit: 'dead_letter.redrive',
        across: true,
        problems: ['not_found', 'wrong_state', 'conflict', 'log_unavailable'],
      },
      schema: {
        operationId: 'redriveDeadLetter',
        tags: ['Dead letters'],
        summary: 'Puts the record of a dead letter on its topic once more',
        params: z.object({ id: z.string().max(100) }),
        body: noBody,
        response: { 200: deadLetterBody },
      },
    },
    async (request) => {
      const { params } = request;
      const row = await readModels.deadLetter(params.id);
      if (!row || !visibleScopeOf(request).sees(row.workspace)) throw notFound(`dead letter ${params.id}`);
      if (row.workspace !== null) audited(request, { workspace: row.workspace });
      const asking = ports.ids.random('request');
      const { signal: stop } = new AbortController();
      const redriven = await redriveLetter(row, { by: principalOf(request).name, asking, stop }, ports);
      const [shown] = await withFacts([redriven], showDeadLetter, ports);
      if (!shown) throw new CarillonError('internal', 'the dead letter was not found after its redrive');
      return shown;
    },
  );
}

async function listDeadLetters(sight: VisibleScope, query: z.infer<typeof letterFilters>, ports: DeadLetterPorts) {
  const { readModels, clock } = ports;
  const { limit, cursor, redriven } = query;
  const filter = {
    ...(sight.workspace !== undefined && { workspace: sight.workspace }),
    ...(redriven === 'false' && { open: true as const }),
    ...readRange(query, clock.now()),
  };
  const page = await shownPage(
    limit,
    cursor,
    (most, from) => readModels.deadLetters(filter, most, from),
    (row) => sight.sees(row.workspace) && (redriven !== 'true' || row.redrivenAt !== null),
  );
  return { items: await withFacts(page.items, showDeadLetter, ports), next: page.next };
}
