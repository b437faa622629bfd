import { deliveryBody, deliveryPage, traceBody } from '@carillon/contracts';
import { CHANNEL_NAMES, searchedAddresses } from '@carillon/domain/channels';
import {
  DELIVERY_STATES,
  DELIVERY_REASONS,
  operatorCancel,
  operatorDismiss,
  operatorResend,
  type Delivery,
  type Moment,
} from '@carillon/domain/deliveries';
import { isId, type DeliveryId, type Instant, type Result } from '@carillon/kernel';
import type { DeliveryFilter } from '@carillon/ports';
import { traceDelivery, type TracePorts } from '@carillon/insight';
import { decideOnDelivery } from '@carillon/stages';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { principalOf } from '../../access/principal.ts';
import { answersOf, seesMasked } from '../../access/masking/mask-answers.ts';
import { visibleScopeOf, type VisibleScope } from '../../access/visible-scope.ts';
import { audited } from '../../audit/facts.ts';
import { expiresOf } from '../../deliveries.ts';
import { listDeliveries } from '../../deliveries-listed.ts';
import { showDelivery, traceFor } from '../../bodies.ts';
import type { ControlPorts, RoutePorts } from '../../ports.ts';
import { namesOf, rulesOf, unknownFilter } from '../../names.ts';
import { shownPage } from '../../pages-in-sight.ts';
import { wasThere } from '../../past-names.ts';
import {
  acrossWorkspaces,
  noBody,
  notFound,
  paging,
  readRange,
  someOfWords,
  timeRange,
  withIdAcross,
  type ApiServer,
} from '../app.ts';

const [REASON = 'new', ...MORE_REASONS] = DELIVERY_REASONS;
const REASONS = [REASON, ...MORE_REASONS] as const;

/** Filters of deliveries in lists, counts and jobs. */
export const deliveryFilters = {
  ...timeRange,
  state: someOfWords('state', DELIVERY_STATES).optional().describe('One state, or several with commas'),
  recipient: z
    .string()
    .min(1)
    .max(4096)
    .optional()
    .describe('An address, whatever its case, or how it begins; without the permission `bodies` the whole address'),
  unique_id: z.string().max(1000).optional(),
  person: z.string().max(1000).optional(),
  event: z
    .string()
    .refine((id) => isId('event', id), {
      error: ({ input }) => `expected the id of an event, evt_ and 26 characters; found ${String(input)}`,
    })
    .optional(),
  notification: z.string().max(100).optional(),
  rule: z.string().max(200).optional().describe('`notification.rule`'),
  channel: someOfWords('channel', CHANNEL_NAMES).optional().describe('One channel, or several with commas'),
  reason: someOfWords('reason', REASONS).optional().describe('One reason, or several with commas'),
  test: z.enum(['true', 'false']).optional().describe('Only test messages, or none of them'),
};
const filters = z.strictObject({ ...paging, ...deliveryFilters });
type Filters = z.infer<typeof filters>;
export type DeliveryFilters = Omit<Filters, 'limit' | 'cursor'>;

export type StoryPorts = TracePorts & Pick<RoutePorts, 'book'>;

const dismissal = z.strictObject({ as: z.enum(['failed', 'sent']), reason: z.string().min(1).max(500) });

type DeliveryPorts = StoryPorts &
  Pick<ControlPorts, 'ledger' | 'readModels' | 'configuration' | 'clock' | 'ids' | 'log' | 'codecs' | 'watch'>;

export function deliveryRoutes(app: ApiServer, ports: DeliveryPorts): void {
  listDeliveriesRoute(app, ports);
  readDeliveryRoute(app, ports);
  traceDeliveryRoute(app, ports);
  resendDeliveryRoute(app, ports);
  cancelDeliveryRoute(app, ports);
  dismissDeliveryRoute(app, ports);
}

