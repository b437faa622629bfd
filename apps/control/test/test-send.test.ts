import { readConsentLink } from '@carillon/domain/consent';
import { accountsOf, findNotification, providerResult, type Delivery } from '@carillon/domain/deliveries';
import { createCustodyStage, attemptDelivery } from '@carillon/stages';
import type { ChannelSender, RenderedMessage } from '@carillon/ports';
import { deployment, notification, ORDER_PAID, ORDERS, stream, template, workspaceOf } from '@carillon/testing/given';
import { openTopology, type Topology } from '@carillon/testing/topology';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Permission } from '../src/access/permission.ts';
import { showContent } from '../src/content.ts';
import type { Control, ControlPorts } from '../src/index.ts';
import { accessOf, openControl, personWith, plainSealer } from './control-fixture.ts';
import { createMemoryStores } from '@carillon/testing/memory';

const [rule] = Object.values(ORDER_PAID.rules);
if (!rule) throw new Error('there is a rule');
const LINKS = '{{unsubscribe_url}} {{preferences_url}}';
const WRITTEN = {
  email: {
    subject: 'Order {{order_id}}, {{customer.name}}',
    html: '<p>{{currency total "EUR"}} at {{date at time="short"}}</p><a href="{{url unsubscribe_url}}">No more</a>',
    text: `{{order_id}}: {{note}} ${LINKS}`,
  },
  sms: { text: `{{order_id}}: {{currency total "EUR"}} {{unsubscribe_url}}` },
  push: {
    title: 'Order {{order_id}}',
    body: '{{note}} {{number total}}',
    link: '{{preferences_url}}',
    data: { order: '{{order_id}}' },
    priority: 'high' as const,
  },
};
const EVENT = {
  order_id: 'A-1',
  total: 1234.5,
  at: '2026-11-22T10:00:00Z',
  customer: { name: 'Ada' },
  note: 'Grüße ☃',
};
const TO = { email: 'Me@Example.com', sms: '+49 30 123456', push: 'token' } as const;

let topology: Topology;
let control: Control;
const sent: RenderedMessage[] = [];
const sender: ChannelSender = {
  async send(message) {
    sent.push(message);
    return providerResult('accepted', '250', 'fine');
  },
  check: async () => [],
  close: async () => undefined,
};

beforeAll(async () => {
  topology = await openTopology({ partitions: 1 });
  const channels = {
    email: { template: 'order-paid' },
    sms: { template: 'order-paid' },
    push: { template: 'order-paid' },
  };
  // All of the day but one minute.
  const quiet_hours = { from: '00:00', to: '23:59', then: 'drop' as const };
  await topology.publish(
    deployment({ public_url: 'https://notify.example.com' }),
    workspaceOf({}),
    stream('orders', ORDERS),
    template('order-paid', WRITTEN),
    notification('order-paid', {
      ...ORDER_PAID,
      id: 'ntf_paid',
      category: 'orders',
      channels,
      cadence: { quiet_hours },
    }),
    notification('off', {
      ...ORDER_PAID,
      id: 'ntf_off',
      channels: { email: { template: 'order-paid' } },
      enabled: false,
    }),
  );
  control = await controlOf(['read', 'configure', 'bodies']);
});
beforeEach(() => {
  sent.length = 0;
});
afterAll(async () => {
  await control.app.close();
  await topology.close();
});

const controlOf = async (permissions: readonly Permission[], more: Partial<ControlPorts> = {}): Promise<Control> =>
  (
    await openControl(accessOf(personWith('ann', permissions)), {
      ...(topology.ports as unknown as Partial<ControlPorts>),
      answerSealer: plainSealer,
      ...more,
    })
  ).control;

type Answer = { readonly status: number; readonly body: Readonly<Record<string, unknown>> };
async function post(
  url: string,
  payload: object,
  headers: Readonly<Record<string, string>> = {},
  from = control,
): Promise<Answer> {
  const answer = await from.app.inject({ method: 'POST', url: `/v1/workspaces/shop/${url}`, payload, headers });
  return { status: answer.statusCode, body: answer.json() };
}
async function get(url: string): Promise<Answer['body']> {
  const answer = await control.app.inject({ method: 'GET', url: `/v1/workspaces/shop/${url}` });
  return answer.json();
}
const event = JSON.stringify(EVENT);
type Channel = keyof typeof TO;
const testSend = (more: object = {}, headers: Readonly<Record<string, string>> = {}) =>
  post('notifications/order-paid/test-send', { channel: 'email', to: TO.email, event, ...more }, headers);

