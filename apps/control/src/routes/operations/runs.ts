import { runBody, runPage, runRequest, runRowContentBody, runRowPage } from '@carillon/contracts';
import { ROW_DIFFERENCES, SLOT_STATES, type CompareRun } from '@carillon/domain/runs';
import { csvLine, type DeliveryId } from '@carillon/kernel';
import { serializeByKey } from '@carillon/stages';
import { z } from 'zod';
import { STARTS_RUNS } from '../../access/permission.ts';
import { audited } from '../../audit/facts.ts';
import { CSV, joinLines, sendCsv } from '../../csv/csv-type.ts';
import type { RoutePorts } from '../../ports.ts';
import { showingActors } from '../../resources/shown.ts';
import { explainRow, type ExplainRowPorts } from '../../runs/explain-row.ts';
import { createRowDetails } from '../../runs/row-details.ts';
import { findComparison, findRun, withJob, type FoundRun } from '../../runs/find-run.ts';
import { refuseUnfinished, showRow, showRun } from '../../runs/show-run.ts';
import type { PrepareRunPorts } from '../../runs/run-kind.ts';
import { startRun } from '../../runs/start-run.ts';
import { inWorkspace, notFound, oneOfWords, paging, withId, type ApiServer } from '../app.ts';
import { findingsRoute } from './run-findings.ts';
import { missingRoute } from './missing.ts';
import { sendingRunRoutes } from './sending-runs.ts';

/** A folder is larger than other bodies. */
const FOLDER_LIMIT = 16 * 1024 * 1024;

const rowFilters = {
  difference: oneOfWords('difference', ROW_DIFFERENCES).optional(),
  slot: oneOfWords('slot state', SLOT_STATES).optional().describe('What the delivery ledger knew when the run ended'),
  rule: z.string().max(400).optional().describe('`notification.rule`'),
  day: z.iso.date().optional().describe('Of the event, in UTC'),
};
type RowFilters = z.infer<z.ZodObject<typeof rowFilters>>;

type RunPorts = PrepareRunPorts &
  ExplainRowPorts &
  Parameters<typeof sendingRunRoutes>[1] &
  Pick<RoutePorts, 'people' | 'runs' | 'jobs' | 'ledger'>;

/** Runs over the log, and the rows of those that compare. */
export function runRoutes(app: ApiServer, ports: RunPorts): void {
  startRoute(app, ports);
  listRoute(app, ports);
  readRoute(app, ports);
  rowsRoute(app, ports);
  exportRoute(app, ports);
  contentRoute(app, ports);
  findingsRoute(app, ports);
  missingRoute(app, ports);
  sendingRunRoutes(app, ports);
}

function startRoute(app: ApiServer, ports: RunPorts): void {
  // The unfinished runs of a workspace are counted before a run is stored.
  const inTurn = serializeByKey();
  app.post(
    '/v1/workspaces/:workspace/runs',
    {
      config: {
        permission: STARTS_RUNS,
        audit: 'run.start',
        answers: ['location'],
        problems: ['not_found', 'invalid_configuration', 'window_empty', 'wrong_state', 'conflict'],
      },
      bodyLimit: FOLDER_LIMIT,
      schema: {
        operationId: 'startRun',
        tags: ['Runs'],
        summary:
          'Compares an edit with what is published over past events, verifies them, or searches them for a text, as a job; nothing is sent',
        params: inWorkspace,
        body: runRequest,
        response: { 202: runBody },
      },
    },
    async (request, reply) => {
      const { workspace } = request.params;
      const run = await inTurn(workspace, () => startRun(request, workspace, request.body, ports));
      reply.code(202).header('location', `/v1/workspaces/${workspace}/runs/${run.id}`);
      return show({ run, job: await ports.jobs.get(run.job) }, ports);
    },
  );
}

function listRoute(app: ApiServer, ports: RunPorts): void {
  app.get(
    '/v1/workspaces/:workspace/runs',
    {
      config: { permission: 'read' },
      schema: {
        operationId: 'listRuns',
        tags: ['Runs'],
        summary: 'Comparisons and verifications of a workspace, newest first',
        params: inWorkspace,
        querystring: z.strictObject(paging),
        response: { 200: runPage },
      },
    },
    async (request) => {
      const { limit, cursor } = request.query;
      const page = await ports.runs.list(request.params.workspace, limit, cursor);
      const found = await Promise.all(page.items.map((run) => withJob(run, ports)));
      const items = found.filter((each) => each !== null).map((each) => show(each, ports));
      return { items: await Promise.all(items), next: page.next };
    },
  );
}

