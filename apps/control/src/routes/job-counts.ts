import { chosenCountBody, chosenIds, deadLetterCountBody, deliveryCountBody } from '@carillon/contracts';
import { MOST_JOB_ITEMS, type OperatorDecision } from '@carillon/domain';
import { z } from 'zod';
import { chooseDeadLetters, chooseOf } from '../jobs/choose.ts';
import type { JobKindPorts } from '../jobs/kind.ts';
import { matchDeliveries } from '../jobs/kinds/deliveries.ts';
import { inWorkspace, readRange, timeRange, type ApiServer } from './app.ts';
import { deliveryFilters } from './deliveries.ts';

const DECISIONS = ['resend', 'cancel', 'dismiss'] as const satisfies readonly OperatorDecision[];

/** Counts of what a job would act on, for the question before it. */
export function jobCountRoutes(app: ApiServer, ports: JobKindPorts): void {
  app.get(
    '/v1/workspaces/:workspace/deliveries/count',
    {
      config: { permission: 'read' },
      schema: {
        operationId: 'countDeliveries',
        tags: ['Deliveries'],
        summary:
          'How many deliveries match that an action fits, and to how many people: asked before it is done to all of them',
        params: inWorkspace,
        querystring: z.strictObject({ action: z.enum(DECISIONS), ...deliveryFilters }),
        response: { 200: deliveryCountBody },
      },
    },
    async (request) => {
      const { action, ...filters } = request.query;
      const { ids, people, byState, more } = await matchDeliveries(request, filters, action, ports);
      return { action, count: ids.length, people, by_state: { ...byState }, more, ceiling: MOST_JOB_ITEMS };
    },
  );

  app.post(
    '/v1/workspaces/:workspace/deliveries/count',
    {
      config: { permission: 'read', audit: false },
      schema: {
        operationId: 'countChosenDeliveries',
        tags: ['Deliveries'],
        summary: 'How many of these deliveries an action fits, and to how many people: asked before it is done to them',
        params: inWorkspace,
        body: z.strictObject({ action: z.enum(DECISIONS), ids: chosenIds }),
        response: { 200: chosenCountBody },
      },
    },
    async (request) => {
      const { action, ids: named } = request.body;
      const { ids, people, byState, more } = await chooseOf(named, request.params.workspace, action, ports);
      const count = { count: ids.length, people, by_state: { ...byState }, more, ceiling: MOST_JOB_ITEMS };
      return { action, ...count, ids: [...ids] };
    },
  );

  app.get(
    '/v1/workspaces/:workspace/dead-letters/count',
    {
      config: { permission: 'read' },
      schema: {
        operationId: 'countDeadLetters',
        tags: ['Dead letters'],
        summary: 'How many dead letters nobody has redriven or dismissed: asked before all of them are redriven',
        params: inWorkspace,
        querystring: z.strictObject(timeRange),
        response: { 200: deadLetterCountBody },
      },
    },
    async ({ params: { workspace }, query }) => {
      const range = readRange(query, ports.clock.now());
      const { ids, receipts, more } = await chooseDeadLetters({ workspace, ...range }, ports);
      return { count: ids.length, receipts, more, ceiling: MOST_JOB_ITEMS };
    },
  );
}