/** Takes logged intents into custody like the delivery role. Idempotent. */
async function custody(): Promise<void> {
  const stage = createCustodyStage({ ...topology.ports, due: () => undefined });
  const records = await topology.records('carillon.intents');
  for (let times = 0; times < 2; times += 1)
    await stage.handle(records, { partition: 0, configNumber: -1, watermark: 0 });
}
const deliveryOf = async (id: unknown): Promise<Delivery> => {
  const delivery = await topology.data.ledger.get(String(id) as Delivery['id']);
  if (!delivery) throw new Error(`no delivery ${String(id)}`);
  return delivery;
};
/** One attempt over the account that would be taken, as the delivery role makes it. */
async function attempt(id: unknown) {
  const delivery = await deliveryOf(id);
  const newest = topology.ports.configuration.current();
  const own = findNotification(newest, delivery.slot);
  const [choice] = own ? accountsOf(newest, own, delivery.slot.channel) : [];
  if (!choice) throw new Error('there is an account');
  const stopping = new AbortController().signal;
  const ports = { ...topology.ports, pause: () => Promise.resolve(), stopping, collect: async () => [] };
  return attemptDelivery(
    delivery,
    { choice, sender, release: () => undefined },
    { retryAt: null, anotherAccount: false },
    ports,
  );
}

