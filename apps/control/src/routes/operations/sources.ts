import { sourceBody, sourcePage, sourceResetRequest, type SourceResetRequest } from '@carillon/contracts';
import { canPassOver, readUntil, resetStart, spanOnAudit, type TopicStart } from '@carillon/domain/changes';
import { CarillonError, formatInstant } from '@carillon/kernel';
import type { StoredSource } from '@carillon/ports';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { principalOf } from '../../access/principal.ts';
import { visibleScopeOf, type VisibleScope } from '../../access/visible-scope.ts';
import { audited } from '../../audit/facts.ts';
import { placeOf } from '../../names.ts';
import type { ControlPorts } from '../../ports.ts';
import { showSource } from '../../shown-sources.ts';
import { listPaging, pageOfAll } from '../../whole-lists.ts';
import { acrossWorkspaces, withNameAcross, type ApiServer } from '../app.ts';

type SourcePorts = Pick<ControlPorts, 'configuration' | 'sources' | 'clock'>;

/**
 * Attempts to write a reset. The engine updates the status of a source every few seconds, so one of five attempts meets
 * no concurrent write.
 */
const MAX_ATTEMPTS = 5;

/** Databases and Kafka clusters that are read: how they are, and how a stopped one begins again. */
export function sourceRoutes(app: ApiServer, ports: SourcePorts): void {
  listRoute(app, ports);
  readRoute(app, ports);
  resetRoute(app, ports);
}

function listRoute(app: ApiServer, { configuration, sources, clock }: SourcePorts): void {
  app.get(
    '/v1/workspaces/:workspace/sources',
    {
      config: { permission: 'read', across: true },
      schema: {
        operationId: 'listSources',
        tags: ['Integrations'],
        summary: 'Databases and Kafka clusters that are read: state, lag, last change, and what ends a state',
        params: acrossWorkspaces,
        querystring: z.strictObject(listPaging),
        response: { 200: sourcePage },
      },
    },
    async (request) => {
      const found = await sourcesInSight(visibleScopeOf(request), sources);
      const { rows, next } = pageOfAll(
        found,
        ({ workspace, integration }) => `${workspace}/${integration}`,
        request.query,
      );
      const now = clock.now();
      return { items: rows.map((source) => showSource(source, configuration.current(), now)), next };
    },
  );
}

function readRoute(app: ApiServer, ports: SourcePorts): void {
  app.get(
    '/v1/workspaces/:workspace/sources/:name',
    {
      config: { permission: 'read', across: true, problems: ['not_found'] },
      schema: {
        operationId: 'readSource',
        tags: ['Integrations'],
        summary: 'One database or Kafka cluster that is read, with its tables or topics',
        params: withNameAcross,
        response: { 200: sourceBody },
      },
    },
    async (request) => {
      const source = await findSource(visibleScopeOf(request), request.params.name, ports);
      return showSource(source, ports.configuration.current(), ports.clock.now());
    },
  );
}

function resetRoute(app: ApiServer, ports: SourcePorts): void {
  app.post(
    '/v1/workspaces/:workspace/sources/:name/reset',
    {
      config: {
        permission: 'operate',
        audit: 'source.reset',
        across: true,
        problems: ['not_found', 'conflict', 'wrong_state'],
      },
      schema: {
        operationId: 'resetSource',
        tags: ['Integrations'],
        summary: 'Lets a stopped source begin again, and passes over what is between; ends one that leaves',
        params: withNameAcross,
        body: sourceResetRequest,
        response: { 200: sourceBody },
      },
    },
    (request) => resetSource(request, request.params.name, request.body, ports),
  );
}

async function resetSource(
  request: FastifyRequest,
  name: string,
  { reason, from, gone = false, at: start }: SourceResetRequest,
  ports: SourcePorts,
) {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const source = await findSource(visibleScopeOf(request), name, ports);
    const now = ports.clock.now();
    const span = spanOnAudit({ ...source, ...(start && { start }) }, now);
    audited(request, { workspace: source.workspace, detail: `${span}; ${reason}` });
    refuseState(source, gone, start);
    if (start !== undefined && resetStart(source) !== 'oldest' && !canPassOver(source)) {
      const detail = `source ${source.integration} has no topics, so a reset of it continues at no record`;
      throw new CarillonError('invalid_request', `${detail}: repeat the request without at (--from)`, {
        pointer: '/at',
      });
    }
    refuseOtherSpan(source, from);
    const reset = {
      by: principalOf(request).actor,
      reason,
      at: now,
      from: source.position,
      gone,
      ...(start && { start }),
    };
    if ((await ports.sources.requestReset(source, source.version, reset)) === 'stale') continue;
    return showSource({ ...source, version: source.version + 1, reset }, ports.configuration.current(), now);
  }
  throw new CarillonError('conflict', `source ${name} keeps changing: look at it again, then repeat the request`);
}

function refuseState(source: StoredSource, gone: boolean, start: TopicStart | undefined): void {
  const { integration, state, reset } = source;
  const refused = (detail: string): CarillonError => new CarillonError('wrong_state', detail);
  if (canPassOver(source) && start !== 'end') {
    throw refused(
      `source ${integration} waits for a schema: register it, or pass over the unread records: repeat the request with at end (--from end)`,
    );
  }
  if (state.kind === 'running' || (state.kind === 'waiting' && !canPassOver(source))) {
    throw refused(
      `source ${integration} is ${state.kind}: only a source that is stopped, or that was removed from the configuration, can be reset`,
    );
  }
  if (reset) throw refused(`source ${integration} was reset at ${formatInstant(reset.at)}, which is not done yet`);
  if (state.kind === 'leaving' && !gone) {
    throw refused(
      `source ${integration} leaves: run the SQL that drops its slot, then confirm with gone (--gone) that the slot is dropped or the database is gone`,
    );
  }
  if (state.kind !== 'leaving' && gone) {
    throw refused(
      `source ${integration} is ${state.kind} and does not leave: repeat the request without gone (--gone)`,
    );
  }
}

function refuseOtherSpan({ integration, position }: StoredSource, from: string | null): void {
  const until = readUntil(position);
  const at = until === null ? null : formatInstant(until);
  if (at === from) return;
  const words = at === null ? 'nothing was read yet' : `everything up to ${at} was read`;
  throw new CarillonError(
    'conflict',
    `source ${integration} has changed since it was shown: ${words}. Look at it again, then send its read_until as from`,
    { pointer: '/from' },
  );
}

async function findSource(scope: VisibleScope, name: string, { sources }: SourcePorts): Promise<StoredSource> {
  const found = await sourcesInSight(scope, sources);
  const namesIn = (workspace: string): readonly string[] =>
    found.filter((source) => source.workspace === workspace).map(({ integration }) => integration);
  const workspace = placeOf('source', name, scope, namesIn);
  const source = found.find((one) => one.workspace === workspace && one.integration === name);
  if (!source) throw new CarillonError('not_found', `there is no source ${name}`);
  return source;
}

/** Returns the sources that a request may see. */
async function sourcesInSight(
  { workspace, sees }: VisibleScope,
  sources: SourcePorts['sources'],
): Promise<readonly StoredSource[]> {
  return (await sources.list(workspace)).filter((source) => sees(source.workspace));
}
