import {
  type Delivery,
  beginAttempt,
  endUnsent,
  leaseRanOut,
  providerResult,
  settleAttempt,
} from '@carillon/domain/deliveries';
import type { AttemptId, EventId, Json } from '@carillon/kernel';
import { HOUR, LEASE_SPAN, ORDER_PAID, orderShop, PLAIN_SETTINGS, template } from '@carillon/testing/given';
import { openTopology, type Topology, settle } from '@carillon/testing/topology';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openEvent, openMessage, traceEvent } from '../../src/index.ts';

let topology: Topology;
beforeEach(async () => {
  topology = await openTopology({ partitions: 1 });
  await topology.publish(...orderShop());
});
afterEach(() => topology.close());

const ORDER = { status: 'paid', order_id: 'A-1', customer: { email: 'ada@example.com' }, note: 'ring twice' };
const FIRST = { from: 0, limit: 100 };
const happens = async (body: { readonly [name: string]: Json } = ORDER): Promise<EventId> => {
  const id = await topology.event(body);
  await settle(topology);
  return id;
};
const deliveryOf = async (eventId: EventId): Promise<Delivery> => {
  const { items } = await topology.data.ledger.list({ eventId }, 1);
  if (!items[0]) throw new Error('there is a delivery');
  return items[0];
};
const moment = () => ({ now: topology.clock.now(), derive: topology.ids.derive });
const sending = async (delivery: Delivery): Promise<Delivery> => {
  const facts = {
    attemptId: 'att_1' as AttemptId,
    token: 'token',
    account: 'shop/mail',
    leaseUntil: topology.clock.now() + LEASE_SPAN,
  };
  const begun = beginAttempt(delivery, facts, moment());
  if (!begun) throw new Error('it can be sent');
  expect(await topology.data.ledger.replace(begun)).toBe('done');
  return begun;
};

describe('the body of an event', () => {
  it('marks fields that rules and templates read, with their readers', async () => {
    const id = await happens();
    const content = await openEvent(id, FIRST, topology.ports);
    expect(content).toMatchObject({ id, stream: 'shop/orders', configNumber: 0, copies: 1, gone: null, next: null });
    expect(content?.lines).toEqual([
      { text: '{', readBy: [] },
      { text: '  "status": "paid",', readBy: ['order-paid.paid when'] },
      { text: '  "order_id": "A-1",', readBy: ['order-paid.paid unique_id', 'order-paid.paid template'] },
      { text: '  "customer": {', readBy: [] },
      { text: '    "email": "ada@example.com"', readBy: ['order-paid.paid to.email'] },
      { text: '  },', readBy: [] },
      { text: '  "note": "ring twice"', readBy: [] },
      { text: '}', readBy: [] },
    ]);
  });

  it('lists fields that were read but are missing', async () => {
    const content = await openEvent(await happens(), FIRST, topology.ports);
    const absent = content?.fields.filter(({ isThere }) => !isThere);
    expect(absent).toMatchObject([{ path: 'customer.name', readBy: ['order-paid.paid template'] }]);
  });

  it('is marked with the configuration that evaluated it, whatever is published later', async () => {
    const id = await happens();
    const [paid] = Object.values(ORDER_PAID.rules);
    if (!paid) throw new Error('there is a rule');
    await topology.publish(...orderShop({ ...ORDER_PAID, rules: { paid: { ...paid, when: 'event.note != ""' } } }));
    const content = await openEvent(id, FIRST, topology.ports);
    expect(content?.lines.find(({ text }) => text.includes('note'))?.readBy).toEqual([]);
  });

  it('has pages for any size', async () => {
    const id = await happens({ ...ORDER, list: Array.from({ length: 1000 }, (_, index) => index) });
    const texts: string[] = [];
    for (let from: number | null = 0; from !== null;) {
      const page: Awaited<ReturnType<typeof openEvent>> = await openEvent(id, { from, limit: 300 }, topology.ports);
      expect(page?.lines.length).toBeLessThanOrEqual(300);
      texts.push(...(page?.lines.map(({ text }) => text) ?? []));
      from = page?.next ?? null;
    }
    expect((JSON.parse(texts.join('\n')) as { list: unknown[] }).list).toHaveLength(1000);
  });

  it('of a reused id is that of the named position', async () => {
    const id = await topology.event(ORDER, { key: 'k' });
    await topology.event({ ...ORDER, note: 'another' }, { key: 'k' });
    await settle(topology);
    const first = await openEvent(id, FIRST, topology.ports);
    expect(first).toMatchObject({
      copies: 2,
      lines: expect.arrayContaining([{ text: '  "note": "ring twice"', readBy: [] }]) as unknown,
    });
    const trace = await traceEvent(id, topology.tracePorts);
    const [, position = ''] = trace?.steps.flatMap((one) => (one.step === 'event' ? [one.position ?? ''] : [])) ?? [];
    const second = await openEvent(id, { ...FIRST, position }, topology.ports);
    expect(second).toMatchObject({
      position,
      lines: expect.arrayContaining([{ text: '  "note": "another"', readBy: [] }]) as unknown,
    });
    expect(await openEvent(id, { ...FIRST, position: 'elsewhere' }, topology.ports)).toBeNull();
  });

  it('reports that retention removed the event', async () => {
    const id = await happens();
    topology.trim('carillon.events', topology.clock.now() + HOUR);
    expect(await openEvent(id, FIRST, topology.ports)).toMatchObject({
      gone: 'retention has removed the event from the log',
      lines: [],
    });
  });
});

