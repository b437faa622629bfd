import { foldConfiguration, type NotificationBody } from '@carillon/domain/configuration';
import { editOf, runYielding, readSourceRecord, wantedMessagesCoroutine } from '@carillon/stages';
import {
  changesOf,
  countingRules,
  notification,
  ORDER_PAID,
  ORDERS,
  orderShop,
  stream,
  template,
  type Wish,
} from '@carillon/testing/given';
import { openTopology, type Topology, projectAll, settle } from '@carillon/testing/topology';
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { whyNot, type Account, type DraftOutcome, type Drafts } from '../../src/index.ts';

let topology: Topology;

type Recipients = NotificationBody['rules'][string]['recipients'];
const recipients = {
  from: 'event',
  for_each: 'event.people',
  to: { email: 'item.email' },
  unique_id: 'item.ticket',
  person: 'item.name',
} as const satisfies Recipients;
const over = (total: number): string => `event.status == "paid" && event.total > ${total}`;
const orderPaid = (when: string, more: Partial<Recipients> = {}, on = 'orders'): NotificationBody => ({
  ...ORDER_PAID,
  rules: { paid: { stream: on, when, recipients: { ...recipients, ...more } as Recipients } },
});

beforeEach(async () => {
  topology = await openTopology({ partitions: 1 });
  await topology.publish(...orderShop(orderPaid(over(100))), stream('refunds', ORDERS));
});
afterEach(() => topology.close());

type Person = { readonly name: string; readonly email?: string; readonly ticket?: string };
const ada: Person = { name: 'ada', email: 'ada@example.com' };
const order = (total: number, people: readonly Person[] = [ada], facts = {}) =>
  topology.event(
    {
      status: 'paid',
      total,
      people: people.map(({ name, email, ticket = name }) => ({ name, ticket, ...(email !== undefined && { email }) })),
    },
    facts,
  );

/** The drafts of the workspace: `wishes` over what is published. */
function draftsOf(...wishes: readonly Wish[]): Drafts {
  const current = topology.ports.configuration.current();
  const { configuration } = foldConfiguration(current, { changes: changesOf(current, wishes) }, current.number + 1);
  return { configuration, edited: new Set(editOf({ before: current, after: configuration }, 'shop').notifications) };
}
const ask = (who: string, drafts: Drafts, asked = 'order-paid') =>
  whyNot(
    { workspace: 'shop', who, notification: asked, since: 0, before: topology.clock.now() + 1_000, drafts },
    topology.tracePorts,
  );
async function only(who: string, ...wishes: readonly Wish[]): Promise<Account> {
  const { accounts } = await ask(who, draftsOf(...wishes));
  expect(accounts).toHaveLength(1);
  return accounts[0] as Account;
}
const edit = (body: NotificationBody): Wish => notification('order-paid', body);
const notified: DraftOutcome = { result: 'notified', gate: null, text: '' };

