import { runFindingPage } from '@carillon/contracts';
import { isRunOf, type RunFinding } from '@carillon/domain/runs';
import { CarillonError } from '@carillon/kernel';
import { z } from 'zod';
import { STARTS_RUNS } from '../../access/permission.ts';
import { audited } from '../../audit/facts.ts';
import type { RoutePorts } from '../../ports.ts';
import { findRun } from '../../runs/find-run.ts';
import { kindOfRun } from '../../runs/run-kinds.ts';
import { refuseUnfinished } from '../../runs/show-run.ts';
import { paging, withId, type ApiServer } from '../app.ts';

/** The outputs that a verification found wrong. They hold positions, ids and names of fields. */
export function findingsRoute(app: ApiServer, ports: Pick<RoutePorts, 'clock' | 'jobs' | 'runs'>): void {
  app.get(
    '/v1/workspaces/:workspace/runs/:id/findings',
    {
      config: {
        permission: STARTS_RUNS,
        audit: 'content.read',
        problems: ['not_found', 'run_unfinished', 'wrong_state'],
      },
      schema: {
        operationId: 'listRunFindings',
        tags: ['Runs'],
        summary:
          'Outputs that a verification found missing, without cause, or different; without names and addresses; audited',
        params: withId,
        querystring: z.strictObject(paging),
        response: { 200: runFindingPage },
      },
    },
    async (request) => {
      const { run, job } = await findRun(request.params, ports);
      audited(request, { workspace: run.workspace, target: run.id });
      if (!isRunOf(run, 'verify')) {
        throw new CarillonError(
          'wrong_state',
          `${run.id} is a ${kindOfRun(run).noun}, and only a verification has findings`,
        );
      }
      refuseUnfinished(run, job, ports.clock.now());
      const { limit, cursor } = request.query;
      const { items, next } = await ports.runs.findings(run.id, limit, cursor);
      return { items: items.map(showFinding), next };
    },
  );
}

const showFinding = ({ problem, output, id, field, rule, eventId, eventPosition, position }: RunFinding) => ({
  problem,
  output,
  id,
  field,
  rule,
  event: eventId,
  event_position: eventPosition,
  position,
});
