import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readConsentLink, type Decision } from '@carillon/domain/consent';
import { openDelivery, providerResult, sandboxOf, type Delivery, type Intent } from '@carillon/domain/deliveries';
import type { ChannelSender, RenderedMessage } from '@carillon/ports';
import { deployment, givenIntent, HOUR, ORDER_PAID, orderShop, template } from '@carillon/testing/given';
import { openTopology, type Topology } from '@carillon/testing/topology';
import { decideConsents, deliveryIdOf } from '../../src/index.ts';
import { attemptAndPublish } from './support/attempt-and-publish.ts';

let topology: Topology;
let sent = 0;
const mails: RenderedMessage[] = [];
const publish = async (more: Partial<typeof ORDER_PAID> = {}): Promise<void> => {
  const [rule] = Object.values(ORDER_PAID.rules);
  if (!rule) throw new Error('there is a rule');
  const rules = { paid: { ...rule, id: 'rul_paid' } };
  await topology.publish(...orderShop({ ...ORDER_PAID, id: 'ntf_paid', category: 'orders', rules, ...more }));
};
beforeEach(async () => {
  topology = await openTopology({ partitions: 1 });
  sent = 0;
  mails.length = 0;
  await publish();
});
afterEach(() => topology.close());

const sender: ChannelSender = {
  async send(message) {
    sent += 1;
    mails.push(message);
    return providerResult('accepted', '250', 'fine');
  },
  check: async () => [],
  close: async () => undefined,
};
let made = 0;
async function attempt(facts: Partial<Intent> = {}, over: Partial<Topology['ports']> = {}) {
  const now = topology.clock.now();
  made += 1;
  const intent = givenIntent(`a${made}`, { uniqueId: `u${made}`, causedAt: now, notAfter: now + HOUR, ...facts });
  const moment = { now, derive: topology.ids.derive };
  const delivery: Delivery = openDelivery(intent, 'carillon.intents/0@0', deliveryIdOf(intent, topology.ids), moment);
  await topology.data.ledger.insert([delivery]);
  const hold = { choice: sandboxOf('email'), sender, release: () => undefined };
  const stopping = new AbortController().signal;
  const ports = { ...topology.ports, ...over, pause: () => Promise.resolve(), stopping, collect: async () => [] };
  return attemptAndPublish(delivery, hold, { retryAt: null, anotherAccount: false }, ports);
}
const OUT: Decision = { target: { kind: 'all' }, channel: null, optedOut: true, way: 'one_click' };
const optOut = (person: string, more: Partial<Decision> = {}) =>
  decideConsents('shop', person, [{ ...OUT, ...more }], topology.ports);
const HELD = { kind: 'ended', delivery: { state: 'SUPPRESSED', reason: 'opted_out' } };

describe('a message to a person who opted out', () => {
  it.each([
    ['of everything', {}],
    ['of the category', { target: { kind: 'category', name: 'orders' } }],
    ['of the notification, on this channel', { target: { kind: 'notification', name: 'ntf_paid' }, channel: 'email' }],
  ] as const)('%s is suppressed, with the reason in the delivery', async (_what, decision) => {
    await optOut('user 1', decision);
    const report = await attempt({ person: 'user 1', to: 'ada@example.com' });
    expect(report).toMatchObject(HELD);
    expect('delivery' in report && report.delivery.detail).toMatch(/^opted out of .* with one click, /);
    expect(sent).toBe(0);
  });

  it('is suppressed under any name of the person if the address opted out', async () => {
    await optOut('ada@example.com');
    expect(await attempt({ person: 'user 1', to: 'Ada@EXAMPLE.com.' })).toMatchObject(HELD);
    expect(await attempt({ person: 'ADA@example.com', to: 'other@example.com' })).toMatchObject(HELD);
    expect(await attempt({ person: 'user 1', to: 'other@example.com' })).toMatchObject({ kind: 'called' });
  });

  it('is sent if the opt-out is for another category, channel or workspace', async () => {
    await optOut('user 1', { target: { kind: 'category', name: 'news' } });
    await optOut('user 1', { channel: 'sms' });
    await decideConsents('other', 'user 1', [OUT], topology.ports);
    expect(await attempt({ person: 'user 1' })).toMatchObject({ kind: 'called' });
  });

  it('is suppressed if the category opted out of was renamed since, and sent after the opt-out is withdrawn', async () => {
    await optOut('user 1', { target: { kind: 'category', name: 'purchases' }, channel: 'email' });
    expect(await attempt({ person: 'user 1' })).toMatchObject({ kind: 'called' });
    await topology.publish({
      ref: { kind: 'workspace', workspace: 'shop', name: '' },
      body: { categories: { orders: { was: ['purchases'] }, news: {} } },
    });
    expect(await attempt({ person: 'user 1' })).toMatchObject(HELD);
    await optOut('user 1', { target: { kind: 'category', name: 'purchases' }, channel: 'email', optedOut: false });
    expect(await attempt({ person: 'user 1' })).toMatchObject({ kind: 'called' });
  });

  it('is sent after the opt-out is withdrawn', async () => {
    await optOut('user 1');
    await optOut('user 1', { optedOut: false });
    expect(await attempt({ person: 'user 1' })).toMatchObject({ kind: 'called' });
  });

  it('is sent if it is transactional, but not to a suppressed address', async () => {
    await publish({ transactional: true });
    await optOut('user 1');
    expect(await attempt({ person: 'user 1', to: 'ada@example.com' })).toMatchObject({ kind: 'called' });
    await topology.data.suppressions.add({
      workspace: 'shop',
      channel: 'email',
      address: 'ada@example.com',
      source: 'complaint',
      detail: 'abuse',
      deliveryId: null,
      at: 1,
    });
    expect(await attempt({ person: 'user 1', to: 'ada@example.com' })).toMatchObject({
      delivery: { state: 'SUPPRESSED', reason: 'suppressed_address' },
    });
  });

  it('is sent if it is a requested test message, but not to a suppressed address', async () => {
    await optOut('user 1');
    const test = { by: 'owner' };
    expect(await attempt({ person: 'user 1', to: 'ada@example.com', ruleId: '', test })).toMatchObject({
      kind: 'called',
    });
    const entry = { workspace: 'shop', channel: 'email', address: 'ada@example.com', source: 'operator' } as const;
    await topology.data.suppressions.add({ ...entry, detail: 'asked', deliveryId: null, at: 1 });
    expect(await attempt({ person: 'user 1', to: 'ada@example.com', ruleId: '', test })).toMatchObject({
      delivery: { state: 'SUPPRESSED', reason: 'suppressed_address' },
    });
    expect(await attempt({ person: 'user 1', to: 'bob@example.com', ruleId: '' })).toMatchObject({
      delivery: { state: 'SUPPRESSED', reason: 'rule_withdrawn' },
    });
  });

  it('is suppressed if the opt-out came before the check, in each of many attempts', async () => {
    let answered = false;
    const checks: boolean[] = [];
    const consents = {
      find: (workspace: string, persons: readonly string[]) => {
        const late = answered;
        return topology.data.consents.find(workspace, persons).then((found) => {
          if (late) checks.push(found.length > 0);
          return found;
        });
      },
    };
    const before = Array.from({ length: 5 }, () => attempt({ person: 'user 1' }, { consents } as never));
    await optOut('user 1');
    answered = true;
    const after = await Promise.all(
      Array.from({ length: 20 }, () => attempt({ person: 'user 1' }, { consents } as never)),
    );
    await Promise.all(before);
    expect(after.every((report) => report.kind === 'ended')).toBe(true);
    expect(checks.length).toBeGreaterThanOrEqual(20);
    expect(checks.every(Boolean)).toBe(true);
  });
});

