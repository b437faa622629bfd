import { entityBody, forgottenEntityBody, type EntityBody } from '@carillon/contracts';
import { hasKey, streamTable, type Configuration } from '@carillon/domain/configuration';
import { readEntityState, type EntityState, type EntityStatePorts } from '@carillon/insight';
import { CarillonError, formatInstant } from '@carillon/kernel';
import { forgetRecord } from '@carillon/stages';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { principalOf } from '../../access/principal.ts';
import { visibleScopeOf } from '../../access/visible-scope.ts';
import { audited, keyedTarget } from '../../audit/facts.ts';
import { auditContentRead } from '../../audit/hook.ts';
import { seesMasked } from '../../access/masking/mask-answers.ts';
import type { ControlPorts } from '../../ports.ts';
import { withNameAcross, type ApiServer } from '../app.ts';
import { streamsOfRules } from '../../names.ts';
import { streamPath } from './streams.ts';

/** Maximum bytes of the value at the key of a stream. */
const MAX_KEY = 1024;
const withEntity = withNameAcross.extend({ key: z.string().min(1).max(MAX_KEY) });

type EntityPorts = EntityStatePorts & Pick<ControlPorts, 'configuration' | 'ids' | 'log'>;

export function entityRoutes(app: ApiServer, ports: EntityPorts): void {
  app.get(
    '/v1/workspaces/:workspace/streams/:name/entities/:key',
    {
      config: { permission: 'read', across: true, problems: ['not_found'] },
      schema: {
        operationId: 'readEntity',
        tags: ['Event streams'],
        summary:
          'What rules keep of an entity of a stream: waits, the newest decisions, and the events that they still need',
        params: withEntity,
        response: { 200: entityBody },
      },
    },
    async (request) => {
      const { name, key } = request.params;
      const { stream, workspace } = entityStream(name, request, ports);
      const state = await readEntityState({ workspace, stream, key }, ports);
      const isMasked = seesMasked(request);
      if (!isMasked) await auditContentRead(request, { workspace, target: stream });
      return { stream, key, ...showEntityState(state, isMasked) };
    },
  );
  app.post(
    '/v1/workspaces/:workspace/streams/:name/entities/:key/forget',
    {
      config: {
        permission: 'operate',
        audit: 'entity.forget',
        across: true,
        problems: ['not_found', 'invalid_request', 'log_unavailable'],
      },
      schema: {
        operationId: 'forgetEntity',
        tags: ['Event streams'],
        summary:
          'Has rules forget an entity of a stream, once the engine has read the record that this appends; its waits end without a message',
        params: withEntity,
        body: z.strictObject({}),
        response: { 202: forgottenEntityBody },
      },
    },
    async (request, reply) => {
      const { name, key } = request.params;
      const { stream, workspace } = entityStream(name, request, ports);
      refuseWithoutKey(stream, ports.configuration.current());
      const { ids, log } = ports;
      audited(request, { workspace, target: stream, detail: `entity ${keyedTarget(ids, stream, key)}` });
      const { actor } = principalOf(request);
      const around = { ids, partitions: log.partitions('carillon.events') };
      await log.append([forgetRecord({ workspace, stream, key }, `${actor.kind}:${actor.id}`, around)]);
      return reply.code(202).send({ stream, key });
    },
  );
}

type EntityStream = { readonly stream: string; readonly workspace: string };

/** Returns a stream that the request names. Entities of a cohort, which are its members, are on a stream of their own. */
function entityStream(
  name: string,
  request: FastifyRequest,
  { configuration }: Pick<EntityPorts, 'configuration'>,
): EntityStream {
  const current = configuration.current();
  const stream = streamPath(name, visibleScopeOf(request), current, streamsOfRules(current));
  return { stream, workspace: stream.slice(0, stream.indexOf('/')) };
}

function refuseWithoutKey(path: string, configuration: Configuration): void {
  const stream = streamTable(configuration).streams.get(path);
  if (stream === undefined || hasKey(stream)) return;
  throw new CarillonError(
    'invalid_request',
    `name: stream ${path} has no key, so rules remember nothing of its events`,
    { pointer: '/name' },
  );
}

const showEntityState = (
  { rules, decisions, events }: EntityState,
  isMasked: boolean,
): Omit<EntityBody, 'stream' | 'key'> => ({
  rules: rules.map(({ rule, ruleId, words, sentence, waitsUntil, eventId }) => ({
    rule,
    rule_id: ruleId,
    words: [...words],
    sentence,
    waits_until: waitsUntil === null ? null : formatInstant(waitsUntil),
    event: eventId,
  })),
  decisions: decisions.map(({ at, rule, ruleId, eventId, waitedFor, words }) => ({
    at: formatInstant(at),
    rule,
    rule_id: ruleId,
    event: eventId,
    waited_for: waitedFor,
    words: [...words],
  })),
  events: events.map(({ id, at, body }) => ({ id, at: formatInstant(at), body: isMasked ? null : body })),
});
