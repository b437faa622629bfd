import { importedBody, restoredBody, suppressedBody, suppressionPage, unsuppressedBody } from '@carillon/contracts';
import { canonicalAddress, CHANNEL_NAMES, channelByLooks, CHANNELS, type ChannelName } from '@carillon/domain/channels';
import { SUPPRESSION_SOURCES } from '@carillon/domain/deliveries';
import { CarillonError, csvLine, formatInstant, type Instant, type Json } from '@carillon/kernel';
import type { Ids, Suppression, SuppressionFilter } from '@carillon/ports';
import type { FastifyRequest } from 'fastify';
import { runYielding } from '@carillon/stages';
import { z } from 'zod';
import { principalOf } from '../../access/principal.ts';
import { visibleScopeOf, type VisibleScope } from '../../access/visible-scope.ts';
import { audited, keyedDigest, keyedTarget } from '../../audit/facts.ts';
import { auditEach } from '../../audit/hook.ts';
import { showSuppression } from '../../bodies.ts';
import { personNames } from '../../person-names.ts';
import { CSV, csvBody, importQuery, MAX_CSV_BYTES, MAX_CSV_ROWS, joinLines, sendCsv } from '../../csv/csv-type.ts';
import { readTableCoroutine, type RowFault } from '../../csv/read-table.ts';
import { pageInSight } from '../../pages-in-sight.ts';
import type { ControlPorts } from '../../ports.ts';
import { openRemovedSuppressions, sealRemovedSuppressions } from '../../undo-seals.ts';
import { acrossWorkspaces, inWorkspace, notFound, oneOfWords, paging, type ApiServer } from '../app.ts';

/** Longer than the longest address of any channel, which is a device token. */
export const addressText = z.string().min(1).max(4096);
export const channelWord = oneOfWords('channel', CHANNEL_NAMES);
export const sourceWord = oneOfWords('source', SUPPRESSION_SOURCES);

export const suppressionFilters = {
  channel: channelWord.optional(),
  address: addressText.optional().describe('Whatever its case and form'),
  source: sourceWord.optional(),
};
type Filters = z.infer<z.ZodObject<typeof suppressionFilters>>;

/** Rows that an export reads at once. */
const READ_BATCH_SIZE = 200;
/** Rows that an import writes at once: events of others wait behind one batch of each import. */
const WRITE_BATCH_SIZE = 50;

const COLUMNS = ['workspace', 'channel', 'address', 'source', 'detail', 'by', 'delivery_id', 'at'] as const;

const which = z.strictObject({ channel: channelWord, address: addressText });

type SuppressionPorts = Pick<ControlPorts, 'suppressions' | 'clock' | 'ids' | 'undoSealer' | 'slice' | 'people'>;

export function suppressionRoutes(app: ApiServer, ports: SuppressionPorts): void {
  listSuppressionsRoute(app, ports);
  addSuppressionRoute(app, ports);
  removeSuppressionRoute(app, ports);
  restoreSuppressionsRoute(app, ports);
  importSuppressionsRoute(app, ports);
  exportSuppressionsRoute(app, ports);
}

function listSuppressionsRoute(app: ApiServer, ports: SuppressionPorts): void {
  app.get(
    '/v1/workspaces/:workspace/suppressions',
    {
      config: { permission: 'bodies', across: true },
      schema: {
        operationId: 'listSuppressions',
        tags: ['Suppressions'],
        summary: 'Addresses that nothing is sent to: an entry for each source, with who and when',
        params: acrossWorkspaces,
        querystring: z.strictObject({ ...paging, ...suppressionFilters }),
        response: { 200: suppressionPage },
      },
    },
    async (request) => {
      const { limit, cursor, ...wanted } = request.query;
      const page = await readPage(ports, visibleScopeOf(request), wanted, limit, cursor);
      return { items: page.items.map(showSuppression), next: page.next };
    },
  );
}

function addSuppressionRoute(app: ApiServer, ports: SuppressionPorts): void {
  const { suppressions, clock } = ports;
  app.post(
    '/v1/workspaces/:workspace/suppressions',
    {
      config: {
        permission: 'operate',
        audit: 'suppression.add',
        auditTarget: (request) => auditTarget(request, ports),
      },
      schema: {
        operationId: 'addSuppression',
        tags: ['Suppressions'],
        summary: 'Sends nothing more to an address; source `operator`',
        params: inWorkspace,
        body: which.extend({ detail: z.string().max(500).default('').describe('Why, for people') }),
        response: { 200: suppressedBody },
      },
    },
    async (request) => {
      const { channel, address: text, detail } = request.body;
      const { workspace } = request.params;
      const address = canonicalAddress(channel, text);
      if (address === null) throw new CarillonError('invalid_request', noAddress(channel), { pointer: '/address' });
      const by = principalOf(request).name;
      const at = clock.now();
      const before = await suppressions.sources(workspace, channel, address);
      const added = await suppressions.addAll([
        { workspace, channel, address, source: 'operator', detail, deliveryId: null, by, at },
      ]);
      const items = await suppressions.sources(workspace, channel, address);
      auditChange(request, before, items, ports);
      return { added: added > 0, items: items.map(showSuppression) };
    },
  );
}