describe('the message of a delivery', () => {
  it('is rendered again with its original template and variables, and lists missing names', async () => {
    const { id } = await deliveryOf(await happens());
    await topology.publish(template('order-paid', { email: { subject: 'New words', text: 'New words' } }));
    expect(await openMessage(id, topology.ports)).toMatchObject({
      channel: 'email',
      template: 'order-paid',
      templateVersion: 1,
      variables: { order_id: 'A-1', customer: { email: 'ada@example.com' } },
      parts: [
        { name: 'subject', text: 'Order A-1 is paid' },
        { name: 'text', text: 'Hello .' },
      ],
      missing: ['customer.name'],
      problem: null,
      replies: [],
    });
  });

  it('is shown for a failed delivery, with the provider’s answer', async () => {
    const delivery = await sending(await deliveryOf(await happens()));
    const said = 'The server refused the recipient: looks like spam';
    const result = providerResult('refused_content', '554 5.7.1', said, { providerId: '1795' });
    const settling = { token: 'token', result, settings: PLAIN_SETTINGS, anotherAccount: false, chance: 0.5 };
    const failed = settleAttempt(delivery, settling, moment());
    expect(failed.state).toBe('FAILED');
    expect(await topology.data.ledger.replace(failed)).toBe('done');
    expect(await openMessage(delivery.id, topology.ports)).toMatchObject({
      parts: [{ text: 'Order A-1 is paid' }, {}],
      replies: [
        { account: 'shop/mail', verdict: 'refused_content', code: '554 5.7.1', words: said, providerId: '1795' },
      ],
    });
  });

  it('is shown for a delivery in doubt, without an answer', async () => {
    const delivery = await sending(await deliveryOf(await happens()));
    const doubtful = leaseRanOut(delivery, PLAIN_SETTINGS, { ...moment(), now: topology.clock.now() + 2 * LEASE_SPAN });
    expect(await topology.data.ledger.replace(doubtful ?? delivery)).toBe('done');
    expect(await openMessage(delivery.id, topology.ports)).toMatchObject({
      parts: [{ text: 'Order A-1 is paid' }, {}],
      replies: [{ verdict: null, words: '' }],
    });
  });

  it('says why it cannot be rendered', async () => {
    await topology.publish(template('order-paid', { email: { subject: 'x', text: '{{format_number customer}}' } }));
    const delivery = await deliveryOf(await happens());
    const failed = endUnsent(delivery, 'FAILED', 'cannot_render', 'text', moment());
    await topology.data.ledger.replace(failed ?? delivery);
    const content = await openMessage(delivery.id, topology.ports);
    expect(content).toMatchObject({ parts: [], missing: [] });
    expect(content?.problem).toMatch(/^text: /);
  });
});
