import { entityBody, type EntityBody } from '@carillon/contracts';
import { readEntityState, type EntityState, type EntityStatePorts } from '@carillon/insight';
import { formatInstant } from '@carillon/kernel';
import { z } from 'zod';
import { visibleScopeOf } from '../../access/visible-scope.ts';
import { auditContentRead } from '../../audit/hook.ts';
import { seesMasked } from '../../access/masking/mask-answers.ts';
import type { ControlPorts } from '../../ports.ts';
import { withNameAcross, type ApiServer } from '../app.ts';
import { streamPath } from './streams.ts';

/** As many bytes as the value at the key of a stream may have. */
const MAX_KEY = 1024;
const withEntity = withNameAcross.extend({ key: z.string().min(1).max(MAX_KEY) });

export function entityRoutes(app: ApiServer, ports: EntityStatePorts & Pick<ControlPorts, 'configuration'>): void {
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
      const stream = streamPath(name, visibleScopeOf(request), ports.configuration.current());
      const workspace = stream.slice(0, stream.indexOf('/'));
      const state = await readEntityState({ workspace, stream, key }, ports);
      const isMasked = seesMasked(request);
      if (!isMasked) await auditContentRead(request, { workspace, target: stream });
      return { stream, key, ...showEntityState(state, isMasked) };
    },
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
