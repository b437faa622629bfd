import { consentBody, consentPage, consentSetBody, importedBody } from '@carillon/contracts';
import { CHANNEL_NAMES } from '@carillon/domain/channels';
import {
  changedWords,
  nameOfTarget,
  personName,
  type Consents,
  type ConsentEntry,
  type Decision,
} from '@carillon/domain/consent';
import { CarillonError, csvLine, formatInstant } from '@carillon/kernel';
import { decideConsents, decideForMany, runYielding, publishConsents, type PersonDecisions } from '@carillon/stages';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { principalOf } from '../../access/principal.ts';
import { visibleScopeOf, type VisibleScope } from '../../access/visible-scope.ts';
import { audited, keyedDigest, keyedTarget } from '../../audit/facts.ts';
import { auditEach } from '../../audit/hook.ts';
import { channelWord, consentFilter, consentFilters, personText, targetWord } from '../../consent-filters.ts';
import { showConsents, showWord, targetNames, type TargetNames } from '../../consent-words.ts';
import { personNames } from '../../person-names.ts';
import { CSV, csvBody, importQuery, MAX_CSV_BYTES, MAX_CSV_ROWS, joinLines, sendCsv } from '../../csv/csv-type.ts';
import { readTableCoroutine, type RowFault } from '../../csv/read-table.ts';
import { shownPage } from '../../pages-in-sight.ts';
import type { ControlPorts } from '../../ports.ts';
import { acrossWorkspaces, inWorkspace, paging, type ApiServer } from '../app.ts';
import {
  COLUMNS,
  exportedLines,
  isByAddress,
  READ,
  readRow,
  underEveryName,
  withNamedAuthors,
} from './consent-rows.ts';

/** People whose documents are read at once for a file. */
const BATCH_SIZE = 200;

type Ports = Pick<ControlPorts, 'consents' | 'configuration' | 'log' | 'codecs' | 'ids' | 'clock' | 'watch'>;

/** Functions for writes of consents: the name of a person, audit digests, and publication to the log. */
const consentWrites = (ports: Ports) => ({
  nameOf: (text: string): string => personName(text, (...parts) => ports.ids.keyed(...parts)),
  digestOfWords: (documents: readonly Consents[]): string | undefined =>
    keyedDigest(
      ports.ids,
      documents.map(({ person, words }) => [person, words.map((word) => ({ ...word, by: word.by ?? null }))]),
    ),
  /** The store has it; what the log does not get now it gets from the sweeper of the delivery role. */
  tell: (documents: readonly Consents[]): Promise<unknown> =>
    publishConsents(documents, ports).catch((error: unknown) => ports.watch.trouble('tell consents', error)),
});

type ConsentContext = Ports & Pick<ControlPorts, 'slice' | 'people'> & ReturnType<typeof consentWrites>;

export function consentRoutes(app: ApiServer, ports: Ports & Pick<ControlPorts, 'slice' | 'people'>): void {
  const context: ConsentContext = {
    ...ports,
    ...consentWrites(ports),
  };
  listConsentsRoute(app, context);
  readConsentsRoute(app, context);
  setConsentRoute(app, context);
  importConsentsRoute(app, context);
  exportConsentsRoute(app, context);
}

function listConsentsRoute(app: ApiServer, context: ConsentContext): void {
  app.get(
    '/v1/workspaces/:workspace/consents',
    {
      config: { permission: 'bodies', across: true },
      schema: {
        operationId: 'listConsents',
        tags: ['Consents'],
        summary: 'Opt-outs and opt-ins of people, with source, author and time',
        params: acrossWorkspaces,
        querystring: z.strictObject({ ...paging, person: personText.optional(), ...consentFilters }),
        response: { 200: consentPage },
      },
    },
    async (request) => {
      const { limit, cursor, person, ...filters } = request.query;
      const sight = visibleScopeOf(request);
      const names = namesIn(context);
      const isWanted = consentFilter(filters, sight, names);
      const page =
        person === undefined
          ? await readPage(context, sight, limit, cursor, isWanted)
          : { items: (await ofPerson(sight, person, context)).filter(isWanted), next: null };
      const items = page.items.map((one) => showConsents(one.workspace, one.person, one, names(one.workspace)));
      return { items, next: page.next };
    },
  );
}

