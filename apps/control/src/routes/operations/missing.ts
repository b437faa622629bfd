import { runMissingBody } from '@carillon/contracts';
import { z } from 'zod';
import type { Permission } from '../../access/permission.ts';
import { principalOf } from '../../access/principal.ts';
import { auditContentRead } from '../../audit/hook.ts';
import { findMissing, type FindMissingPorts } from '../../runs/find-missing.ts';
import { findComparison } from '../../runs/find-run.ts';
import { createRowDetails } from '../../runs/row-details.ts';
import { readSelection, selectionFields } from '../../runs/selection.ts';
import { showMissing, showRow } from '../../runs/show-run.ts';
import { withId, type ApiServer } from '../app.ts';

const SEES_ROWS = ['configure', 'operate'] as const satisfies readonly Permission[];
/** Rows that a look shows, from the newest event on. */
const SHOWN_ROWS = 10;

/** Route that shows missing messages before a person sends them. */
export function missingRoute(app: ApiServer, ports: FindMissingPorts): void {
  app.get(
    '/v1/workspaces/:workspace/runs/:id/missing',
    {
      config: {
        permission: 'read',
        problems: ['not_found', 'run_unfinished', 'not_published', 'wrong_state'],
      },
      schema: {
        operationId: 'findMissingMessages',
        tags: ['Runs'],
        summary:
          'Missing messages of a published comparison that can be sent now: counts, checksum and the first ten. Audited if it shows names',
        params: withId,
        querystring: z.strictObject(selectionFields),
        response: { 200: runMissingBody },
      },
    },
    async (request) => {
      const { run } = await findComparison(request.params, ports);
      const selection = readSelection(request.query, ports.clock.now());
      const missing = await findMissing(run, selection, ports);
      const principal = principalOf(request);
      if (!SEES_ROWS.some((permission) => principal.may(permission, run.workspace))) {
        return showMissing(run, missing, { ...selection, rows: null });
      }
      await auditContentRead(request, { workspace: run.workspace, target: run.id });
      const detailsOf = await createRowDetails(run, ports);
      const rows = [];
      for (const { row } of missing.messages.toReversed().slice(0, SHOWN_ROWS)) {
        rows.push(showRow(row, await detailsOf(row)));
      }
      return showMissing(run, missing, { ...selection, rows });
    },
  );
}
