import { workspaceHealthPage, type WorkspaceHealthBody } from '@carillon/contracts';
import type { StoredSource } from '@carillon/ports';
import { z } from 'zod';
import { visibleScopeOf } from '../../access/visible-scope.ts';
import type { ControlPorts } from '../../ports.ts';
import { countCalls, recentCalls } from '../../provider-calls.ts';
import { waitingPartners } from '../../waiting-partners.ts';
import { listPaging, pageOfAll } from '../../whole-lists.ts';
import type { ApiServer } from '../app.ts';

const MAX_COUNTED = 500;

type OverviewPorts = Pick<ControlPorts, 'ledger' | 'readModels' | 'sources' | 'tasks' | 'clock' | 'slice'>;

/** Route that lists what needs a person, for each visible workspace. */
export function overviewRoute(app: ApiServer, ports: OverviewPorts): void {
  app.get(
    '/v1/overview',
    {
      config: { permission: 'read', across: true },
      schema: {
        operationId: 'listWorkspaceHealth',
        tags: ['Deployment'],
        summary: 'A row for each workspace: in doubt, dead letters, refused, waiting, databases that are not read',
        querystring: z.strictObject(listPaging),
        response: { 200: workspaceHealthPage },
      },
    },
    async (request) => {
      const { rows: names, next } = pageOfAll(visibleScopeOf(request).names, (name) => name, request.query);
      const partners = await waitingPartners((name) => names.includes(name), ports);
      const states = (await ports.sources.list()).map(({ workspace, state }) => ({ workspace, kind: state.kind }));
      const items: WorkspaceHealthBody[] = [];
      for (const workspace of names) {
        if (ports.slice.isExpired()) await ports.slice.yield();
        const events = partners.filter((one) => one.workspace === workspace).map((one) => one.events);
        items.push({
          ...(await healthOf(workspace, ports)),
          ...countSources(states.filter((one) => one.workspace === workspace).map(({ kind }) => kind)),
          waiting_for_partners: events.reduce((sum, count) => sum + count, 0),
        });
      }
      return { items, next };
    },
  );
}

type SourceCounts = Pick<WorkspaceHealthBody, 'sources_waiting' | 'sources_stopped'>;

const countSources = (kinds: readonly StoredSource['state']['kind'][]): SourceCounts => ({
  sources_waiting: kinds.filter((kind) => kind === 'waiting' || kind === 'leaving').length,
  sources_stopped: kinds.filter((kind) => kind === 'stopped').length,
});

async function healthOf(
  workspace: string,
  { ledger, readModels, clock }: OverviewPorts,
): Promise<Omit<WorkspaceHealthBody, 'waiting_for_partners' | keyof SourceCounts>> {
  const [inDoubt, letters, { calls }, waiting] = await Promise.all([
    ledger.list({ workspace, states: ['IN_DOUBT'] }, MAX_COUNTED),
    readModels.deadLetters({ workspace, open: true }, MAX_COUNTED),
    recentCalls(ledger, clock.now(), { workspace }, MAX_COUNTED),
    ledger.waiting({ workspace }, MAX_COUNTED),
  ]);
  return {
    workspace,
    in_doubt: inDoubt.items.length,
    dead_letters: letters.items.length,
    refused: countCalls(calls).refused,
    waiting: waiting.items.length,
  };
}