function readConsentsRoute(app: ApiServer, context: ConsentContext): void {
  const { consents, nameOf } = context;
  app.get(
    '/v1/workspaces/:workspace/consents/person',
    {
      config: { permission: 'bodies' },
      schema: {
        operationId: 'readConsents',
        tags: ['Consents'],
        summary: 'The choices of one person, with the notifications that are sent regardless',
        params: inWorkspace,
        querystring: z.strictObject({ person: personText }),
        response: { 200: consentBody },
      },
    },
    async ({ params: { workspace }, query }) => {
      const person = nameOf(query.person);
      const [document = null] = await consents.find(workspace, [person]);
      return showConsents(workspace, person, document, namesIn(context)(workspace));
    },
  );
}

function setConsentRoute(app: ApiServer, context: ConsentContext): void {
  const { consents, nameOf, digestOfWords, tell } = context;
  app.post(
    '/v1/workspaces/:workspace/consents',
    {
      config: {
        permission: 'operate',
        audit: 'consent.set',
        auditTarget: (request) => auditTarget(request, context),
        problems: ['conflict'],
      },
      schema: {
        operationId: 'setConsent',
        tags: ['Consents'],
        summary: 'Stops something for a person, or allows it again, in their place',
        params: inWorkspace,
        body: z.strictObject({
          person: personText,
          target: targetWord,
          name: z.string().max(200).default('').describe('Of the category or the notification'),
          channel: channelWord.nullable().default(null).describe('Null: all'),
          opted_out: z.boolean(),
          undoes: z
            .string()
            .optional()
            .describe('The `at` of a choice in `changed`. Undoes only that choice, and only if it is still the newest'),
        }),
        response: { 200: consentSetBody },
      },
    },
    async (request) => {
      const { workspace } = request.params;
      const { body } = request;
      const names = namesIn(context)(workspace);
      const target = names.target(body.target, body.name);
      if ('fault' in target) throw new CarillonError('invalid_request', `name: ${target.fault}`, { pointer: '/name' });
      const person = nameOf(body.person);
      const by = principalOf(request).name;
      const said = { target, channel: body.channel, optedOut: body.opted_out, way: 'api', by } as const;
      const isUndo = body.undoes !== undefined;
      const decisions = isUndo ? [said] : withEachChannel(said).flatMap((one) => underEveryName(one, names));
      const before = await consents.find(workspace, [person]);
      if (isUndo && !before.some(({ words }) => words.some((word) => isUndone(word, said, body.undoes, names)))) {
        throw new CarillonError('conflict', 'undoes: that choice is no longer the newest; the newer choice stays', {
          pointer: '/undoes',
        });
      }
      const document = await decideConsents(workspace, person, decisions, context);
      audited(request, {
        before: digestOfWords(before),
        after: digestOfWords(document ? [document] : []),
      });
      if (document) await tell([document]);
      const changed = document ? changedWords(before[0] ?? null, document) : [];
      return {
        ...showConsents(workspace, person, document, names),
        changed: changed.map((word) => showWord(word, names)),
      };
    },
  );
}

function importConsentsRoute(app: ApiServer, context: ConsentContext): void {
  const { clock, nameOf, digestOfWords, tell } = context;
  app.post(
    '/v1/workspaces/:workspace/consents/import',
    {
      config: { permission: 'operate', audit: 'consent.import' },
      bodyLimit: MAX_CSV_BYTES,
      schema: {
        operationId: 'importConsents',
        tags: ['Consents'],
        summary: 'Imports opt-outs of a CSV file. If rows have a time, a repeated import does not change newer choices',
        consumes: [CSV],
        params: inWorkspace,
        querystring: z.strictObject({
          ...importQuery,
          channel: channelWord.optional().describe('Channel of rows that name none. Defaults to all channels'),
          category: z.string().max(100).optional().describe('Target of rows that name none. Defaults to everything'),
        }),
        body: csvBody,
        response: { 200: importedBody },
      },
    },
    async (request) => {
      const { workspace } = request.params;
      const { channel = null, category, first_line: firstLine } = request.query;
      const names = namesIn(context)(workspace);
      const otherwise = category === undefined ? { kind: 'all' as const } : names.target('category', category);
      if ('fault' in otherwise) throw new CarillonError('invalid_request', `category: ${otherwise.fault}`);
      const needed = isByAddress(request.body) ? (['address'] as const) : (['person'] as const);
      const shape = { columns: READ, needed, firstLine, mostRows: MAX_CSV_ROWS };
      const table = await runYielding(readTableCoroutine(request.body, shape), context.slice);
      const given = { workspace, channel, target: otherwise, by: principalOf(request).name, now: clock.now(), names };
      const faults: RowFault[] = [...table.faults];
      const people = new Map<string, Decision[]>();
      for (const { line, cell } of table.rows) {
        if (context.slice.isExpired()) await context.slice.yield();
        const read = readRow(cell, given);
        if (typeof read === 'string') {
          faults.push({ line, message: read });
          continue;
        }
        const person = nameOf(read.person);
        people.set(person, [...(people.get(person) ?? []), ...read.decisions]);
      }
      const all = [...people].map(([person, decisions]): PersonDecisions => ({ person, decisions }));
      const documents: Consents[] = [];
      let added = 0;
      const target = ({ person }: PersonDecisions): string => keyedTarget(context.ids, workspace, person);
      await auditEach(request, all, target, async (part) => {
        const decided = await decideForMany(workspace, part, context);
        documents.push(...decided.documents);
        added += decided.changed;
      });
      audited(request, { after: digestOfWords(documents) });
      await tell(documents);
      const rows = table.rows.length + table.faults.length;
      return {
        rows,
        taken: rows - faults.length,
        added,
        refused: faults.length,
        faults: faults.toSorted((a, b) => a.line - b.line),
        ignored_columns: [...table.ignored],
      };
    },
  );
}

