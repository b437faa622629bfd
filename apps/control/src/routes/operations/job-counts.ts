import {
  chosenCountBody,
  chosenIds,
  consentCountBody,
  deadLetterCountBody,
  type DeadLetterCountBody,
  deliveryCountBody,
  suppressionCountBody,
} from '@carillon/contracts';
import type { OperatorDecision } from '@carillon/domain/deliveries';
import { MAX_JOB_ITEMS } from '@carillon/domain/jobs';
import { formatInstant } from '@carillon/kernel';
import { z } from 'zod';
import { chooseDeadLetters, chooseOf, readCountedChoice } from '../../jobs/choose.ts';
import type { JobKindPorts } from '../../jobs/kind.ts';
import { chosenPeople, findOptOuts, matchOptOuts, optOutFilter } from '../../jobs/kinds/consents.ts';
import { matchDeliveries } from '../../jobs/kinds/deliveries.ts';
import {
  chosenEntries,
  countAddresses,
  entryFilter,
  findEntries,
  matchEntries,
} from '../../jobs/kinds/suppressions.ts';
import { MAX_CHOICE_BYTES } from '../../jobs/start.ts';
import { countLeavingLetters } from '../../leaving-letters.ts';
import { inWorkspace, readRange, timeRange, type ApiServer } from '../app.ts';
import { deliveryFilters } from '../deliveries/deliveries.ts';

const DECISIONS = ['resend', 'cancel', 'dismiss'] as const satisfies readonly OperatorDecision[];

/** Adds the routes that count what a job would act on, for the question before it. */
export function jobCountRoutes(app: ApiServer, ports: JobKindPorts): void {
  deliveryCounts(app, ports);
  deadLetterCount(app, ports);
  suppressionCount(app, ports);
  consentCount(app, ports);
}

function deliveryCounts(app: ApiServer, ports: JobKindPorts): void {
  app.get(
    '/v1/workspaces/:workspace/deliveries/count',
    {
      config: { permission: 'read' },
      schema: {
        operationId: 'countDeliveries',
        tags: ['Deliveries'],
        summary:
          'Number of matching deliveries an action applies to, and of their recipients. Shown before the action runs',
        params: inWorkspace,
        querystring: z.strictObject({ action: z.enum(DECISIONS), ...deliveryFilters }),
        response: { 200: deliveryCountBody },
      },
    },
    async (request) => {
      const { action, ...filters } = request.query;
      const { ids, people, byState, more } = await matchDeliveries(request, filters, action, ports);
      return { action, count: ids.length, people, by_state: { ...byState }, more, ceiling: MAX_JOB_ITEMS };
    },
  );

  app.post(
    '/v1/workspaces/:workspace/deliveries/count',
    {
      config: { permission: 'read', audit: false },
      bodyLimit: MAX_CHOICE_BYTES,
      schema: {
        operationId: 'countChosenDeliveries',
        tags: ['Deliveries'],
        summary:
          'Number of these deliveries an action applies to, and of their recipients. Shown before the action runs',
        params: inWorkspace,
        body: z.strictObject({ action: z.enum(DECISIONS), ids: chosenIds }),
        response: { 200: chosenCountBody },
      },
    },
    async (request) => {
      const { action, ids: named } = request.body;
      const { ids, people, byState, more } = await chooseOf(named, request.params.workspace, action, ports);
      const count = { count: ids.length, people, by_state: { ...byState }, more, ceiling: MAX_JOB_ITEMS };
      return { action, ...count, ids: [...ids] };
    },
  );
}

function deadLetterCount(app: ApiServer, ports: JobKindPorts): void {
  app.get(
    '/v1/workspaces/:workspace/dead-letters/count',
    {
      config: { permission: 'read' },
      schema: {
        operationId: 'countDeadLetters',
        tags: ['Dead letters'],
        summary: 'Number of dead letters that are neither redriven nor dismissed. Shown before all are redriven',
        params: inWorkspace,
        querystring: z.strictObject(timeRange),
        response: { 200: deadLetterCountBody },
      },
    },
    async ({ params: { workspace }, query }) => {
      const range = readRange(query, ports.clock.now());
      const { ids, receipts, more } = await chooseDeadLetters({ workspace, ...range }, ports);
      return {
        count: ids.length,
        receipts,
        more,
        ceiling: MAX_JOB_ITEMS,
        leaving: await countLeaving(workspace, ports),
      };
    },
  );
}

async function countLeaving(workspace: string, ports: JobKindPorts): Promise<DeadLetterCountBody['leaving']> {
  const leaving = await countLeavingLetters({ workspace }, ports);
  return leaving && { count: leaving.count, from: formatInstant(leaving.from) };
}

function suppressionCount(app: ApiServer, ports: JobKindPorts): void {
  app.post(
    '/v1/workspaces/:workspace/suppressions/count',
    {
      config: { permission: 'operate', audit: false },
      bodyLimit: MAX_CHOICE_BYTES,
      schema: {
        operationId: 'countSuppressions',
        tags: ['Suppressions'],
        summary: 'Number of these entries that exist, and of the addresses they suppress. Shown before removal',
        params: inWorkspace,
        body: z.strictObject({ entries: chosenEntries.optional(), filter: entryFilter.optional() }),
        response: { 200: suppressionCountBody },
      },
    },
    async ({ params: { workspace }, body }) => {
      const choice = readCountedChoice(body, 'entries');
      const { entries, more } =
        'named' in choice
          ? await findEntries(workspace, choice.named, ports)
          : await matchEntries(workspace, choice.filter, ports);
      const addresses = await countAddresses(workspace, entries, ports);
      return { removed: entries.length, ...addresses, more, ceiling: MAX_JOB_ITEMS };
    },
  );
}

function consentCount(app: ApiServer, ports: JobKindPorts): void {
  app.post(
    '/v1/workspaces/:workspace/consents/count',
    {
      config: { permission: 'operate', audit: false },
      bodyLimit: MAX_CHOICE_BYTES,
      schema: {
        operationId: 'countConsents',
        tags: ['Consents'],
        summary: 'Number of people and opt-outs. Shown before the opt-outs are removed',
        params: inWorkspace,
        body: z.strictObject({ people: chosenPeople.optional(), filter: optOutFilter.optional() }),
        response: { 200: consentCountBody },
      },
    },
    async (request) => {
      const { workspace } = request.params;
      const choice = readCountedChoice(request.body, 'people');
      const { people, more } =
        'named' in choice
          ? { people: await findOptOuts(workspace, choice.named, ports), more: false }
          : await matchOptOuts(request, workspace, choice.filter, ports);
      const words = people.reduce((sum, { optOuts }) => sum + optOuts.length, 0);
      return { people: people.length, words, more, ceiling: MAX_JOB_ITEMS };
    },
  );
}