describe('a test message', () => {
  it('is on the log before the response, and is sent despite quiet hours', async () => {
    const { status, body } = await testSend();
    expect(status).toBe(202);
    expect(body).toMatchObject({
      notification: 'order-paid',
      channel: 'email',
      to: 'me@example.com',
      template: 'order-paid',
    });
    await custody();
    const before = await deliveryOf(body['delivery_id']);
    expect(before).toMatchObject({ state: 'WAITING', intent: { test: { by: 'ann' }, to: 'me@example.com' } });
    expect(before.notAfter - before.createdAt).toBeLessThanOrEqual(3_600_000);
    expect(await attempt(body['delivery_id'])).toMatchObject({ kind: 'called', delivery: { state: 'SENT' } });
    expect(sent).toMatchObject([{ channel: 'email', to: 'me@example.com', subject: 'Order A-1, Ada' }]);
  });

  it('is marked as a test with its requester in lists, JSON and trace', async () => {
    const { body } = await testSend();
    await custody();
    const shown = { test: true, test_by: 'ann', event_id: null, trigger_id: null, rule: null, rule_version: null };
    expect(await get(`deliveries/${String(body['delivery_id'])}`)).toMatchObject(shown);
    const { items } = await get('deliveries?test=true');
    expect(items).toContainEqual(expect.objectContaining({ ...shown, id: body['delivery_id'] }));
    expect(await get('deliveries?test=false')).toMatchObject({ items: [] });
    const { steps } = await get(`deliveries/${String(body['delivery_id'])}/trace`);
    expect(steps).toMatchObject([
      { step: 'intent', text: 'test message, asked for by ann: order-paid by email, template order-paid version 1' },
      { step: 'delivery', state: 'WAITING' },
    ]);
  });

  it('uses a template on a channel that the notification does not have yet', async () => {
    await topology.publish(
      notification('mail-only', {
        ...ORDER_PAID,
        rules: {},
        id: 'ntf_mail',
        channels: { email: { template: 'mail' } },
      }),
      template('mail', { email: { subject: 'x', text: 'x' } }),
    );
    const asked = (more: object) =>
      post('notifications/mail-only/test-send', { channel: 'sms', to: TO.sms, event, ...more });
    expect(await asked({})).toMatchObject({ status: 400 });
    for (const named of ['mail', 'none']) {
      const detail = `template: no published template ${named} has sms`;
      expect(await asked({ template: named })).toMatchObject({ status: 400, body: { detail, pointer: '/template' } });
    }
    const { status, body } = await asked({ template: 'order-paid' });
    expect({ status, body }).toMatchObject({ status: 202, body: { template: 'order-paid', channel: 'sms' } });
    await custody();
    sent.length = 0;
    expect(await attempt(body['delivery_id'])).toMatchObject({ kind: 'called', delivery: { state: 'SENT' } });
    expect(sent).toMatchObject([{ channel: 'sms', to: '+4930123456' }]);
  });

  it('is sent once per Idempotency-Key, and another request under that key is refused', async () => {
    const key = { 'idempotency-key': 'try-1' };
    const first = await testSend({}, key);
    expect((await testSend({}, key)).body['delivery_id']).toBe(first.body['delivery_id']);
    await custody();
    expect((await testSend({}, key)).body).toEqual(first.body);
    expect(await testSend({ to: 'other@example.com' }, key)).toMatchObject({
      status: 422,
      body: { code: 'idempotency_mismatch' },
    });
    expect(await deliveryOf(first.body['delivery_id'])).toMatchObject({ duplicates: 0 });
    expect((await testSend()).body['delivery_id']).not.toBe(first.body['delivery_id']);
  });

  it('has the same idempotency key after its template changed, and another one with a different variable', async () => {
    const key = { 'idempotency-key': 'try-3' };
    const written = (text: string) => template('changing', { sms: { text } });
    const channels = { sms: { template: 'changing' } };
    await topology.publish(
      written('{{order_id}}'),
      notification('changing', { ...ORDER_PAID, rules: {}, id: 'ntf_changing', channels }),
    );
    const ask = (of: object) =>
      post('notifications/changing/test-send', { channel: 'sms', to: TO.sms, event: JSON.stringify(of) }, key);
    const first = await ask(EVENT);
    await custody();
    await topology.publish(written('{{order_id}} {{note}} {{total}}'));
    expect(await ask(EVENT)).toMatchObject({ status: 202, body: { delivery_id: first.body['delivery_id'] } });
    expect(await ask({ ...EVENT, at: 'never' })).toMatchObject({ status: 422, body: { code: 'idempotency_mismatch' } });
  });

  it('that is requested again after its first response expired is sent once, and the repeat is a duplicate', async () => {
    const key = { 'idempotency-key': 'try-2' };
    const { body } = await testSend({}, key);
    const forgetful = await controlOf(['read', 'configure', 'bodies'], {
      idempotency: createMemoryStores().connect().idempotency,
    });
    const other = { channel: 'email', to: 'other@example.com', event };
    expect((await post('notifications/order-paid/test-send', other, key, forgetful)).status).toBe(202);
    await forgetful.app.close();
    await custody();
    expect(await deliveryOf(body['delivery_id'])).toMatchObject({ duplicates: 1, intent: { to: 'me@example.com' } });
  });

  it('does not count as notified', async () => {
    const told = () => topology.data.ledger.countAddresses({ workspace: 'shop' }, ['SENT']);
    const before = await told();
    const { body } = await testSend({ to: 'nobody-else@example.com' });
    await custody();
    await attempt(body['delivery_id']);
    expect(await deliveryOf(body['delivery_id'])).toMatchObject({ state: 'SENT' });
    expect(await told()).toBe(before);
  });

  it.each([
    ['another notification', 'ordr-paid', {}, 404, 'did you mean order-paid?'],
    ['one that is switched off', 'off', {}, 409, 'switched off'],
    ['another channel than it has', 'off', { channel: 'sms' }, 409, 'switched off'],
    ['an address that is none', 'order-paid', { to: 'ada at example' }, 400, 'to: this is no email address'],
    ['an address of another channel', 'order-paid', { channel: 'sms' }, 400, 'to: this is no phone number'],
    ['an event that is none', 'order-paid', { event: '[1]' }, 400, 'event:'],
    ['a locale that is none', 'order-paid', { locale: 'klingon!' }, 400, 'locale: klingon! is not a known language'],
    [
      'a zone that is none',
      'order-paid',
      { time_zone: 'Mars/Base' },
      400,
      'time_zone: Mars/Base is not a known time zone',
    ],
    ['a channel that is none', 'order-paid', { channel: 'mail' }, 400, 'there is no channel mail; did you mean email?'],
  ])('of %s is refused with a fix, and the log stays empty', async (_what, name, more, status, words) => {
    const before = (await topology.records('carillon.intents')).length;
    const asked = { channel: 'email', to: TO.email, event, ...more };
    const refused = await post(`notifications/${name}/test-send`, asked);
    expect(refused.status).toBe(status);
    expect(String(refused.body['detail'])).toContain(words);
    expect(JSON.stringify(refused.body)).not.toContain('example.com');
    expect((await topology.records('carillon.intents')).length).toBe(before);
  });

  it('is limited to twenty per minute and caller; replays do not count', async () => {
    const fresh = await controlOf(['read', 'configure']);
    const ask = (key: string) => {
      const asked = { channel: 'email', to: TO.email, event };
      return post('notifications/order-paid/test-send', asked, { 'idempotency-key': key }, fresh);
    };
    for (let nth = 1; nth <= 20; nth += 1) expect((await ask(`many-${nth}`)).status).toBe(202);
    const before = (await topology.records('carillon.intents')).length;
    const refused = await fresh.app.inject({
      method: 'POST',
      url: '/v1/workspaces/shop/notifications/order-paid/test-send',
      payload: { channel: 'email', to: TO.email, event },
    });
    expect([refused.statusCode, refused.json<Answer['body']>()['code']]).toEqual([429, 'rate_limited']);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect((await topology.records('carillon.intents')).length).toBe(before);
    await custody();
    expect((await ask('many-1')).status).toBe(202);
    topology.clock.pass(60_001);
    expect((await ask('many-21')).status).toBe(202);
    await fresh.app.close();
  });

  it('needs the permission to configure', async () => {
    const reader = await controlOf(['read', 'operate', 'people', 'bodies']);
    const asked = { channel: 'email', to: TO.email, event };
    expect(await post('notifications/order-paid/test-send', asked, {}, reader)).toMatchObject({ status: 403 });
    await reader.app.close();
  });
});

