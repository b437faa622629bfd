import { parkedReceiptBody, parkedReceiptPage } from '@carillon/contracts';
import { RECEIPT_SOURCES } from '@carillon/domain/receipts';
import { CarillonError } from '@carillon/kernel';
import type { DeadLetterRow } from '@carillon/ports';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { principalOf } from '../../access/principal.ts';
import { visibleScopeOf, type VisibleScope } from '../../access/visible-scope.ts';
import { audited } from '../../audit/facts.ts';
import { showParkedReceipt } from '../../bodies.ts';
import { isDismissable } from '../../jobs/choose.ts';
import { shownPage } from '../../pages-in-sight.ts';
import type { ControlPorts } from '../../ports.ts';
import {
  acrossWorkspaces,
  noBody,
  notFound,
  oneOfWords,
  paging,
  readRange,
  timeRange,
  withIdAcross,
  type ApiServer,
} from '../app.ts';

const filters = z.strictObject({
  ...paging,
  parked: z
    .enum(['true', 'false'])
    .optional()
    .describe('`true`: only receipts that are not dismissed; `false`: only dismissed receipts'),
  source: oneOfWords('source', RECEIPT_SOURCES).optional().describe('Who reported'),
  account: z.string().max(200).optional().describe('The account that proved it, such as `shop/mail` or `default`'),
  ...timeRange,
});

type ParkedReceiptPorts = Pick<ControlPorts, 'readModels' | 'clock'>;

/** Routes for unmatched receipts. They stay listed until an operator dismisses them, which changes no delivery. */
export function parkedReceiptRoutes(app: ApiServer, ports: ParkedReceiptPorts): void {
  listParkedReceiptsRoute(app, ports);
  readParkedReceiptRoute(app, ports);
  dismissParkedReceiptRoute(app, ports);
  reopenParkedReceiptRoute(app, ports);
}

function listParkedReceiptsRoute(app: ApiServer, ports: ParkedReceiptPorts): void {
  const { readModels, clock } = ports;
  app.get(
    '/v1/workspaces/:workspace/receipts',
    {
      config: { permission: 'bodies', across: true },
      schema: {
        operationId: 'listParkedReceipts',
        tags: ['Receipts'],
        summary: 'Unmatched receipts of providers, newest first',
        params: acrossWorkspaces,
        querystring: filters,
        response: { 200: parkedReceiptPage },
      },
    },
    async (request) => {
      const { parked, source, account, limit, cursor } = request.query;
      const sight = visibleScopeOf(request);
      const filter = {
        ofReceipts: true,
        ...(sight.workspace !== undefined && { workspace: sight.workspace }),
        ...(parked === 'true' && { open: true as const }),
        ...readRange(request.query, clock.now()),
      };
      const page = await shownPage(
        limit,
        cursor,
        (most, from) => readModels.deadLetters(filter, most, from),
        (row) =>
          sight.sees(row.workspace) &&
          (parked !== 'false' || row.dismissedAt !== null) &&
          (source === undefined || row.receipt?.source === source) &&
          (account === undefined || row.receipt?.account === account),
      );
      return { items: page.items.map((row) => showParkedReceipt(row, true)), next: page.next };
    },
  );
}

function readParkedReceiptRoute(app: ApiServer, ports: ParkedReceiptPorts): void {
  app.get(
    '/v1/workspaces/:workspace/receipts/:id',
    {
      config: { permission: 'bodies', audit: 'receipt.read', across: true, problems: ['not_found'] },
      schema: {
        operationId: 'readParkedReceipt',
        tags: ['Receipts'],
        summary: 'One unmatched receipt',
        params: withIdAcross,
        response: { 200: parkedReceiptBody },
      },
    },
    async (request) => {
      const row = await findReceipt(visibleScopeOf(request), request.params.id, ports);
      if (row.workspace !== null) audited(request, { workspace: row.workspace });
      return showParkedReceipt(row, true);
    },
  );
}

function dismissParkedReceiptRoute(app: ApiServer, ports: ParkedReceiptPorts): void {
  const { readModels, clock } = ports;
  app.post(
    '/v1/workspaces/:workspace/receipts/:id/dismiss',
    {
      config: {
        permission: 'operate',
        audit: 'receipt.dismiss',
        auditAs: (request) => actionOn(request, ports, 'dismiss'),
        across: true,
        problems: ['not_found'],
      },
      schema: {
        operationId: 'dismissParkedReceipt',
        tags: ['Receipts'],
        summary: 'Dismisses an unmatched receipt or a change above a limit. Changes no delivery',
        params: withIdAcross,
        body: noBody,
        response: { 200: parkedReceiptBody },
      },
    },
    async (request) => {
      const sight = visibleScopeOf(request);
      const { id } = request.params;
      await findReceipt(sight, id, ports);
      await readModels.markDismissed(id, clock.now(), principalOf(request).name);
      // The first dismissal stays, also if its response was lost and the call is repeated.
      return shown(request, await findReceipt(sight, id, ports));
    },
  );
}

function reopenParkedReceiptRoute(app: ApiServer, ports: ParkedReceiptPorts): void {
  const { readModels } = ports;
  app.post(
    '/v1/workspaces/:workspace/receipts/:id/reopen',
    {
      config: {
        permission: 'operate',
        audit: 'receipt.reopen',
        auditAs: (request) => actionOn(request, ports, 'reopen'),
        across: true,
        problems: ['not_found'],
      },
      schema: {
        operationId: 'reopenParkedReceipt',
        tags: ['Receipts'],
        summary:
          'Takes back that nothing is to be done about a receipt: it waits again; of one that waits it changes nothing',
        params: withIdAcross,
        body: noBody,
        response: { 200: parkedReceiptBody },
      },
    },
    async (request) => {
      const sight = visibleScopeOf(request);
      const { id } = request.params;
      await findReceipt(sight, id, ports);
      await readModels.markReopened(id);
      return shown(request, await findReceipt(sight, id, ports));
    },
  );
}

async function findReceipt(sight: VisibleScope, id: string, ports: ParkedReceiptPorts): Promise<DeadLetterRow> {
  const { readModels } = ports;
  const row = await readModels.deadLetter(id);
  if (row && sight.sees(row.workspace)) {
    if (isDismissable(row)) return row;
    const why = `dead letter ${id} of the stage ${row.stage} is not dismissed, because a redrive may succeed`;
    throw new CarillonError('not_found', `${why}: npx carillon dead-letters redrive ${id}`);
  }
  throw notFound(`parked receipt ${id}`);
}

/** Returns what the audit calls it. A change or a record of a topic is no receipt. */
async function actionOn<Action extends 'dismiss' | 'reopen'>(
  request: FastifyRequest,
  { readModels }: ParkedReceiptPorts,
  action: Action,
): Promise<`dead_letter.${Action}` | `receipt.${Action}`> {
  const { id } = request.params as { readonly id: string };
  const row = await readModels.deadLetter(id);
  const isChange = row?.stage === 'append' && visibleScopeOf(request).sees(row.workspace);
  return isChange ? `dead_letter.${action}` : `receipt.${action}`;
}

/** Callers who operate without reading messages get it without address and text. */
function shown(request: FastifyRequest, row: DeadLetterRow): ReturnType<typeof showParkedReceipt> {
  if (row.workspace !== null) audited(request, { workspace: row.workspace });
  return showParkedReceipt(row, principalOf(request).may('bodies', row.workspace));
}
