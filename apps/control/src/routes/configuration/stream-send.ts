import { sentEventBody } from '@carillon/contracts';
import { readsSource, streamTable, takesChanges } from '@carillon/domain/configuration';
import { EVENT_LIMITS, readEvent } from '@carillon/domain/events';
import { CarillonError, readTraceparent } from '@carillon/kernel';
import { prepareAppend } from '@carillon/stages';
import { z } from 'zod';
import { principalOf } from '../../access/principal.ts';
import { visibleScopeOf } from '../../access/visible-scope.ts';
import type { RoutePorts } from '../../ports.ts';
import { createRate } from '../../rate.ts';
import { notFound, withName, type ApiServer } from '../app.ts';
import { streamPath } from './streams.ts';

const sendRequest = z.strictObject({
  event: z.string().min(1).max(EVENT_LIMITS.bytes).describe('The event as JSON text, read as the intake would'),
});

type SendPorts = Pick<RoutePorts, 'configuration' | 'ids' | 'clock' | 'log'>;

/**
 * `Send this event now`: appends an event that a person wrote. The engine evaluates it like events of programs, and the
 * log records its author. Claims only bind tokens, so anyone who may configure the stream may send any event to it.
 */
export function streamSendRoute(app: ApiServer, ports: SendPorts): void {
  const rate = createRate({ what: 'events by hand', most: 60, span: 60_000 });
  app.post(
    '/v1/workspaces/:workspace/streams/:name/send',
    {
      config: {
        permission: 'configure',
        audit: 'event.send',
        problems: [
          'not_found',
          'invalid_request',
          'invalid_json',
          'not_an_object',
          'missing_entity_key',
          'missing_event_time',
          'rate_limited',
          'log_unavailable',
        ],
      },
      schema: {
        operationId: 'sendEvent',
        tags: ['Event streams'],
        summary:
          'Sends one event to a stream as the signed-in caller, without its key or token. `name` is the EVENT_PATH with its slash as %2F, or the part after the slash',
        params: withName,
        body: sendRequest,
        response: { 202: sentEventBody },
      },
    },
    async (request, reply) => {
      const { workspace, name } = request.params;
      const configuration = await ports.configuration.refresh();
      const path = streamPath(name, visibleScopeOf(request), configuration);
      const stream = streamTable(configuration).streams.get(path);
      if (!stream || stream.workspace !== workspace) throw notFound(`stream ${name} in workspace ${workspace}`);
      if (readsSource(stream)) {
        const instead = takesChanges(stream) ? 'Change a row instead.' : 'Write a record to its topics instead.';
        throw new CarillonError(
          'invalid_request',
          `${name} takes its events from ${stream.from?.integration ?? ''}, so no event can be sent to it. ${instead}`,
        );
      }
      if (takesChanges(stream)) {
        throw new CarillonError(
          'invalid_request',
          `${name} takes only change events of Debezium. Send one to the address of the stream.`,
        );
      }
      const { clock, ids, log } = ports;
      const bytes = new TextEncoder().encode(request.body.event);
      const read = readEvent(bytes);
      if (!read.ok) {
        const { code, detail, ...facts } = read.error;
        throw new CarillonError(code, `event: ${detail}`, facts);
      }
      const { actor, name: by } = principalOf(request);
      rate.take(JSON.stringify([by, workspace]), clock.now());
      const header = request.headers['traceparent'];
      const traceparent = readTraceparent(typeof header === 'string' ? header : null);
      const prepared = prepareAppend(
        {
          stream,
          principal: `${actor.kind}:${actor.id}`,
          bytes,
          body: read.value.body,
          identity: null,
          traceparent,
        },
        { ids, now: clock.now(), partitions: log.partitions('carillon.events') },
      );
      if (!prepared.ok) throw prepared.error;
      await log.append([prepared.value.record]);
      return reply.code(202).send({ id: prepared.value.id, stream: path });
    },
  );
}