describe('a preview', () => {
  type Previewed = {
    readonly channel: Channel;
    readonly ok: boolean;
    readonly links: Readonly<Record<string, string>>;
  };
  const previewed = async (more: object = {}): Promise<readonly Previewed[]> =>
    (await post('templates/order-paid/preview', { event, ...more })).body['messages'] as readonly Previewed[];
  /** Removes the recipient, the only part that differs per message. */
  const content = (message: RenderedMessage) => {
    const { to: _to, ...said } = showContent(message);
    return said;
  };

  it.each([[{}], [{ locale: 'de-AT', time_zone: 'Europe/Vienna' }]])(
    'is what is sent, to the letter, links included, on every channel (%j)',
    async (more) => {
      const messages = await previewed(more);
      expect(messages.map(({ channel }) => channel)).toEqual(['email', 'sms', 'push']);
      for (const one of messages) {
        const { links, channel } = one;
        const { body } = await testSend({ channel, to: TO[channel], ...more });
        await custody();
        await attempt(body['delivery_id']);
        const [message] = sent.splice(0);
        if (!message) throw new Error('a message was sent');
        const { from, subject, html, text, sms, push } = one as Readonly<Record<string, unknown>>;
        expect(content(message)).toEqual({ channel, from, subject, html, text, sms, push });
        if (message.channel === 'email') expect(message.unsubscribe).toBe(links['unsubscribe']);
        const token = links['unsubscribe']?.split('/').at(-1) ?? '';
        const link = readConsentLink(topology.ports.links.open(token) ?? '');
        expect(link).toMatchObject({ workspace: 'shop', notificationId: 'ntf_paid', category: 'orders', test: true });
      }
    },
  );

  it('uses the requested locale and zone instead of the event’s', async () => {
    const said = JSON.stringify({ ...EVENT, locale: 'en', time_zone: 'UTC' });
    const [mail] = await previewed({ event: said, locale: 'de', time_zone: 'Europe/Berlin' });
    expect(JSON.stringify(mail)).toMatch(/1\.234,50.€ at 22\.11\.2026, 11:00/);
  });
});
