import { droppedPage } from '@carillon/contracts';
import { reasonText } from '@carillon/domain/deliveries';
import { formatInstant, type Duration } from '@carillon/kernel';
import { findDrops, type DropPorts, type DropRow, type DropsPlace } from '@carillon/insight';
import { z } from 'zod';
import type { ControlPorts } from '../../ports.ts';
import { visibleScopeOf } from '../../access/visible-scope.ts';
import { acrossWorkspaces, paging, readRange, timeRange, type ApiServer } from '../app.ts';

const DAY: Duration = 86_400_000;

/** Lists the recipients that the rules of a workspace dropped. */
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
        querystring: z.strictObject({ ...paging, ...timeRange }),
        response: { 200: droppedPage },
      },
    },
    async (request) => {
      const { query } = request;
      const now = ports.clock.now();
      const { since = now - DAY, before = now + 1 } = readRange(query, now);
      const after = query.cursor === undefined ? undefined : readPlace(query.cursor);
      const wanted = { since, before, isMeant: visibleScopeOf(request).sees, after };
      const { rows, next, complete } = await findDrops(wanted, query.limit, ports);
      return { items: rows.map(showDropped), next: next && JSON.stringify(next), complete };
    },
  );
}

/** Sealed by this server, so it is valid. */
const readPlace = (cursor: string): DropsPlace => JSON.parse(cursor) as DropsPlace;

const showDropped = ({ at, workspace, rule, eventId, who, reason, detail, count, told }: DropRow) => ({
  at: formatInstant(at),
  workspace,
  rule,
  event_id: eventId,
  who,
  reason,
  reason_words: reasonText(reason),
  detail,
  count,
  told,
});