describe('Why not, with drafts', () => {
  it('says that the drafts would notify, and what stops the message today', async () => {
    await order(90);
    await settle(topology);
    const account = await only('ada@example.com', edit(orderPaid(over(80))));
    expect(account).toMatchObject({ verdict: 'stopped', stoppedAt: 'condition', drafts: notified });
  });

  it('says nothing of drafts if nobody asks', async () => {
    await order(90);
    await settle(topology);
    const query = { workspace: 'shop', who: 'ada@example.com', notification: 'order-paid', since: 0 };
    const { accounts } = await whyNot({ ...query, before: topology.clock.now() + 1_000 }, topology.tracePorts);
    expect(accounts).toMatchObject([{ stoppedAt: 'condition', drafts: null }]);
  });

  it.each<[string, NotificationBody | null, string, string]>([
    ['a condition', orderPaid(over(300)), 'condition', '`when` is false'],
    ['a failing condition', orderPaid('event.total.size() > 1'), 'condition', 'size'],
    ['a filter of recipients', orderPaid(over(100), { where: 'item.name != "ada"' }), 'recipient', 'where'],
    ['another address', orderPaid(over(100), { to: { email: 'item.mail' } }), 'address', 'no address'],
    ['another stream', orderPaid(over(100), {}, 'refunds'), 'rule', 'listens on shop/refunds'],
    ['a rule that is off', { ...orderPaid(over(100)), enabled: false }, 'rule', 'switched off'],
    ['no notification', null, 'rule', 'there is no such rule'],
  ])('names the gate at which the drafts stop a message: %s', async (_what, body, gate, text) => {
    await order(200);
    await settle(topology);
    const account = await only('ada@example.com', notification('order-paid', body));
    expect(account).toMatchObject({ verdict: 'waiting', drafts: { result: 'stopped', gate } });
    expect(account.drafts?.text).toContain(text);
  });

  it('finds a message that only the drafts want, of a new notification and on another stream', async () => {
    const id = await order(200, [ada], { stream: 'shop/refunds' });
    await settle(topology);
    const drafts = draftsOf(notification('refund', orderPaid(over(100), {}, 'refunds')));
    expect((await ask('ada@example.com', drafts, 'refund')).accounts).toMatchObject([
      { eventId: id, rule: 'refund.paid', verdict: 'stopped', stoppedAt: 'rule', drafts: notified },
    ]);
    const moved = draftsOf(edit(orderPaid(over(100), {}, 'refunds')));
    expect((await ask('ada@example.com', moved)).accounts).toMatchObject([
      { stoppedAt: 'rule', text: expect.stringContaining('listens on shop/orders') as unknown, drafts: notified },
    ]);
  });

  it('counts a message of another event for the same slot, and of another recipient of the event', async () => {
    await order(200, [{ ...ada, ticket: 'T-1' }]);
    const second = await order(90, [
      { name: 'bob', email: 'bob@example.com', ticket: 'T-2' },
      { name: 'cyd', email: 'cyd@example.com', ticket: 'T-2' },
      { ...ada, ticket: 'T-1' },
    ]);
    await settle(topology);
    const drafts = draftsOf(edit(orderPaid(over(80))));
    const outcome = async (who: string) =>
      (await ask(who, drafts)).accounts.find(({ eventId }) => eventId === second)?.drafts;
    expect(await outcome('bob@example.com')).toEqual(notified);
    expect(await outcome('cyd@example.com')).toMatchObject({ result: 'stopped', gate: 'duplicate' });
    expect(await outcome('ada@example.com')).toMatchObject({ result: 'stopped', gate: 'duplicate' });
  });

  it('lets the drafts take the slot of a message that ended unsent, unless it is the same message', async () => {
    await order(200, [{ name: 'ada', email: 'ada@' }]);
    await settle(topology);
    expect(
      await only('ada', edit(orderPaid(over(100), { to: { email: 'item.name + "@example.com"' } }))),
    ).toMatchObject({
      stoppedAt: 'address',
      drafts: notified,
    });
    expect(await only('ada', edit(orderPaid(over(80))))).toMatchObject({
      drafts: { result: 'stopped', gate: 'address' },
    });
  });

  it('does not hold against the drafts what the published template did', async () => {
    await order(200);
    await settle(topology);
    const [delivery] = (await topology.data.ledger.list({ workspace: 'shop' }, 1)).items;
    if (!delivery) throw new Error('no delivery');
    const failed = { state: 'FAILED', reason: 'cannot_render', detail: 'no such helper' } as const;
    await topology.data.ledger.replace({ ...delivery, version: delivery.version + 1, ...failed });
    const edited = template('order-paid', { email: { subject: 'Paid', text: 'Thank you.' } });
    const changed = await only('ada@example.com', edited);
    expect(changed.drafts).toMatchObject({ result: 'unknown', gate: 'rendered' });
    const same = await only('ada@example.com', stream('orders', { ...ORDERS, labels: {} } as never));
    expect(same.drafts).toMatchObject({ result: 'stopped', gate: 'rendered' });
  });

  it('does not guess what a rule with state decides', async () => {
    await order(200);
    await settle(topology);
    const book = countingRules(topology.ports.book);
    const query = { workspace: 'shop', who: 'ada@example.com', notification: 'order-paid', since: 0 };
    const { accounts } = await whyNot(
      { ...query, before: topology.clock.now() + 1_000, drafts: draftsOf(edit(orderPaid(over(80)))) },
      { ...topology.tracePorts, book },
    );
    expect(accounts).toMatchObject([{ drafts: { result: 'unknown', gate: 'condition' } }]);
  });

  it('notifies whom a comparison of the drafts would have as a message', async () => {
    const totals = [70, 90, 110, 250];
    const names = ['ada', 'bob'];
    for (const [at, total] of totals.entries()) {
      const people = names.map((name) => ({ name, email: `${name}@example.com`, ticket: `${name} ${at}` }));
      await order(total, people, at % 2 === 0 ? {} : { stream: 'shop/refunds' });
    }
    // The ledger is empty, so that nothing but the rules decides.
    await topology.evaluates();
    await settleWithoutLedger();
    const events = (await topology.records('carillon.events')).flatMap((record) => {
      const read = readSourceRecord(record, topology.ports.log.logId);
      return read.ok && read.value.kind === 'event' ? [read.value.event] : [];
    });
    const drafted = fc.record({
      total: fc.constantFrom(60, 80, 100, 200),
      on: fc.constantFrom('orders', 'refunds'),
      where: fc.constantFrom('true', 'item.name == "bob"', 'item.email.size() < 3', 'item.none == 1'),
      uniqueId: fc.constantFrom('item.ticket', 'item.name', '"one"'),
      enabled: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(drafted, fc.constantFrom(...names), async ({ total, on, where, uniqueId, enabled }, name) => {
        const body = { ...orderPaid(over(total), { where, unique_id: uniqueId }, on), enabled };
        const drafts = draftsOf(edit(body));
        const who = `${name}@example.com`;
        const { accounts } = await ask(who, drafts);
        const { book, ids, slice, configuration } = topology.ports;
        const configurations = { before: configuration.current(), after: drafts.configuration };
        const context = { configurations, book, ids, findAnswer: () => undefined };
        for (const event of events) {
          const wanted = await runYielding(wantedMessagesCoroutine(event, 'after', context), slice);
          const slots = new Set(wanted.map((one) => one.uniqueId));
          const first = [...slots].map((slot) => wanted.find((one) => one.uniqueId === slot));
          const results = accounts.filter(({ eventId }) => eventId === event.id).map(({ drafts: one }) => one?.result);
          expect(results.includes('notified')).toBe(first.some((one) => one?.to === who));
        }
      }),
      { numRuns: 40 },
    );
  });
});

async function settleWithoutLedger(): Promise<void> {
  const end = (await topology.records('carillon.events')).length;
  await expect
    .poll(async () => (await topology.data.checkpoints.load('engine', 'carillon.events', 0))?.next ?? 0)
    .toBeGreaterThanOrEqual(end);
  await projectAll(topology);
}
