import { droppedPage } from '@carillon/contracts';
import { CarillonError, formatInstant, parseInstant, type Duration } from '@carillon/kernel';
import { findDrops, type DropPorts, type DropRow } from '@carillon/insight';
import { z } from 'zod';
import type { ControlPorts } from '../ports.ts';
import { inWorkspace, paging, type ApiServer } from './app.ts';

const DAY: Duration = 86_400_000;

/** Whom the rules of a workspace were to tell and did not. */
export function droppedRoute(app: ApiServer, ports: DropPorts & Pick<ControlPorts, 'clock'>): void {
  app.get(
    '/v1/workspaces/:workspace/dropped',
    {
      config: { permission: 'read' },
      schema: {
        operationId: 'listDropped',
        tags: ['Deliveries'],
        summary:
          'Recipients that rules of a workspace dropped for an error, a limit or an invalid item, newest first; of the last day',
        params: inWorkspace,
        querystring: z.strictObject({ limit: paging.limit, since: z.string().max(40).optional() }),
        response: { 200: droppedPage },
      },
    },
    async ({ params, query }) => {
      const since = query.since === undefined ? ports.clock.now() - DAY : parseInstant(query.since);
      if (since === undefined)
        throw new CarillonError('invalid_request', 'since: an RFC 3339 time, such as 2026-01-31T08:00:00Z');
      const { rows, complete } = await findDrops({ workspace: params.workspace, since }, query.limit, ports);
      return { items: rows.map(showDropped), complete };
    },
  );
}

const showDropped = ({ at, rule, eventId, who, reason, detail, count, told }: DropRow) => ({
  at: formatInstant(at),
  rule,
  event_id: eventId,
  who,
  reason,
  detail,
  count,
  told,
});
