import { beginAttempt, type Delivery } from '@carillon/domain/deliveries';
import type { AttemptId, Json } from '@carillon/kernel';
import { ORDER_PAID, orderShop } from '@carillon/testing/given';
import { openTopology, type Topology, settle } from '@carillon/testing/topology';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { traceEvent, whyAddress, type PeoplePage, type PeopleQuery, type PersonStory } from '../../src/index.ts';

let topology: Topology;
const recipients = {
  from: 'event',
  for_each: 'event.people',
  to: { email: 'item.email' },
  unique_id: 'item.ticket',
  where: 'item.wants != false',
} as const;
const RULES = { told: { stream: 'orders', when: 'event.status == "paid"', recipients } };

beforeEach(async () => {
  topology = await openTopology({ partitions: 1 });
  await topology.publish(...orderShop({ ...ORDER_PAID, rules: RULES }));
});
afterEach(() => topology.close());

const about = (people: readonly Json[], status = 'paid') => topology.event({ status, people: [...people] });
const one = (name: string, more: object = {}) => ({ email: `${name}@example.com`, ticket: name, wants: true, ...more });
const peopleOf = async (id: string, query?: PeopleQuery): Promise<PeoplePage> => {
  const people = (await traceEvent(id, topology.tracePorts, query))?.people;
  if (!people) throw new Error('there is no such event');
  return people;
};
const shown = ({ place, recipient, outcome, reason }: PersonStory) =>
  `${place} ${recipient.address ?? '-'} ${outcome} ${reason}`;
/** Moves the delivery of this unique_id as a sender would. */
async function move(how: (delivery: Delivery) => Delivery | undefined, name: string): Promise<void> {
  for (const delivery of (await topology.data.ledger.list({ workspace: 'shop' }, 1000)).items) {
    const next = delivery.slot.uniqueId === name ? how(delivery) : undefined;
    if (next) expect(await topology.data.ledger.replace(next)).toBe('done');
  }
}
const moment = () => ({ now: topology.clock.now(), derive: topology.ids.derive });
const send = (delivery: Delivery) =>
  beginAttempt(delivery, { attemptId: 'att_1' as AttemptId, token: 't', account: 'a', leaseUntil: 1 }, moment());