describe('the opt-out links of a message', () => {
  const WITH_LINKS = { email: { subject: 'Paid', text: '{{unsubscribe_url}} {{preferences_url}}' } };
  const reachable = () =>
    topology.publish(deployment({ public_url: 'https://notify.example.com/' }), template('order-paid', WITH_LINKS));

  it('are in its text and header, name the person and the category, and are the same in every attempt', async () => {
    await reachable();
    const number = topology.ports.configuration.current().number;
    const facts = {
      person: 'Ada@Example.com',
      configNumber: number,
      variables: { unsubscribe_url: 'https://evil.example' },
    };
    await attempt(facts);
    await attempt(facts);
    const [first, second] = mails;
    if (first?.channel !== 'email' || second?.channel !== 'email') throw new Error('two mails were sent');
    const [, token = ''] =
      /^https:\/\/notify\.example\.com\/unsubscribe\/([\w-]+)$/.exec(first.unsubscribe ?? '') ?? [];
    expect(first.text).toBe(`${first.unsubscribe} https://notify.example.com/preferences/${token}`);
    expect(readConsentLink(topology.ports.links.open(token) ?? '')).toEqual({
      workspace: 'shop',
      person: 'ada@example.com',
      notificationId: 'ntf_paid',
      category: 'orders',
      channel: 'email',
      test: false,
    });
    expect([second.unsubscribe, second.text]).toEqual([first.unsubscribe, first.text]);
  });

  it('mark a test message as a test, and reveal nobody’s identity', async () => {
    await reachable();
    const configNumber = topology.ports.configuration.current().number;
    await attempt({ person: 'ada@example.com', configNumber, test: { by: 'owner' } });
    await attempt({ person: 'bob@example.com', configNumber, test: { by: 'owner' } });
    const urls = mails.map((mail) => (mail.channel === 'email' ? mail.unsubscribe : ''));
    const link = readConsentLink(topology.ports.links.open(urls[0]?.split('/').at(-1) ?? '') ?? '');
    expect(link).toMatchObject({ notificationId: 'ntf_paid', category: 'orders', person: 'test', test: true });
    expect(urls[1]).toBe(urls[0]);
  });

  it('are absent if nobody can opt out of the message, or if no public address is configured', async () => {
    await topology.publish(template('order-paid', WITH_LINKS));
    await attempt({ configNumber: topology.ports.configuration.current().number });
    await reachable();
    await publish({ transactional: true });
    await topology.publish(template('order-paid', WITH_LINKS));
    await attempt({ configNumber: topology.ports.configuration.current().number });
    expect(mails).toHaveLength(2);
    for (const mail of mails) {
      expect(mail).not.toHaveProperty('unsubscribe');
      expect(mail).toMatchObject({ text: ' ' });
    }
  });
});