function listDeliveriesRoute(app: ApiServer, ports: DeliveryPorts): void {
  app.get(
    '/v1/workspaces/:workspace/deliveries',
    {
      config: { permission: 'read', across: true },
      schema: {
        operationId: 'listDeliveries',
        tags: ['Deliveries'],
        summary: 'Deliveries, newest first, duplicates among them',
        params: acrossWorkspaces,
        querystring: filters,
        response: { 200: deliveryPage },
      },
    },
    async (request) => {
      const { query } = request;
      const sight = visibleScopeOf(request);
      const filter = readFilter(request, query, ports.clock.now());
      const isSeen = ({ slot }: Delivery): boolean => sight.sees(slot.workspace);
      const page = await listDeliveries(filter, query.limit, query.cursor, isSeen, ports);
      if (page.items.length === 0) await refuseUnknown(sight, query, ports);
      return { items: [...page.items], next: page.next };
    },
  );
}

function readDeliveryRoute(app: ApiServer, ports: DeliveryPorts): void {
  app.get(
    '/v1/workspaces/:workspace/deliveries/:id',
    {
      config: { permission: 'read', across: true, problems: ['not_found'] },
      schema: {
        operationId: 'readDelivery',
        tags: ['Deliveries'],
        summary: 'One delivery with its attempts and history',
        params: withIdAcross,
        response: { 200: deliveryBody },
      },
    },
    async (request) => showDelivery(await findDelivery(visibleScopeOf(request), request.params.id, ports)),
  );
}

function traceDeliveryRoute(app: ApiServer, ports: DeliveryPorts): void {
  app.get(
    '/v1/workspaces/:workspace/deliveries/:id/trace',
    {
      config: { permission: 'read', across: true, problems: ['not_found'] },
      schema: {
        operationId: 'traceDelivery',
        tags: ['Deliveries'],
        summary: 'The story of a delivery, step by step',
        params: withIdAcross,
        response: { 200: traceBody },
      },
    },
    async (request) => {
      const { id } = request.params;
      const { slot } = await findDelivery(visibleScopeOf(request), id, ports);
      const trace = await traceDelivery(id, ports);
      if (!trace) throw notFound(`delivery ${id}`);
      answersOf(request, [slot.workspace]);
      return traceFor(request, trace, { workspace: slot.workspace, target: id });
    },
  );
}

function resendDeliveryRoute(app: ApiServer, ports: DeliveryPorts): void {
  app.post(
    '/v1/workspaces/:workspace/deliveries/:id/resend',
    {
      config: { permission: 'operate', audit: 'delivery.resend', across: true, problems: ['not_found', 'wrong_state'] },
      schema: {
        operationId: 'resendDelivery',
        tags: ['Deliveries'],
        summary: 'Sends a delivery once more that ended without being sent, or whose fate is in doubt',
        params: withIdAcross,
        body: noBody,
        response: { 200: deliveryBody },
      },
    },
    async (request) => {
      const { id } = request.params;
      const { name } = principalOf(request);
      return told(
        request,
        await decide(
          visibleScopeOf(request),
          id,
          (seen) => operatorResend(seen, expiresOf(ports.configuration.current(), seen), name, moment(ports)),
          ports,
        ),
      );
    },
  );
}

function cancelDeliveryRoute(app: ApiServer, ports: DeliveryPorts): void {
  app.post(
    '/v1/workspaces/:workspace/deliveries/:id/cancel',
    {
      config: { permission: 'operate', audit: 'delivery.cancel', across: true, problems: ['not_found', 'wrong_state'] },
      schema: {
        operationId: 'cancelDelivery',
        tags: ['Deliveries'],
        summary: 'Ends a delivery that has not been sent',
        params: withIdAcross,
        body: noBody,
        response: { 200: deliveryBody },
      },
    },
    async (request) => {
      const { id } = request.params;
      const { name } = principalOf(request);
      return told(
        request,
        await decide(visibleScopeOf(request), id, (seen) => operatorCancel(seen, name, moment(ports)), ports),
      );
    },
  );
}

