import { deliveryBody, deliveryPage, traceBody } from '@carillon/contracts';
import {
  deliverySettings,
  findNotification,
  operatorCancel,
  operatorDismiss,
  operatorResend,
  type Delivery,
  type DeliveryState,
  type Moment,
} from '@carillon/domain';
import { CarillonError, parseInstant, type DeliveryId, type Result } from '@carillon/kernel';
import type { DeliveryFilter } from '@carillon/ports';
import { traceDelivery, type TracePorts } from '@carillon/insight';
import { decideOnDelivery } from '@carillon/stages';
import { z } from 'zod';
import { principalOf } from '../access/principal.ts';
import { showDelivery, showDuplicate, showTrace } from '../bodies.ts';
import type { ControlPorts, RoutePorts } from '../ports.ts';
import { inWorkspace, noBody, notFound, paging, withId, type ApiServer } from './app.ts';

const STATES = [
  'WAITING',
  'SENDING',
  'SUPPRESSED',
  'FAILED',
  'EXPIRED',
  'CANCELLED',
  'SENT',
  'IN_DOUBT',
  'DELIVERED',
  'BOUNCED',
  'COMPLAINED',
] as const satisfies readonly DeliveryState[];

const filters = z.strictObject({
  ...paging,
  state: z.enum(STATES).optional(),
  to: z.string().max(320).optional(),
  unique_id: z.string().max(1000).optional(),
  event: z.string().max(100).optional(),
  notification: z.string().max(100).optional(),
  since: z.string().max(40).optional(),
});

/** What the story of a delivery or an event is told from. */
export type StoryPorts = TracePorts & Pick<RoutePorts, 'book'>;

