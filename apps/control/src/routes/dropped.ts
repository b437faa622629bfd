import { droppedPage } from '@carillon/contracts';
import { formatInstant, type Duration } from '@carillon/kernel';
import { findDrops, type DropPorts, type DropRow } from '@carillon/insight';
import { z } from 'zod';
import type { ControlPorts } from '../ports.ts';
import { sightOf } from '../access/sight.ts';
import { acrossWorkspaces, paging, readRange, timeRange, type ApiServer } from './app.ts';

const DAY: Duration = 86_400_000;

/** Whom the rules of a workspace were to tell and did not. */
export function droppedRoute(app: ApiServer, ports: DropPorts & Pick<ControlPorts, 'clock'>): void {
  app.get(
    '/v1/workspaces/:workspace/dropped',
    {
      config: { permission: 'read', across: true },
      schema: {
        operationId: 'listDropped',
        tags: ['Deliveries'],
        summary:
          'Recipients that rules dropped for an error, a limit or an invalid item, newest first; of the last day',
        params: acrossWorkspaces,
        querystring: z.strictObject({ limit: paging.limit, ...timeRange }),
        response: { 200: droppedPage },
      },
    },
    async (request) => {
      const { query } = request;
      const { workspace, sees } = sightOf(request);
      const now = ports.clock.now();
      const { since = now - DAY, before = now + 1 } = readRange(query, now);
      const wanted = { since, ...(workspace !== undefined && { workspace }) };
      const { rows, complete } = await findDrops(wanted, query.limit, ports);
      return { items: rows.filter((row) => sees(row.workspace) && row.at < before).map(showDropped), complete };
    },
  );
}

const showDropped = ({ at, workspace, rule, eventId, who, reason, detail, count, told }: DropRow) => ({
  at: formatInstant(at),
  workspace,
  rule,
  event_id: eventId,
  who,
  reason,
  detail,
  count,
  told,
});