function dismissDeliveryRoute(app: ApiServer, ports: DeliveryPorts): void {
  app.post(
    '/v1/workspaces/:workspace/deliveries/:id/dismiss',
    {
      config: {
        permission: 'operate',
        audit: 'delivery.dismiss',
        across: true,
        problems: ['not_found', 'wrong_state'],
      },
      schema: {
        operationId: 'dismissDelivery',
        tags: ['Deliveries'],
        summary: 'Settles a delivery that is in doubt or failed',
        params: withIdAcross,
        body: dismissal,
        response: { 200: deliveryBody },
      },
    },
    async (request) => {
      const { id } = request.params;
      const { as, reason } = request.body;
      const { name } = principalOf(request);
      return told(
        request,
        await decide(
          visibleScopeOf(request),
          id,
          (seen) => operatorDismiss(seen, as, reason, name, moment(ports)),
          ports,
        ),
      );
    },
  );
}

const moment = (ports: DeliveryPorts): Moment => ({ now: ports.clock.now(), derive: ports.ids.derive });

async function findDelivery(sight: VisibleScope, id: string, ports: DeliveryPorts): Promise<Delivery> {
  const { ledger } = ports;
  const delivery = await ledger.get(id as DeliveryId);
  if (delivery && sight.sees(delivery.slot.workspace)) return delivery;
  throw notFound(`delivery ${id}${sight.workspace === undefined ? '' : ` in workspace ${sight.workspace}`}`);
}

const decide = (
  sight: VisibleScope,
  id: string,
  decision: (delivery: Delivery) => Result<Delivery, string>,
  ports: DeliveryPorts,
): Promise<Delivery> =>
  decideOnDelivery(() => findDelivery(sight, id, ports), decision, {
    ...ports,
    untold: (error) => ports.watch.trouble('publish', error),
  });

/** A name that nothing has, and that no delivery has from before it was taken away. */
export async function refuseUnknown(
  sight: VisibleScope,
  { notification, rule }: Pick<DeliveryFilters, 'notification' | 'rule'>,
  { configuration: followed, ledger }: Pick<ControlPorts, 'configuration' | 'ledger'>,
): Promise<void> {
  const configuration = followed.current();
  for (const [field, name, names] of [
    ['notification', notification, namesOf(configuration, 'notification')],
    ['rule', rule, rulesOf(configuration)],
  ] as const) {
    const known = sight.names.flatMap(names);
    if (name === undefined || known.includes(name) || wasThere(name, sight.names, followed)) continue;
    const past: DeliveryFilter = { ...inStore(sight), [field]: name };
    const page = await shownPage(
      1,
      undefined,
      (limit, cursor) => ledger.list(past, limit, cursor),
      ({ slot }) => sight.sees(slot.workspace),
    );
    if (page.items.length === 0) throw unknownFilter(field, field, name, known);
  }
}

/**
 * Records the delivery's workspace in the audit and returns the delivery as the API shows it. For decisions of an
 * operator, who may act in every workspace.
 */
function told(request: FastifyRequest, delivery: Delivery): ReturnType<typeof showDelivery> {
  audited(request, { workspace: delivery.slot.workspace });
  return showDelivery(delivery);
}

/** The store is asked for one workspace, or for all where the sight has several. */
const inStore = ({ workspace }: VisibleScope): Pick<DeliveryFilter, 'workspace'> =>
  workspace === undefined ? {} : { workspace };

/**
 * Returns the filter of a request. Callers who see masked addresses must search whole addresses, because prefixes would
 * reveal them letter by letter.
 */
export function readFilter(request: FastifyRequest, query: DeliveryFilters, now: Instant): DeliveryFilter {
  const { state, reason, channel, recipient, unique_id, person, event, notification, rule, test } = query;
  return {
    ...inStore(visibleScopeOf(request)),
    ...(state !== undefined && { states: state }),
    ...(reason !== undefined && { reasons: reason }),
    ...(channel !== undefined && { channels: channel }),
    ...(recipient !== undefined && { to: searchedAddresses(recipient), toIsWhole: seesMasked(request) }),
    ...(unique_id !== undefined && { uniqueId: unique_id }),
    ...(person !== undefined && { person }),
    ...(event !== undefined && { eventId: event }),
    ...(notification !== undefined && { notification }),
    ...(rule !== undefined && { rule }),
    ...(test !== undefined && { test: test === 'true' }),
    ...readRange(query, now),
  };
}
