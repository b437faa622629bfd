import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Delivery } from '@carillon/domain/deliveries';
import { notification, ORDER_PAID, ORDERS, PAID_MAIL, stream, template } from '@carillon/testing/given';
import { untilFound } from '@carillon/testing/topology';
import { RoleUnderTest } from './delivery-role.ts';

let under: RoleUnderTest;
beforeEach(async () => {
  under = await RoleUnderTest.open();
});
afterEach(() => under.close());

const [rule] = Object.values(ORDER_PAID.rules);
if (!rule) throw new Error('there is a rule');
const TEMPLATE = {
  ...PAID_MAIL,
  sms: { text: 'Order {{order_id}}: {{note}}' },
  push: { title: 'Order {{order_id}}', body: '{{note}}', data: { order: '{{order_id}}' }, priority: 'high' as const },
};

/** A shop without a provider, that tells of a paid order on every channel. */
async function shop(uniqueId?: string): Promise<void> {
  const to = { email: 'event.email', phone: 'event.phone', token: 'event.token' };
  await under.topology.publish(
    stream('orders', ORDERS),
    template('order-paid', TEMPLATE),
    notification('order-paid', {
      channels: {
        email: { template: 'order-paid' },
        sms: { template: 'order-paid' },
        push: { template: 'order-paid' },
      },
      rules: {
        paid: { ...rule, recipients: { from: 'event', to, ...(uniqueId !== undefined && { unique_id: uniqueId }) } },
      },
    }),
  );
  await under.start();
}

const pay = (more: object): Promise<string> =>
  under.topology.event({ status: 'paid', order_id: 'A-1', note: 'Thanks', ...more }, { stream: 'shop/orders' });
const ended = (): Promise<readonly Delivery[]> =>
  untilFound('three deliveries that have ended', async () => {
    const all = await under.deliveries();
    const open = all.some(({ state }) => state === 'WAITING' || state === 'SENDING');
    return all.length < 3 || open ? undefined : all.toSorted((a, b) => (a.slot.channel < b.slot.channel ? -1 : 1));
  });
const fatesOf = (all: readonly Delivery[]): string[] =>
  all.map(({ slot, state, reason }) => `${slot.channel} ${state} ${reason}`);

describe('one event on three channels', () => {
  it('sends each channel its own message to its own address', async () => {
    await shop('event.order_id');
    await pay({ email: 'Ada@Example.com', phone: '+49 (30) 123456', token: 'dKz_A:APA91b' });
    expect(fatesOf(await ended())).toEqual(['email SENT accepted', 'push SENT accepted', 'sms SENT accepted']);
    const { items } = await under.topology.data.inbox.list({}, 10);
    expect(items.map(({ message }) => message)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ channel: 'email', to: 'ada@example.com', subject: 'Order A-1 is paid' }),
        { channel: 'sms', to: '+4930123456', text: 'Order A-1: Thanks' },
        expect.objectContaining({
          channel: 'push',
          to: 'dKz_A:APA91b',
          title: 'Order A-1',
          body: 'Thanks',
          data: { order: 'A-1' },
          priority: 'high',
        }),
      ]),
    );
    expect(items).toHaveLength(3);
  });

  it.each([
    ['a phone without plus', { phone: '030 123456' }, 'sms'],
    ['a phone too long', { phone: '+1234567890123456' }, 'sms'],
    ['a phone with letters', { phone: '+49 30 CALL' }, 'sms'],
    ['a phone of no country', { phone: '+999 123456789' }, 'sms'],
    ['a token with a control character', { token: 'a\u0007b' }, 'push'],
    ['a token of 5,000 characters', { token: 'x'.repeat(5000) }, 'push'],
    ['an email address that is none', { email: 'ada at example.com' }, 'email'],
  ])('suppresses %s as an invalid address, and sends on the others', async (_what, wrong, channel) => {
    await shop('event.order_id');
    await pay({ email: 'ada@example.com', phone: '+4930123456', token: 'token', ...wrong });
    const all = await ended();
    expect(fatesOf(all.filter(({ slot }) => slot.channel === channel))).toEqual([
      `${channel} SUPPRESSED invalid_address`,
    ]);
    expect(all.filter(({ state }) => state === 'SENT')).toHaveLength(2);
  });

  it('suppresses the channels without an address, with that reason', async () => {
    await shop('event.order_id');
    await pay({ phone: '+4930123456' });
    expect(fatesOf(await ended())).toEqual([
      'email SUPPRESSED no_address',
      'push SUPPRESSED no_address',
      'sms SENT accepted',
    ]);
  });

  it('without a unique_id identifies the person by the first address in channel order', async () => {
    await shop();
    await pay({ phone: '+49 30 123456', token: 'token' });
    const all = await ended();
    expect(new Set(all.map(({ slot }) => slot.uniqueId))).toEqual(new Set(['+4930123456']));
    expect(new Set(all.map(({ intent }) => intent.person))).toEqual(new Set(['+4930123456']));
  });

  it.each([
    [
      'an SMS of eleven segments',
      'a'.repeat(1540),
      'sms',
      'text: it takes 11 segments (GSM-7), and 10 are sent at most',
    ],
    ['an SMS of a megabyte', 'a'.repeat(200_000), 'sms', 'text: The result is longer than 1600 characters'],
    ['a push notification over 4 KB', 'é'.repeat(2100), 'push', /^it has 42\d\d bytes of notification and data/],
  ])('fails %s with its reason, and never sends it in part', async (_what, note, channel, why) => {
    await shop('event.order_id');
    await pay({ email: 'ada@example.com', phone: '+4930123456', token: 'token', note });
    const all = await ended();
    const own = all.find(({ slot }) => slot.channel === channel);
    expect(own).toMatchObject({ state: 'FAILED', reason: 'cannot_render' });
    expect(own?.history.at(-1)?.detail).toMatch(why);
    const { items } = await under.topology.data.inbox.list({}, 10);
    expect(items.filter(({ message }) => message.channel === channel)).toEqual([]);
  });

  it('event values cannot add a header, a title line or a MIME part', async () => {
    await shop('event.order_id');
    const evil = 'A-1\r\nBcc: eve@evil.example';
    await pay({ order_id: evil, email: 'ada@example.com', phone: '+4930123456', token: 'token' });
    await ended();
    const { items } = await under.topology.data.inbox.list({}, 10);
    const lines = items.map(({ message }) =>
      message.channel === 'email' ? message.subject : message.channel === 'push' ? message.title : '',
    );
    expect(lines.filter((line) => line !== null && /[\r\n]/.test(line))).toEqual([]);
    expect(lines).toContain('Order A-1 Bcc: eve@evil.example');
  });
});
