import { auditPage, auditVerdictBody, keptSeal, type AuditEntryBody } from '@carillon/contracts';
import { AUDIT_ACTIONS, describeAuditAction, describeAuditFault, describeAuditOutcome } from '@carillon/domain/audit';
import { CarillonError, formatInstant, parseInstant, type Instant } from '@carillon/kernel';
import { z } from 'zod';
import { visibleScopeOf, type VisibleScope } from '../../access/visible-scope.ts';
import { listAudit, type AuditRow } from '../../audit/list.ts';
import { verifyAudit } from '../../audit/verify.ts';
import type { ControlPorts } from '../../ports.ts';
import { acrossWorkspaces, oneOfWords, paging, type ApiServer } from '../app.ts';

const filters = z.strictObject({
  actor: z.string().min(1).max(200).optional().describe('Id of an author, such as `owner` or `per_…`'),
  action: oneOfWords('action', AUDIT_ACTIONS).optional(),
  target: z.string().min(1).max(300).optional(),
  from: z.string().max(40).optional().describe('RFC 3339; from this time on'),
  to: z.string().max(40).optional().describe('RFC 3339; before this time'),
  ...paging,
});
type Filters = z.infer<typeof filters>;

/** Routes to list the audit and verify that it is unchanged. */
export function auditRoutes(
  app: ApiServer,
  ports: Pick<ControlPorts, 'log' | 'codecs' | 'ids' | 'auditSeals' | 'slice'>,
): void {
  app.get(
    '/v1/audit',
    {
      config: { permission: 'audit', across: true },
      schema: {
        operationId: 'listAllAudit',
        tags: ['Audit'],
        summary: 'Who did what, in all workspaces that you may see, newest first',
        querystring: filters,
        response: { 200: auditPage },
      },
    },
    (request) => read(visibleScopeOf(request), request.query),
  );

  app.get(
    '/v1/workspaces/:workspace/audit',
    {
      config: { permission: 'audit', across: true },
      schema: {
        operationId: 'listAudit',
        tags: ['Audit'],
        summary: 'Who did what in a workspace, newest first',
        params: acrossWorkspaces,
        querystring: filters,
        response: { 200: auditPage },
      },
    },
    (request) => read(visibleScopeOf(request), request.query),
  );

  app.post(
    '/v1/audit/verify',
    {
      config: { permission: 'audit', audit: 'audit.verify' },
      schema: {
        operationId: 'verifyAudit',
        tags: ['Audit'],
        summary:
          'Follows the chain of the audit from its start and holds every seal against it; names what does not fit',
        body: z
          .strictObject({
            seals: z.array(keptSeal).max(1_000).optional().describe('Seals from log lines that were stored elsewhere'),
          })
          .nullish(),
        response: { 200: auditVerdictBody },
      },
    },
    async ({ body }) => {
      const { begins, records, seals, sealedThrough, fault } = await verifyAudit(ports, body?.seals);
      return {
        ok: fault === null,
        begins,
        records,
        seals,
        sealed_through: sealedThrough,
        fault: fault && { ...fault, sentence: describeAuditFault(fault) },
      };
    },
  );

  async function read(sight: VisibleScope, { limit, cursor, from, to, ...wanted }: Filters) {
    const filter = { ...wanted, from: timeOf('from', from), to: timeOf('to', to), sees: sight.sees };
    const { items, next } = await listAudit(ports, filter, limit, positionOf(cursor));
    return { items: items.map(show), next: next === null ? null : `a${next}` };
  }
}

function timeOf(name: string, text: string | undefined): Instant | undefined {
  if (text === undefined) return undefined;
  const at = parseInstant(text);
  if (at !== undefined) return at;
  const detail = `${name}: expected an RFC 3339 time such as 2027-01-31T00:00:00Z; found ${text}`;
  throw new CarillonError('invalid_request', detail, { pointer: `/${name}` });
}

function positionOf(cursor: string | undefined): number | undefined {
  if (cursor === undefined) return undefined;
  if (/^a\d{1,15}$/.test(cursor)) return Number(cursor.slice(1));
  throw new CarillonError('invalid_request', 'the cursor does not belong to this list; start without a cursor', {
    pointer: '/cursor',
  });
}

const show = ({ id, position, at, actor, what, requestId, from, kind: _kind, ...rest }: AuditRow): AuditEntryBody => ({
  id,
  position,
  at: formatInstant(at),
  actor,
  action: what,
  action_words: describeAuditAction(what),
  outcome_words: describeAuditOutcome(rest.outcome, rest.code),
  from: { address: from.address, user_agent: from.userAgent },
  request_id: requestId,
  ...rest,
});