function readRoute(app: ApiServer, ports: RunPorts): void {
  app.get(
    '/v1/workspaces/:workspace/runs/:id',
    {
      config: { permission: 'read', problems: ['not_found'] },
      schema: {
        operationId: 'readRun',
        tags: ['Runs'],
        summary: 'A run (comparison, verification or search): its progress, its counts, and its result in words',
        params: withId,
        response: { 200: runBody },
      },
    },
    async (request) => show(await findRun(request.params, ports), ports),
  );
}

function rowsRoute(app: ApiServer, ports: RunPorts): void {
  app.get(
    '/v1/workspaces/:workspace/runs/:id/rows',
    {
      config: {
        permission: STARTS_RUNS,
        audit: 'content.read',
        problems: ['not_found', 'run_unfinished', 'wrong_state'],
      },
      schema: {
        operationId: 'listRunRows',
        tags: ['Runs'],
        summary: 'Messages on which both sides of a comparison differ, with names and addresses; audited',
        params: withId,
        querystring: z.strictObject({ ...paging, ...rowFilters }),
        response: { 200: runRowPage },
      },
    },
    async (request) => {
      const { run, job } = await findComparison(request.params, ports);
      audited(request, { workspace: run.workspace, target: run.id });
      refuseUnfinished(run, job, ports.clock.now());
      const { limit, cursor, ...filters } = request.query;
      const page = await ports.runs.rows(filterOf(run, filters), limit, cursor);
      const detailsOf = await createRowDetails(run, ports);
      const items = [];
      for (const row of page.items) items.push(showRow(row, await detailsOf(row)));
      return { items, next: page.next };
    },
  );
}

const COLUMNS = [
  'difference',
  'slot_state',
  'rule',
  'channel',
  'event',
  'at',
  'person',
  'before',
  'after',
  'delivery_id',
  'slot',
  'cold',
] as const;
/** Rows that an export reads at once. */
const READ_BATCH_SIZE = 200;

function exportRoute(app: ApiServer, ports: RunPorts): void {
  app.get(
    '/v1/workspaces/:workspace/runs/:id/rows/export',
    {
      config: {
        permission: 'bodies',
        audit: 'run.export',
        streams: true,
        problems: ['not_found', 'run_unfinished', 'wrong_state'],
      },
      schema: {
        operationId: 'exportRunRows',
        tags: ['Runs'],
        summary: 'The same messages as CSV; audited',
        params: withId,
        produces: [CSV],
        querystring: z.strictObject(rowFilters),
        response: { 200: z.string() },
      },
    },
    async (request, reply) => {
      const { run, job } = await findComparison(request.params, ports);
      audited(request, { workspace: run.workspace, target: run.id });
      refuseUnfinished(run, job, ports.clock.now());
      sendCsv(reply, `${run.id}.csv`, csvOf(run, request.query, ports));
      return reply;
    },
  );
}

async function* csvOf(run: CompareRun, filters: RowFilters, ports: RunPorts): AsyncGenerator<string> {
  yield csvLine(COLUMNS);
  const detailsOf = await createRowDetails(run, ports);
  let cursor: string | undefined;
  do {
    const page = await ports.runs.rows(filterOf(run, filters), READ_BATCH_SIZE, cursor);
    const shown = [];
    for (const row of page.items) shown.push(showRow(row, await detailsOf(row)));
    yield await joinLines(shown, (row) => csvLine(COLUMNS.map((column) => String(row[column] ?? ''))), ports.slice);
    cursor = page.next ?? undefined;
  } while (cursor !== undefined);
  // Rows that were removed meanwhile are missing from the file.
  await findRun(run, ports);
}

const withSlot = withId.extend({ slot: z.string().max(200) });

function contentRoute(app: ApiServer, ports: RunPorts): void {
  app.get(
    '/v1/workspaces/:workspace/runs/:id/rows/:slot',
    {
      config: { permission: 'bodies', audit: 'content.read', problems: ['not_found', 'run_unfinished', 'wrong_state'] },
      schema: {
        operationId: 'readRunRow',
        tags: ['Runs'],
        summary: 'A message on which both sides differ, with its content on both sides and why; audited',
        params: withSlot,
        response: { 200: runRowContentBody },
      },
    },
    async (request) => {
      const { run, job } = await findComparison(request.params, ports);
      audited(request, { workspace: run.workspace, target: run.id });
      refuseUnfinished(run, job, ports.clock.now());
      const { slot } = request.params;
      const row = await ports.runs.row(run.id, slot as DeliveryId);
      if (!row) throw notFound(`message ${slot} in run ${run.id}`);
      audited(request, { detail: row.slot });
      return explainRow(run, row, ports);
    },
  );
}

const filterOf = (run: CompareRun, { difference, slot, rule, day }: RowFilters) => ({
  run: run.id,
  difference,
  slotState: slot,
  rule,
  day,
});

const show = ({ run, job }: FoundRun, ports: RunPorts) => showRun(run, job, ports.clock.now(), showingActors(ports));
