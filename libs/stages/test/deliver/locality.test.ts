import { afterEach, beforeEach, expect, it } from 'vitest';
import type { WorkspaceBody } from '@carillon/domain/configuration';
import { openDelivery, providerResult, sandboxOf, type Delivery } from '@carillon/domain/deliveries';
import type { JsonObject } from '@carillon/kernel';
import type { ChannelSender, RenderedMessage } from '@carillon/ports';
import { givenIntent, HOUR, ORDER_PAID, orderShop, PAID_MAIL, template, workspaceOf } from '@carillon/testing/given';
import { openTopology, type Topology } from '@carillon/testing/topology';
import { attemptDelivery, deliveryIdOf } from '../../src/index.ts';

const PAID_AT = '2026-07-01T22:30:00Z';
const TEXT = '{{date paid_at style="long" time="short"}} / {{currency total "EUR"}}';

let topology: Topology;
let sent: RenderedMessage[] = [];
beforeEach(async () => {
  topology = await openTopology({ partitions: 1 });
  sent = [];
});
afterEach(() => topology.close());

const sender: ChannelSender = {
  async send(message) {
    sent.push(message);
    return providerResult('accepted', '250', 'fine');
  },
  check: async () => [],
  close: async () => undefined,
};

/** A delivery of an event that was judged when the workspace was this. */
async function judged(body: WorkspaceBody, variables: JsonObject = {}): Promise<Delivery> {
  const [rule] = Object.values(ORDER_PAID.rules);
  if (!rule) throw new Error('there is a rule');
  await topology.publish(
    workspaceOf(body),
    ...orderShop({ ...ORDER_PAID, id: 'ntf_paid', rules: { paid: { ...rule, id: 'rul_paid' } } }),
    template('order-paid', { email: { ...PAID_MAIL.email, subject: 's', text: TEXT } }),
  );
  const now = topology.clock.now();
  const intent = givenIntent('a', {
    causedAt: now,
    notAfter: now + HOUR,
    configNumber: topology.ports.configuration.current().number,
    variables: { paid_at: PAID_AT, total: 1234.5, ...variables },
  });
  const moment = { now, derive: topology.ids.derive };
  const delivery = openDelivery(intent, 'carillon.intents/0@0', deliveryIdOf(intent, topology.ids), moment);
  await topology.data.ledger.insert([delivery]);
  return delivery;
}

async function attempt(delivery: Delivery) {
  const hold = { choice: sandboxOf('email'), sender, release: () => undefined };
  const stopping = new AbortController().signal;
  const ports = { ...topology.ports, pause: () => Promise.resolve(), stopping, collect: async () => [] };
  const report = await attemptDelivery(delivery, hold, { retryAt: null, anotherAccount: false }, ports);
  const [message] = sent;
  return { report, text: message && 'text' in message ? message.text : undefined };
}

const BERLIN: WorkspaceBody = { time_zone: 'Europe/Berlin', locale: 'de-DE' };
const IN_BERLIN = '2. Juli 2026 um 00:30 / 1.234,50\u{a0}€';

it('a mail of a workspace in Berlin shows Berlin time and German texts', async () => {
  const { text, report } = await attempt(await judged(BERLIN));
  expect(text).toBe(IN_BERLIN);
  expect(report).toMatchObject({ kind: 'called', wrongLocality: [] });
});

it('the recipient’s own time zone and language take precedence over those of the workspace', async () => {
  const { text, report } = await attempt(await judged(BERLIN, { time_zone: 'Asia/Tokyo', locale: 'fr' }));
  expect(text).toBe('2 juillet 2026 à 07:30 / 1\u{202f}234,50\u{a0}€');
  expect(report).toMatchObject({ kind: 'called', wrongLocality: [] });
});

it('a time zone or language that does not exist is reported, and that of the workspace is used', async () => {
  const { text, report } = await attempt(await judged(BERLIN, { time_zone: 'Mars/Base', locale: 'de_DE' }));
  expect(text).toBe(IN_BERLIN);
  expect(report).toMatchObject({ kind: 'called', wrongLocality: ['time_zone', 'locale'] });
});

it('a message is rendered with the workspace settings and template of the time when its event was evaluated', async () => {
  const delivery = await judged(BERLIN);
  await topology.publish(workspaceOf({ time_zone: 'UTC', locale: 'en' }));
  expect((await attempt(delivery)).text).toBe(IN_BERLIN);
});