function removeSuppressionRoute(app: ApiServer, ports: SuppressionPorts): void {
  const { suppressions } = ports;
  app.post(
    '/v1/workspaces/:workspace/suppressions/remove',
    {
      config: {
        permission: 'operate',
        audit: 'suppression.remove',
        auditTarget: (request) => auditTarget(request, ports),
        problems: ['not_found'],
      },
      schema: {
        operationId: 'removeSuppression',
        tags: ['Suppressions'],
        summary: 'Removes the suppressions of an address by one source or by all sources',
        params: inWorkspace,
        body: which.extend({ source: sourceWord.optional().describe('Defaults to all sources') }),
        response: { 200: unsuppressedBody },
      },
    },
    async (request) => {
      const { workspace } = request.params;
      const { channel, address, source } = request.body;
      const before = await suppressions.sources(workspace, channel, address);
      const removed = await suppressions.remove(workspace, channel, address, source);
      const left = await suppressions.sources(workspace, channel, address);
      auditChange(request, before, left, ports);
      if (!removed) throw notFound('such suppressed address', stillHeld(left));
      const taken = before.filter((one) => source === undefined || one.source === source);
      return { removed, still: left.map(showSuppression), undo: sealRemovedSuppressions(ports, workspace, taken) };
    },
  );
}

function restoreSuppressionsRoute(app: ApiServer, ports: SuppressionPorts): void {
  const { suppressions, ids } = ports;
  app.post(
    '/v1/workspaces/:workspace/suppressions/restore',
    {
      config: { permission: 'operate', audit: 'suppression.add' },
      schema: {
        operationId: 'restoreSuppressions',
        tags: ['Suppressions'],
        summary: 'Restores removed suppressions unchanged. Existing ones stay as they are',
        params: inWorkspace,
        body: z.strictObject({ undo: z.string().describe('As `remove` answered it') }),
        response: { 200: restoredBody },
      },
    },
    async (request) => {
      const { workspace } = request.params;
      const entries = openRemovedSuppressions(ports, workspace, request.body.undo);
      if (!entries) {
        const detail = 'undo: it does not come from a removal in this workspace; send the text unchanged';
        throw new CarillonError('invalid_request', detail, { pointer: '/undo' });
      }
      audited(request, { after: keyedDigest(ids, entries.map(toldOf)) });
      let restored = 0;
      await auditEach(
        request,
        entries,
        (entry) => auditTargetOf(ids, entry),
        async (part) => {
          restored += await suppressions.addAll(part);
        },
      );
      return { restored };
    },
  );
}

function importSuppressionsRoute(app: ApiServer, ports: SuppressionPorts): void {
  const { suppressions, clock, ids } = ports;
  app.post(
    '/v1/workspaces/:workspace/suppressions/import',
    {
      config: { permission: 'operate', audit: 'suppression.import' },
      bodyLimit: MAX_CSV_BYTES,
      schema: {
        operationId: 'importSuppressions',
        tags: ['Suppressions'],
        summary: 'Adds addresses of a CSV file, source `import`; doing it again changes nothing',
        consumes: [CSV],
        params: inWorkspace,
        querystring: z.strictObject({
          ...importQuery,
          channel: channelWord.optional().describe('Of rows that name none; without it, by the form of the address'),
        }),
        body: csvBody,
        response: { 200: importedBody },
      },
    },
    async (request) => {
      const { workspace } = request.params;
      const { channel, first_line: firstLine } = request.query;
      const shape = { columns: COLUMNS, needed: ['address'], firstLine, mostRows: MAX_CSV_ROWS } as const;
      const table = await runYielding(readTableCoroutine(request.body, shape), ports.slice);
      const entry = { workspace, by: principalOf(request).name, at: clock.now() };
      const entries: Suppression[] = [];
      const faults: RowFault[] = [...table.faults];
      for (const { line, cell } of table.rows) {
        if (ports.slice.isExpired()) await ports.slice.yield();
        const read = readEntry(cell, channel, entry);
        if (typeof read === 'string') faults.push({ line, message: read });
        else entries.push(read);
      }
      let added = 0;
      audited(request, { after: keyedDigest(ids, entries.map(toldOf)) });
      const target = (one: Suppression): string => auditTargetOf(ids, one);
      await auditEach(request, entries, target, async (part) => {
        for (let from = 0; from < part.length; from += WRITE_BATCH_SIZE) {
          added += await suppressions.addAll(part.slice(from, from + WRITE_BATCH_SIZE));
        }
      });
      return {
        rows: table.rows.length + table.faults.length,
        taken: entries.length,
        added,
        refused: faults.length,
        faults: faults.toSorted((a, b) => a.line - b.line),
        ignored_columns: [...table.ignored],
      };
    },
  );
}