export function deliveryRoutes(
  app: ApiServer,
  ports: StoryPorts &
    Pick<ControlPorts, 'ledger' | 'readModels' | 'configuration' | 'clock' | 'ids' | 'log' | 'codecs' | 'watch'>,
): void {
  const { ledger, readModels } = ports;
  const moment = (): Moment => ({ now: ports.clock.now(), derive: ports.ids.derive });

  async function find(workspace: string, id: string): Promise<Delivery> {
    const delivery = await ledger.get(id as DeliveryId);
    if (!delivery || delivery.slot.workspace !== workspace) throw notFound(`delivery ${id} in workspace ${workspace}`);
    return delivery;
  }

  const decide = (
    workspace: string,
    id: string,
    decision: (delivery: Delivery) => Result<Delivery, string>,
  ): Promise<Delivery> =>
    decideOnDelivery(() => find(workspace, id), decision, {
      ...ports,
      untold: (error) => ports.watch.trouble('publish', error),
    });

  const expiresOf = (delivery: Delivery): number => {
    const notification = findNotification(ports.configuration.current(), delivery.slot);
    return deliverySettings(notification?.body ?? { channels: {}, rules: {} }).expires;
  };

  app.get(
    '/v1/workspaces/:workspace/deliveries',
    {
      config: { permission: 'read' },
      schema: {
        operationId: 'listDeliveries',
        tags: ['Deliveries'],
        summary: 'Deliveries of a workspace, newest first, duplicates among them',
        params: inWorkspace,
        querystring: filters,
        response: { 200: deliveryPage },
      },
    },
    async ({ params, query }) => {
      const filter = readFilter(params.workspace, query);
      const page = await ledger.list(filter, query.limit, query.cursor);
      const items = page.items.map(showDelivery);
      const duplicates = await duplicateRows(filter, query, page.items.at(-1)?.createdAt ?? 0, page.next === null);
      const all = [...items, ...duplicates].toSorted((a, b) => (a.created_at < b.created_at ? 1 : -1));
      return { items: all, next: page.next };
    },
  );

  /** Duplicates are no documents of their own: they join the page whose span of time they fall into. */
  async function duplicateRows(filter: DeliveryFilter, query: z.infer<typeof filters>, oldest: number, last: boolean) {
    if (query.cursor !== undefined || (filter.state !== undefined && filter.state !== 'SUPPRESSED')) return [];
    const rows = filter.eventId
      ? await readModels.duplicatesOfEvent(filter.eventId)
      : await readModels.duplicates(
          {
            ...(filter.workspace !== undefined && { workspace: filter.workspace }),
            ...(filter.since !== undefined && { since: filter.since }),
          },
          query.limit,
        );
    const shown = [];
    for (const row of rows) {
      if (!last && row.at < oldest) continue;
      const holder = await ledger.get(row.deliveryId as DeliveryId);
      if (!holder || holder.slot.workspace !== filter.workspace) continue;
      if (filter.to !== undefined && holder.intent.to !== filter.to) continue;
      if (filter.uniqueId !== undefined && holder.slot.uniqueId !== filter.uniqueId) continue;
      if (filter.notification !== undefined && row.notification !== filter.notification) continue;
      shown.push(showDuplicate(row, holder));
    }
    return shown;
  }

  app.get(
    '/v1/workspaces/:workspace/deliveries/:id',
    {
      config: { permission: 'read', problems: ['not_found'] },
      schema: {
        operationId: 'readDelivery',
        tags: ['Deliveries'],
        summary: 'One delivery with its attempts and history',
        params: withId,
        response: { 200: deliveryBody },
      },
    },
    async ({ params }) => showDelivery(await find(params.workspace, params.id)),
  );

  app.get(
    '/v1/workspaces/:workspace/deliveries/:id/trace',
    {
      config: { permission: 'read', problems: ['not_found'] },
      schema: {
        operationId: 'traceDelivery',
        tags: ['Deliveries'],
        summary: 'The story of a delivery, step by step',
        params: withId,
        response: { 200: traceBody },
      },
    },
    async ({ params }) => {
      await find(params.workspace, params.id);
      const trace = await traceDelivery(params.id, ports);
      if (!trace) throw notFound(`delivery ${params.id}`);
      return showTrace(trace);
    },
  );

  app.post(
    '/v1/workspaces/:workspace/deliveries/:id/resend',
    {
      config: { permission: 'operate', problems: ['not_found', 'wrong_state'] },
      schema: {
        operationId: 'resendDelivery',
        tags: ['Deliveries'],
        summary: 'Sends a delivery once more that ended without being sent, or whose fate is in doubt',
        params: withId,
        body: noBody,
        response: { 200: deliveryBody },
      },
    },
    async (request) => {
      const { workspace, id } = request.params;
      const { name } = principalOf(request);
      return showDelivery(await decide(workspace, id, (seen) => operatorResend(seen, expiresOf(seen), name, moment())));
    },
  );

  app.post(
    '/v1/workspaces/:workspace/deliveries/:id/cancel',
    {
      config: { permission: 'operate', problems: ['not_found', 'wrong_state'] },
      schema: {
        operationId: 'cancelDelivery',
        tags: ['Deliveries'],
        summary: 'Ends a delivery that has not been sent',
        params: withId,
        body: noBody,
        response: { 200: deliveryBody },
      },
    },
    async (request) => {
      const { workspace, id } = request.params;
      const { name } = principalOf(request);
      return showDelivery(await decide(workspace, id, (seen) => operatorCancel(seen, name, moment())));
    },
  );

  const dismissal = z.strictObject({ as: z.enum(['failed', 'sent']), reason: z.string().min(1).max(500) });
  app.post(
    '/v1/workspaces/:workspace/deliveries/:id/dismiss',
    {
      config: { permission: 'operate', problems: ['not_found', 'wrong_state'] },
      schema: {
        operationId: 'dismissDelivery',
        tags: ['Deliveries'],
        summary: 'Says what became of a delivery that is in doubt or failed',
        params: withId,
        body: dismissal,
        response: { 200: deliveryBody },
      },
    },
    async (request) => {
      const { workspace, id } = request.params;
      const { as, reason } = request.body;
      const { name } = principalOf(request);
      return showDelivery(await decide(workspace, id, (seen) => operatorDismiss(seen, as, reason, name, moment())));
    },
  );
}

function readFilter(workspace: string, query: z.infer<typeof filters>): DeliveryFilter {
  const since = query.since === undefined ? undefined : parseInstant(query.since);
  if (query.since !== undefined && since === undefined) {
    throw new CarillonError('invalid_request', 'since: expected an RFC 3339 time such as 2026-01-31T08:00:00Z');
  }
  return {
    workspace,
    ...(query.state !== undefined && { state: query.state }),
    ...(query.to !== undefined && { to: query.to }),
    ...(query.unique_id !== undefined && { uniqueId: query.unique_id }),
    ...(query.event !== undefined && { eventId: query.event }),
    ...(query.notification !== undefined && { notification: query.notification }),
    ...(since !== undefined && { since }),
  };
}
