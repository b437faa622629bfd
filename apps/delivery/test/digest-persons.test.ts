import type { NotificationBody } from '@carillon/domain/configuration';
import type { Consents } from '@carillon/domain/consent';
import type { Delivery } from '@carillon/domain/deliveries';
import { notification, ORDER_PAID, ORDERS, stream, template } from '@carillon/testing/given';
import { untilFound } from '@carillon/testing/topology';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RoleUnderTest } from './delivery-role.ts';

const HOUR = 3_600_000;
const [rule] = Object.values(ORDER_PAID.rules);
if (!rule) throw new Error('there is a rule');

let under: RoleUnderTest;
beforeEach(async () => {
  under = await RoleUnderTest.open();
});
afterEach(() => under.close());

const LIST = '{{count}} orders:{{#each items}} {{order_id}}{{/each}}';
/** A shop without a provider that tells of paid orders in digests, on every channel for which an event has an address. */
async function open(channels: readonly ('email' | 'sms' | 'push')[], key?: string): Promise<void> {
  const to = { email: 'event.email', phone: 'event.phone', token: 'event.token' };
  const digest = { window: { fixed: '1h' }, template: 'orders', ...(key !== undefined && { key }) };
  const body: NotificationBody = {
    channels: Object.fromEntries(channels.map((channel) => [channel, { template: 'order' }])),
    cadence: { digest: digest },
    rules: {
      paid: { ...rule!, recipients: { from: 'event', to, unique_id: 'event.order_id', person: 'event.user' } },
    },
  };
  const single = { sms: { text: '{{order_id}}' }, push: { title: '{{order_id}}', body: '{{order_id}}' } };
  await under.topology.publish(
    stream('orders', ORDERS),
    template('order', { ...single, email: { subject: '{{order_id}}', text: '{{order_id}}' } }),
    template('orders', {
      email: { subject: LIST, text: LIST },
      sms: { text: LIST },
      push: { title: '{{count}} orders', body: LIST },
    }),
    notification('order-paid', body),
  );
  await under.start();
}

const pays = (order: string, facts: Readonly<Record<string, string>>): Promise<string> =>
  under.topology.event({ status: 'paid', order_id: order, user: 'ada', ...facts }, { stream: 'shop/orders' });
const digests = async (): Promise<readonly Delivery[]> =>
  (await under.deliveries()).filter(({ intent }) => intent.digest);
const listed = (many: number) =>
  untilFound('all are on a list', async () => {
    const items = (await under.deliveries()).filter(({ state, nextAt }) => state === 'COLLECTED' && nextAt === null);
    return items.length === many || undefined;
  });
const ended = (many: number) =>
  untilFound('the digests have ended', async () => {
    const all = (await digests()).filter(({ state }) => state === 'SENT' || state === 'SUPPRESSED');
    return all.length === many ? all : undefined;
  });
const sentTexts = async () => (await under.topology.data.inbox.list({}, 100)).items.map(({ message }) => message);

describe('a digest', () => {
  it('over SMS and push lists all items in its own template, once per channel', async () => {
    await open(['sms', 'push']);
    const ada = { phone: '+4930123456', token: 'dKz_A:APA91b' };
    for (const order of ['A-1', 'A-2', 'A-3']) await pays(order, ada);
    await listed(6);
    expect(await sentTexts()).toEqual([]);
    under.topology.clock.pass(HOUR);
    const all = await ended(2);
    expect(all.map(({ slot, state }) => `${slot.channel} ${state}`).toSorted()).toEqual(['push SENT', 'sms SENT']);
    const messages = await sentTexts();
    expect(messages).toHaveLength(2);
    expect(messages).toContainEqual({ channel: 'sms', to: ada.phone, text: '3 orders: A-1 A-2 A-3' });
    expect(messages).toContainEqual(
      expect.objectContaining({
        channel: 'push',
        to: ada.token,
        title: '3 orders',
        body: '3 orders: A-1 A-2 A-3',
      }),
    );
    for (const { intent, slot, id } of all) {
      const items = (await under.deliveries()).filter(({ digestedIn }) => digestedIn === id);
      expect(items.map((item) => item.slot.channel)).toEqual([slot.channel, slot.channel, slot.channel]);
      expect(intent.digest?.items).toHaveLength(3);
    }
  });

  it('goes to the address of its items; an item with a new address starts another digest', async () => {
    await open(['email']);
    await pays('A-1', { email: 'old@example.com' });
    await pays('A-2', { email: 'new@example.com' });
    await pays('A-3', { email: 'new@example.com' });
    await listed(3);
    under.topology.clock.pass(HOUR);
    await ended(2);
    const told = (await sentTexts()).map(
      (message) => `${message.to} ${message.channel === 'email' && message.subject}`,
    );
    expect(told.toSorted()).toEqual(['new@example.com 2 orders: A-2 A-3', 'old@example.com 1 orders: A-1']);
  });

  it('with a key belongs to one person: a person who opted out gets none, another person at the same address does', async () => {
    await open(['email'], 'event.project');
    const at = { email: 'office@example.com', project: 'x' };
    await pays('A-1', { ...at, user: 'bob' });
    await pays('A-2', at);
    await pays('A-3', { ...at, user: 'bob' });
    await listed(3);
    const now = under.topology.clock.now();
    const word = { id: 'cns_1', workspace: 'shop', person: 'ada', target: { kind: 'all' }, channel: null } as const;
    const consents: Consents = {
      workspace: 'shop',
      person: 'ada',
      version: 1,
      words: [{ ...word, optedOut: true, way: 'page', at: now }],
      unpublished: [],
      updatedAt: now,
    };
    expect(await under.topology.data.consents.replace(consents)).toBe('done');
    under.topology.clock.pass(HOUR);
    const all = await ended(2);
    const fates = all.map(({ intent, state, reason }) => `${intent.person} ${state} ${reason}`);
    expect(fates.toSorted()).toEqual(['ada SUPPRESSED opted_out', 'bob SENT accepted']);
    expect((await sentTexts()).map((message) => message.channel === 'email' && message.subject)).toEqual([
      '2 orders: A-1 A-3',
    ]);
  });
});
