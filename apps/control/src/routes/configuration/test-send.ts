import { testSentBody } from '@carillon/contracts';
import { canonicalAddress, CHANNEL_NAMES, CHANNELS, channelsOf, templateOf } from '@carillon/domain/channels';
import { findResource, sandboxedWords } from '@carillon/domain/configuration';
import type { Delivery, Intent } from '@carillon/domain/deliveries';
import { CarillonError, formatInstant, readTraceparent } from '@carillon/kernel';
import { deliveryIdOf, intentRecord, makeTestIntent, readIdempotencyKey } from '@carillon/stages';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { principalOf } from '../../access/principal.ts';
import { insteadOf, namesOf } from '../../names.ts';
import type { RoutePorts } from '../../ports.ts';
import { createRate } from '../../rate.ts';
import { notFound, oneOfWords, withName, type ApiServer } from '../app.ts';
import { renderedWith, variablesOf } from './templates.ts';

const testSendRequest = z.strictObject({
  ...renderedWith,
  channel: oneOfWords('channel', CHANNEL_NAMES),
  template: z
    .string()
    .max(100)
    .optional()
    .describe('A template to send as this notification; defaults to the one that the notification has on the channel'),
  to: z.string().min(1).max(4096).describe('An address of the channel: nobody else gets it'),
});

type TestSendPorts = Pick<RoutePorts, 'configuration' | 'book' | 'ids' | 'clock' | 'log' | 'codecs' | 'ledger'>;

/**
 * `template test-send`: sends one marked message (docs/internals/evidence.md). The request only appends an intent to
 * the log. The message is then delivered like any other, apart from the exemptions of test messages.
 */
export function testSendRoute(app: ApiServer, ports: TestSendPorts): void {
  const rate = createRate({ what: 'test messages', most: 20, span: 60_000 });
  app.post(
    '/v1/workspaces/:workspace/notifications/:name/test-send',
    {
      config: {
        permission: 'configure',
        audit: 'test_message.send',
        problems: [
          'not_found',
          'invalid_request',
          'invalid_idempotency_key',
          'wrong_state',
          'idempotency_mismatch',
          'rate_limited',
          'log_unavailable',
        ],
      },
      schema: {
        operationId: 'testSendNotification',
        tags: ['Notifications'],
        summary:
          'Sends one message that is marked as a test, over the account that would be taken. `Idempotency-Key`: the same again is the same message',
        params: withName,
        body: testSendRequest,
        response: { 202: testSentBody },
      },
    },
    async (request, reply) => {
      const intent = intentOf(request, request.params, request.body, ports);
      const id = deliveryIdOf(intent, ports.ids);
      const known = await ports.ledger.get(id);
      if (known && !isSame(known, intent)) {
        const detail = 'Idempotency-Key: it was used for another test message; send a new key, or the same request';
        throw new CarillonError('idempotency_mismatch', detail);
      }
      if (!known) {
        // The only bound for test messages, because limits and quiet hours do not apply to them.
        rate.take(JSON.stringify([principalOf(request).name, request.params.workspace]), ports.clock.now());
        // Once acknowledged, the intent is taken into custody even after a crash. A repeat changes nothing.
        await ports.log.append([intentRecord(intent, ports)]);
      }
      const sandboxed = sandboxedWords(ports.configuration.current(), request.params.workspace);
      return reply.code(202).send({
        delivery_id: id,
        notification: intent.notification,
        channel: intent.slot.channel,
        to: intent.to ?? '',
        template: intent.template,
        template_version: intent.templateVersion,
        notes: sandboxed === null ? [] : [sandboxed],
        not_after: formatInstant(known?.notAfter ?? intent.notAfter),
      });
    },
  );
}

function intentOf(
  request: FastifyRequest,
  { workspace, name }: z.infer<typeof withName>,
  body: z.infer<typeof testSendRequest>,
  { configuration, book, ids, clock }: TestSendPorts,
): Intent {
  const current = configuration.current();
  const notification = findResource(current, 'notification', workspace, name);
  if (!notification) {
    const known = namesOf(current, 'notification')(workspace);
    throw notFound(`notification ${name} in workspace ${workspace}`, insteadOf(name, known));
  }
  if (notification.body.enabled === false) {
    const detail = `notification ${name} is switched off, and nothing of it is sent; \`template preview\` shows its messages`;
    throw new CarillonError('wrong_state', detail);
  }
  const { channel } = body;
  if (body.template !== undefined) {
    const found = findResource(current, 'template', workspace, body.template);
    if (!found || !templateOf(found.body, channel)) {
      const detail = `template: no published template ${body.template} has ${channel}`;
      throw new CarillonError('invalid_request', detail, { pointer: '/template' });
    }
  }
  const to = canonicalAddress(channel, body.to);
  if (to === null) throw new CarillonError('invalid_request', `to: this is no ${CHANNELS[channel].address.words}`);
  const key = readIdempotencyKey(headerOf(request, 'idempotency-key'));
  if (!key.ok) throw key.error;
  const by = principalOf(request).name;
  const asked = {
    notification,
    channel,
    template: body.template ?? null,
    to,
    variables: variablesOf(body),
    by,
    // A key belongs to its caller, so that equal keys of two callers never collide.
    key: key.value === null ? ids.token() : `${by}\n${key.value}`,
    traceparent: readTraceparent(headerOf(request, 'traceparent')),
  };
  const intent = makeTestIntent(asked, current, book, { ids, now: clock.now() });
  if (intent) return intent;
  const has = channelsOf(notification.body).map(([one]) => one);
  throw new CarillonError('invalid_request', `channel: notification ${name} sends by ${has.join(', ')} alone`);
}

/**
 * Returns true if the request repeats an earlier one with equal address and content. The configuration and the template
 * may have changed since.
 */
const isSame = ({ intent }: Delivery, { test }: Intent): boolean => intent.test?.request === test?.request;

/** Node joins what comes twice by a comma, which no key and no trace context holds. */
function headerOf({ headers }: FastifyRequest, name: string): string | null {
  const value = headers[name];
  return value === undefined ? null : String(value);
}