function exportConsentsRoute(app: ApiServer, context: ConsentContext): void {
  app.get(
    '/v1/workspaces/:workspace/consents/export',
    {
      config: { permission: 'bodies', audit: 'consent.export', across: true, streams: true },
      schema: {
        operationId: 'exportConsents',
        tags: ['Consents'],
        summary: 'Choices of people as a CSV file that `import` accepts',
        produces: [CSV],
        params: acrossWorkspaces,
        response: { 200: z.string() },
      },
    },
    (request, reply) => {
      sendCsv(reply, 'consents.csv', rowsOf(visibleScopeOf(request), context));
    },
  );
}

/** Names of the targets in the workspaces that are shown; those of each are listed once. */
const namesIn = (context: ConsentContext): ((workspace: string) => TargetNames) => {
  const known = new Map<string, TargetNames>();
  const configuration = context.configuration.current();
  return (workspace) => {
    const names = known.get(workspace) ?? targetNames(configuration, workspace);
    known.set(workspace, names);
    return names;
  };
};

const readPage = (
  context: ConsentContext,
  sight: VisibleScope,
  limit: number,
  cursor?: string,
  isWanted: (one: Consents) => boolean = () => true,
) =>
  shownPage(
    limit,
    cursor,
    (most, from) => context.consents.list(sight.workspace, most, from),
    (one) => sight.sees(one.workspace) && isWanted(one),
  );

/** Returns the documents of one person in every visible workspace. */
async function ofPerson(sight: VisibleScope, person: string, context: ConsentContext): Promise<readonly Consents[]> {
  const { consents, nameOf } = context;
  const names = [nameOf(person)];
  return (await Promise.all(sight.names.map((workspace) => consents.find(workspace, names)))).flat();
}

function auditTarget({ params, body }: FastifyRequest, context: ConsentContext): string {
  const { nameOf } = context;
  const { workspace } = params as z.infer<typeof inWorkspace>;
  return keyedTarget(context.ids, workspace, nameOf((body as { readonly person: string }).person));
}

async function* rowsOf(sight: VisibleScope, context: ConsentContext): AsyncGenerator<string> {
  const names = namesIn(context);
  const authorOf = personNames(context);
  yield csvLine(COLUMNS);
  let cursor: string | undefined;
  do {
    const page = await readPage(context, sight, BATCH_SIZE, cursor);
    const named = await Promise.all(page.items.map((one) => withNamedAuthors(one, authorOf)));
    yield await joinLines(named, (one) => exportedLines(one, names(one.workspace)), context.slice);
    cursor = page.next ?? undefined;
  } while (cursor !== undefined);
}

/**
 * Allowing something on all channels also clears opt-outs for single channels, because the person wants the messages
 * again.
 */
const withEachChannel = (said: Decision): readonly Decision[] =>
  said.optedOut || said.channel !== null ? [said] : [said, ...CHANNEL_NAMES.map((channel) => ({ ...said, channel }))];

/**
 * Returns true if the stored choice is the one that a decision undoes, compared by time. It may be stored under a
 * former name of the category.
 */
const isUndone = (word: ConsentEntry, said: Decision, at: string | undefined, names: TargetNames): boolean =>
  word.channel === said.channel &&
  word.optedOut !== said.optedOut &&
  formatInstant(word.at) === at &&
  names
    .everyName(said.target)
    .some((one) => one.kind === word.target.kind && nameOfTarget(one) === nameOfTarget(word.target));
