import {
  waitingEventPage,
  waitingPartnerPage,
  type WaitingEventBody,
  type WaitingPartnerBody,
} from '@carillon/contracts';
import { findPartner, type CallEvidence } from '@carillon/domain/lookups';
import { formatInstant, type Instant } from '@carillon/kernel';
import { askQueue } from '@carillon/stages';
import { z } from 'zod';
import { visibleScopeOf } from '../../access/visible-scope.ts';
import { namesOf, placeOf } from '../../names.ts';
import type { ControlPorts } from '../../ports.ts';
import { waitingFor, waitingPartners, type WaitingPartner, type WaitingTrigger } from '../../waiting-partners.ts';
import { listPaging, oldestFirst, pageOfAll } from '../../whole-lists.ts';
import { acrossWorkspaces, notFound, withNameAcross, type ApiServer } from '../app.ts';

/** Which partners do not answer, and the events that wait for them. */
export function waitingRoutes(
  app: ApiServer,
  ports: Pick<ControlPorts, 'configuration' | 'tasks' | 'clock' | 'slice'>,
): void {
  const list = z.strictObject(listPaging);

  app.get(
    '/v1/workspaces/:workspace/waiting',
    {
      config: { permission: 'read', across: true },
      schema: {
        operationId: 'listWaitingPartners',
        tags: ['Integrations'],
        summary:
          'Partners that events wait for: since when they have not answered, how many events wait, the next attempt',
        params: acrossWorkspaces,
        querystring: list,
        response: { 200: waitingPartnerPage },
      },
    },
    async (request) => {
      const sight = visibleScopeOf(request);
      const partners = await waitingPartners((one) => sight.names.includes(one), ports);
      const { rows, next } = pageOfAll(
        partners,
        ({ workspace, integration }) => `${workspace}/${integration}`,
        request.query,
      );
      return { items: rows.map(showPartner), next };
    },
  );

  app.get(
    '/v1/workspaces/:workspace/integrations/:name/waiting',
    {
      config: { permission: 'read', across: true, problems: ['not_found'] },
      schema: {
        operationId: 'listWaitingEvents',
        tags: ['Integrations'],
        summary: 'Events that wait for an answer of a partner, the longest first; at most 500',
        params: withNameAcross,
        querystring: list,
        response: { 200: waitingEventPage },
      },
    },
    async (request) => {
      const { name: integration } = request.params;
      const configuration = ports.configuration.current();
      const workspace = placeOf(
        'integration',
        integration,
        visibleScopeOf(request),
        namesOf(configuration, 'integration'),
      );
      if (!findPartner(configuration, { workspace, integration })) throw notFound(`partner ${integration}`);
      const waiting = await waitingFor(askQueue({ workspace, integration }), ports);
      const { rows, next } = pageOfAll(waiting, ({ takenAt, id }) => oldestFirst(takenAt ?? 0, id), request.query);
      return { items: rows.map(showTrigger), next };
    },
  );
}

const timeOf = (at: Instant | null): string | null => (at === null ? null : formatInstant(at));
const showCall = (call: CallEvidence | null): WaitingPartnerBody['last_failure'] =>
  call && { at: formatInstant(call.at), outcome: call.outcome, status: call.status, detail: call.detail };

const showPartner = (partner: WaitingPartner): WaitingPartnerBody => ({
  workspace: partner.workspace,
  integration: partner.integration,
  events: partner.events,
  complete: partner.complete,
  failing_since: timeOf(partner.failingSince),
  last_failure: showCall(partner.last),
  next_attempt_at: formatInstant(partner.nextAt),
});

const showTrigger = ({ id, trigger, takenAt, calls, last, nextAt, deadline }: WaitingTrigger): WaitingEventBody => ({
  trigger_id: id,
  event_id: trigger?.eventId ?? null,
  rule: trigger?.rule ?? null,
  user_ids: trigger?.userIds.length ?? 0,
  since: timeOf(takenAt),
  calls,
  last_call: showCall(last),
  next_attempt_at: formatInstant(nextAt),
  gives_up_at: timeOf(deadline),
});
