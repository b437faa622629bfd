import { deliveryBody, pageOf, traceBody } from '@carillon/contracts';
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
import { decideOnDelivery, traceDelivery } from '@carillon/stages';
import { z } from 'zod';
import { showDelivery, showDuplicate, showTrace } from '../bodies.ts';
import type { ControlContext } from '../ports.ts';
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

const OPERATOR = 'owner';

export function deliveryRoutes(app: ApiServer, context: ControlContext): void {
  const { ports } = context;
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
    { schema: { params: inWorkspace, querystring: filters, response: { 200: pageOf(deliveryBody) } } },
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
    { schema: { params: withId, response: { 200: deliveryBody } } },
    async ({ params }) => showDelivery(await find(params.workspace, params.id)),
  );

  app.get(
    '/v1/workspaces/:workspace/deliveries/:id/trace',
    { schema: { params: withId, response: { 200: traceBody } } },
    async ({ params }) => {
      await find(params.workspace, params.id);
      const trace = await traceDelivery(params.id, { ...ports, book: context.book });
      if (!trace) throw notFound(`delivery ${params.id}`);
      return showTrace(trace);
    },
  );

  app.post(
    '/v1/workspaces/:workspace/deliveries/:id/resend',
    { schema: { params: withId, body: noBody, response: { 200: deliveryBody } } },
    async ({ params }) =>
      showDelivery(
        await decide(params.workspace, params.id, (seen) => operatorResend(seen, expiresOf(seen), OPERATOR, moment())),
      ),
  );

  app.post(
    '/v1/workspaces/:workspace/deliveries/:id/cancel',
    { schema: { params: withId, body: noBody, response: { 200: deliveryBody } } },
    async ({ params }) =>
      showDelivery(await decide(params.workspace, params.id, (seen) => operatorCancel(seen, OPERATOR, moment()))),
  );

  const dismissal = z.strictObject({ as: z.enum(['failed', 'sent']), reason: z.string().min(1).max(500) });
  app.post(
    '/v1/workspaces/:workspace/deliveries/:id/dismiss',
    { schema: { params: withId, body: dismissal, response: { 200: deliveryBody } } },
    async ({ params, body }) =>
      showDelivery(
        await decide(params.workspace, params.id, (seen) =>
          operatorDismiss(seen, body.as, body.reason, OPERATOR, moment()),
        ),
      ),
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
