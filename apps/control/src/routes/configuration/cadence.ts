import { explainedCadenceBody } from '@carillon/contracts';
import type { ExplainedCadence } from '@carillon/domain/cadence';
import { findResource, localityOf, sandboxedWords } from '@carillon/domain/configuration';
import { CarillonError, formatInstant, isTimeZone, parseInstant, type Instant } from '@carillon/kernel';
import { explainForPerson } from '@carillon/stages';
import { z } from 'zod';
import { insteadOf, namesOf } from '../../names.ts';
import type { RoutePorts } from '../../ports.ts';
import { inWorkspace, notFound, type ApiServer } from '../app.ts';

const explainRequest = z.strictObject({
  notification: z.string().max(200),
  person: z.string().min(1).max(4096).describe('As the rule names the person: an id of theirs, else the address'),
  time_zone: z.string().max(100).optional().describe('Time zone of the person. Defaults to that of the workspace'),
  at: z.string().max(40).optional().describe('A time in RFC 3339. Defaults to now'),
});

type CadencePorts = Pick<RoutePorts, 'configuration' | 'limits' | 'ledger' | 'ids' | 'clock'>;

/** `cadence explain`: what would meet a message now, by the functions that delivery goes by. Nothing is written. */
export function cadenceRoutes(app: ApiServer, ports: CadencePorts): void {
  app.post(
    '/v1/workspaces/:workspace/cadence/explain',
    {
      config: { permission: 'read', audit: false, problems: ['not_found', 'invalid_request'] },
      schema: {
        operationId: 'explainCadence',
        tags: ['Notifications'],
        summary: 'What quiet hours and limits would say of a message to a person now, and until when',
        params: inWorkspace,
        body: explainRequest,
        response: { 200: explainedCadenceBody },
      },
    },
    async ({ params: { workspace }, body }) => {
      const current = ports.configuration.current();
      const notification = findResource(current, 'notification', workspace, body.notification);
      if (!notification) {
        const known = namesOf(current, 'notification')(workspace);
        throw notFound(
          `notification ${body.notification} in workspace ${workspace}`,
          insteadOf(body.notification, known),
        );
      }
      const zone = zoneOf(body.time_zone) ?? localityOf(current, workspace, {}).locality.timeZone;
      const at = instantOf(body.at) ?? ports.clock.now();
      const explained = await explainForPerson(current, notification, { person: body.person, zone, at }, ports);
      const sandboxed = sandboxedWords(current, workspace);
      return {
        notification: body.notification,
        at: formatInstant(at),
        time_zone: zone,
        transactional: notification.body.transactional === true,
        notes: sandboxed === null ? [] : [sandboxed],
        channels: explained.map(channelBody),
      };
    },
  );
}

function zoneOf(text: string | undefined): string | undefined {
  if (text === undefined || isTimeZone(text)) return text;
  throw new CarillonError('invalid_request', `time_zone: ${text} is not a known time zone`, { pointer: '/time_zone' });
}

function instantOf(text: string | undefined): Instant | undefined {
  if (text === undefined) return undefined;
  const at = parseInstant(text);
  if (at !== undefined) return at;
  throw new CarillonError('invalid_request', `at: expected a time such as 2026-11-22T21:00:00Z; found ${text}`, {
    pointer: '/at',
  });
}

const orNull = (at: Instant | null): string | null => (at === null ? null : formatInstant(at));

const channelBody = ({ channel, verdict, reason, until, quietHours, limits }: ExplainedCadence) => ({
  channel,
  verdict,
  reason,
  until: orNull(until),
  quiet_hours: quietHours && { then: quietHours.then, until: formatInstant(quietHours.until) },
  limits: limits.map(({ limit, max, then, count, underWay, by, roomFrom }) => ({
    limit,
    max,
    then,
    count,
    under_way: underWay,
    filled_by: [...by],
    room_from: orNull(roomFrom),
  })),
});
