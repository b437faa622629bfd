import { inboxMessageBody, inboxPage } from '@carillon/contracts';
import { CHANNEL_NAMES, searchedAddresses } from '@carillon/domain/channels';
import type { InboxFilter } from '@carillon/ports';
import { z } from 'zod';
import { visibleScopeOf, type VisibleScope } from '../../access/visible-scope.ts';
import { audited } from '../../audit/facts.ts';
import { showListedMessage, showMessage } from '../../bodies.ts';
import { pageInSight } from '../../pages-in-sight.ts';
import type { ControlPorts } from '../../ports.ts';
import { acrossWorkspaces, notFound, paging, readRange, someOfWords, timeRange, type ApiServer } from '../app.ts';

const filters = z.strictObject({
  ...paging,
  ...timeRange,
  channel: someOfWords('channel', CHANNEL_NAMES).optional().describe('One channel, or several with commas'),
  recipient: z.string().min(1).max(4096).optional().describe('An address, whatever its case, or how it begins'),
});

/** Messages that the sandbox kept instead of sending them. */
export function inboxRoutes(app: ApiServer, { inbox, clock }: Pick<ControlPorts, 'inbox' | 'clock'>): void {
  async function listed(sight: VisibleScope, { limit, cursor, channel, recipient, ...span }: z.infer<typeof filters>) {
    const filter: InboxFilter = {
      ...(sight.workspace !== undefined && { workspace: sight.workspace }),
      ...(channel !== undefined && { channels: channel }),
      ...(recipient !== undefined && { to: searchedAddresses(recipient) }),
      ...readRange(span, clock.now()),
    };
    const page = await pageInSight(sight, limit, cursor, (most, from) => inbox.list(filter, most, from));
    return { items: page.items.map(showListedMessage), next: page.next };
  }

  app.get(
    '/v1/workspaces/:workspace/inbox',
    {
      config: { permission: 'bodies', across: true },
      schema: {
        operationId: 'listInboxOfWorkspace',
        tags: ['Inbox'],
        summary: 'Sandbox messages of a workspace, newest first, without their bodies',
        params: acrossWorkspaces,
        querystring: filters,
        response: { 200: inboxPage },
      },
    },
    (request) => listed(visibleScopeOf(request), request.query),
  );

  app.get(
    '/v1/inbox',
    {
      config: { permission: 'bodies', across: true },
      schema: {
        operationId: 'listInbox',
        tags: ['Inbox'],
        summary: 'Sandbox messages of all workspaces you may see, newest first, without their bodies',
        querystring: filters,
        response: { 200: inboxPage },
      },
    },
    (request) => listed(visibleScopeOf(request), request.query),
  );

  app.get(
    '/v1/inbox/:id',
    {
      config: { permission: 'bodies', audit: 'inbox.read', across: true, problems: ['not_found'] },
      schema: {
        operationId: 'readInboxMessage',
        tags: ['Inbox'],
        summary: 'One sandbox message with its body',
        params: z.object({ id: z.string().max(100) }),
        response: { 200: inboxMessageBody },
      },
    },
    async (request) => {
      const { params } = request;
      const message = await inbox.get(params.id);
      if (!message || !visibleScopeOf(request).sees(message.workspace)) throw notFound(`message ${params.id}`);
      audited(request, { workspace: message.workspace });
      return showMessage(message);
    },
  );
}