function exportSuppressionsRoute(app: ApiServer, ports: SuppressionPorts): void {
  app.get(
    '/v1/workspaces/:workspace/suppressions/export',
    {
      config: { permission: 'bodies', audit: 'suppression.export', across: true, streams: true },
      schema: {
        operationId: 'exportSuppressions',
        tags: ['Suppressions'],
        summary: 'The list as a CSV file, newest first; `import` takes it',
        produces: [CSV],
        params: acrossWorkspaces,
        querystring: z.strictObject(suppressionFilters),
        response: { 200: z.string() },
      },
    },
    (request, reply) => {
      sendCsv(reply, 'suppressions.csv', rowsOf(visibleScopeOf(request), request.query, ports));
    },
  );
}

function auditTarget({ params, body }: FastifyRequest, ports: SuppressionPorts): string {
  const { ids } = ports;
  const { workspace } = params as z.infer<typeof inWorkspace>;
  const { channel, address } = body as z.infer<typeof which>;
  return auditTargetOf(ids, { workspace, channel, address: canonicalAddress(channel, address) ?? address });
}

/** Audits a change of an address's suppressions, with the sources before and after. */
function auditChange(
  request: FastifyRequest,
  before: readonly Suppression[],
  after: readonly Suppression[],
  ports: SuppressionPorts,
): void {
  const { ids } = ports;
  audited(request, {
    before: keyedDigest(ids, before.map(toldOf)),
    after: keyedDigest(ids, after.map(toldOf)),
  });
}

const readPage = (ports: SuppressionPorts, sight: VisibleScope, wanted: Filters, limit: number, cursor?: string) =>
  pageInSight(sight, limit, cursor, (most, from) =>
    ports.suppressions.list(suppressionFilter(sight.workspace, wanted), most, from),
  );

async function* rowsOf(sight: VisibleScope, wanted: Filters, ports: SuppressionPorts): AsyncGenerator<string> {
  yield csvLine(COLUMNS);
  const nameOf = personNames(ports);
  let cursor: string | undefined;
  do {
    const page = await readPage(ports, sight, wanted, READ_BATCH_SIZE, cursor);
    const named = await Promise.all(page.items.map(async (one) => ({ ...one, by: await nameOf(one.by ?? '') })));
    yield await joinLines(named, exportedLine, ports.slice);
    cursor = page.next ?? undefined;
  } while (cursor !== undefined);
}

/** Returns the audit target of an address: a keyed hash, the same for every change of its entries. */
export const auditTargetOf = (
  ids: Pick<Ids, 'keyed'>,
  { workspace, channel, address }: Pick<Suppression, 'workspace' | 'channel' | 'address'>,
): string => keyedTarget(ids, workspace, channel, address);

/** Returns the content of a suppression whose digest is audited. */
const toldOf = (one: Suppression): Json => ({ ...one, by: one.by ?? null });

const exportedLine = ({ workspace, channel, address, source, detail, by, deliveryId, at }: Suppression): string =>
  csvLine([workspace, channel, address, source, detail, by ?? '', deliveryId ?? '', formatInstant(at)]);

export const suppressionFilter = (
  workspace: string | undefined,
  { channel, address, source }: Filters,
): SuppressionFilter => ({
  ...(workspace !== undefined && { workspace }),
  ...(channel !== undefined && { channel }),
  ...(address !== undefined && { address }),
  ...(source !== undefined && { source }),
});

/** Returns the mistake without the address, which must not get into logs. */
const noAddress = (channel: ChannelName): string => `address: it is no ${CHANNELS[channel].address.words}`;

function stillHeld(left: readonly Suppression[]): string {
  return left.length === 0 ? '' : `still suppressed by: ${left.map(({ source }) => source).join(', ')}`;
}

type Column = (typeof COLUMNS)[number];
type Entry = { readonly workspace: string; readonly by: string; readonly at: Instant };

/** Returns the entry of a row, or its mistake. Source and reason from the file are kept as text. */
function readEntry(cell: (name: Column) => string, given: ChannelName | undefined, entry: Entry): Suppression | string {
  const word = cell('channel').toLowerCase();
  const channel =
    word === '' ? (given ?? channelByLooks(cell('address'))) : CHANNEL_NAMES.find((name) => name === word);
  if (channel === undefined) {
    return word === ''
      ? `channel: the address is no email address, and a phone number begins with +; write ${CHANNEL_NAMES.join(', ')} into the row, or say one for all rows (--channel, ?channel=)`
      : `channel: takes ${CHANNEL_NAMES.join(', ')}`;
  }
  const workspace = cell('workspace');
  if (workspace !== '' && workspace !== entry.workspace) return `workspace: it is of another workspace, ${workspace}`;
  const address = canonicalAddress(channel, cell('address'));
  if (address === null) return noAddress(channel);
  const source = cell('source');
  const detail = [source === 'import' ? '' : source, cell('detail')].filter((words) => words !== '').join(': ');
  return { ...entry, channel, address, source: 'import', detail: detail.slice(0, 500), deliveryId: null };
}