describe('the people of an event', () => {
  it('are listed in order, including dropped and already notified ones', async () => {
    await about([one('dora')]);
    const id = await about([
      one('ada'),
      one('bob', { ticket: null }),
      one('cyd', { wants: false }),
      one('dora'),
      one('eve', { email: null }),
    ]);
    await settle(topology);
    const { items, summary, next } = await peopleOf(id);
    expect(items.map(shown)).toEqual([
      '1 ada@example.com waiting new',
      '2 - not_told rule_error',
      '3 - not_told where_false',
      '4 dora@example.com not_told duplicate',
      '5 - not_told no_address',
    ]);
    expect(items[1]?.item).toContain('bob@example.com');
    expect(items[3]?.text).toMatch(/^already notified for event evt_.*: delivery dlv_.* is WAITING$/);
    expect(items[4]).toMatchObject({ state: 'SUPPRESSED', recipient: { uniqueId: 'eve' } });
    expect(next).toBeNull();
    expect(summary).toEqual({
      headline: '0 notified, 1 waiting, 4 not: 1 rule error, 1 where false, 1 duplicate, 1 no address',
      counts: { told: 0, waiting: 1, in_doubt: 0, not_told: 4 },
    });
  });

  it('add no steps to the trace, which would be thousands', async () => {
    const id = await about(Array.from({ length: 500 }, (_, at) => one(`p${at}`)));
    await settle(topology);
    const trace = await traceEvent(id, topology.tracePorts);
    expect(trace?.steps.map(({ step }) => step)).toEqual(['event', 'evaluation', 'trigger']);
    expect(trace?.people?.summary?.headline).toBe('0 notified, 500 waiting');
  });

  it('over the limit of one event are one entry with their number', async () => {
    const id = await about(Array.from({ length: 503 }, (_, at) => one(`p${at}`)));
    await settle(topology);
    const { items, summary } = await peopleOf(id, { from: 0, limit: 1000 });
    expect(items).toHaveLength(501);
    expect(items.at(-1)).toMatchObject({ place: 501, count: 3, reason: 'too_many_recipients' });
    expect(summary?.headline).toBe('0 notified, 500 waiting, 3 not: 3 too many recipients');
  });

  it('have pages, and the first one has the total', async () => {
    const id = await about(Array.from({ length: 7 }, (_, at) => one(`p${at}`)));
    await settle(topology);
    const first = await peopleOf(id, { from: 0, limit: 3 });
    const second = await peopleOf(id, { from: first.next ?? 0, limit: 3 });
    const third = await peopleOf(id, { from: second.next ?? 0, limit: 3 });
    expect([first, second, third].map(({ items }) => items.map(({ place }) => place))).toEqual([
      [1, 2, 3],
      [4, 5, 6],
      [7],
    ]);
    expect([first, second, third].map(({ next, summary }) => [next, summary?.counts.waiting ?? null])).toEqual([
      [3, 7],
      [6, null],
      [null, null],
    ]);
  });

  it('are found by a prefix of the address regardless of case, and dropped ones by their item', async () => {
    const id = await about([one('ada'), one('adam'), one('bob', { ticket: null })]);
    await settle(topology);
    const found = async (to: string) => (await peopleOf(id, { to, from: 0, limit: 10 })).items.map(shown);
    expect(await found('ADA@')).toEqual(['1 ada@example.com waiting new']);
    expect(await found('ada')).toHaveLength(2);
    expect(await found('Bob@example')).toEqual(['3 - not_told rule_error']);
    expect(await found('nobody')).toEqual([]);
  });

  it('who occur twice are notified once', async () => {
    const id = await about([one('ada'), one('ada', { email: 'other@example.com' })]);
    await settle(topology);
    expect((await peopleOf(id)).items.map(shown)).toEqual([
      '1 ada@example.com waiting new',
      '2 other@example.com not_told duplicate',
    ]);
  });
});

describe('the trace of an event with one recipient', () => {
  it('continues to the end of the message, and names the person', async () => {
    const id = await about([one('ada')]);
    await settle(topology);
    await move(send, 'ada');
    const trace = await traceEvent(id, topology.tracePorts);
    expect(trace?.steps.map(({ step }) => step)).toContain('attempt');
    expect(trace?.people?.items.map(shown)).toEqual(['1 ada@example.com waiting new']);
  });
});

describe('why', () => {
  const why = async (address: string, notification?: string) => {
    const query = { workspace: 'shop', address, limit: 100, ...(notification !== undefined && { notification }) };
    return whyAddress(query, topology.tracePorts);
  };

  it('lists the outcome of each event that contains an address, newest first', async () => {
    const told = await about([one('ada'), one('bob')]);
    const again = await about([one('ada')]);
    const dropped = await about([one('ada', { ticket: null })]);
    const silent = await about([one('ada')], 'open');
    await about([one('bob', { ticket: 'other' })]);
    await settle(topology);
    const { items, looked } = await why('ADA@example.com');
    expect(items.map(({ eventId, outcome, reason }) => [eventId, outcome, reason])).toEqual([
      [silent, 'not_named', 'when_false'],
      [dropped, 'not_told', 'rule_error'],
      [again, 'not_told', 'duplicate'],
      [told, 'waiting', 'new'],
    ]);
    expect(looked).toBe(5);
    expect(items[3]).toMatchObject({ rule: 'order-paid.told', uniqueId: 'ada', state: 'WAITING' });
  });

  it('is limited to the given notification or rule', async () => {
    await about([one('ada')]);
    await settle(topology);
    expect((await why('ada@example.com', 'order-paid')).items).toHaveLength(1);
    expect((await why('ada@example.com', 'order-paid.told')).items).toHaveLength(1);
    expect((await why('ada@example.com', 'order')).items).toEqual([]);
  });
});
