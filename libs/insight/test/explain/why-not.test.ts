import { beginAttempt, type Delivery } from '@carillon/domain/deliveries';
import type { AttemptId } from '@carillon/kernel';
import { ORDER_PAID, orderShop } from '@carillon/testing/given';
import { openTopology, type Topology, settle } from '@carillon/testing/topology';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { GATES, whyNot, type Account, type WhyNotQuery } from '../../src/index.ts';

/** Gates of a rule that does not wait. */
const SHOWN = GATES.filter((name) => name !== 'unless' && name !== 'deadline');

let topology: Topology;
const recipients = {
  from: 'event',
  for_each: 'event.people',
  to: { email: 'item.email' },
  unique_id: 'item.ticket',
  where: 'item.wants != false',
} as const;

beforeEach(async () => {
  topology = await openTopology({ partitions: 1 });
  const rules = { told: { stream: 'orders', when: 'event.status == "paid" && event.total > 100', recipients } };
  await topology.publish(...orderShop({ ...ORDER_PAID, rules }));
});
afterEach(() => topology.close());

const order = (
  name: string,
  more: { readonly total?: number; readonly wants?: boolean; readonly ticket?: string } = {},
) => {
  const { total = 200, wants = true, ticket = name } = more;
  return topology.event({ status: 'paid', total, people: [{ email: `${name}@example.com`, ticket, wants }] });
};
const ask = (who: string, more: Partial<WhyNotQuery> = {}) =>
  whyNot(
    { workspace: 'shop', who, notification: 'order-paid', since: 0, before: topology.clock.now() + 1_000, ...more },
    topology.tracePorts,
  );
const only = async (who: string): Promise<Account> => {
  const { accounts } = await ask(who);
  expect(accounts).toHaveLength(1);
  return accounts[0] as Account;
};
const results = ({ gates }: Account) => Object.fromEntries(gates.map((one) => [one.gate, one.result]));

describe('Why a person was not notified', () => {
  it('is a false condition, with the value of each of its parts', async () => {
    const id = await order('ada', { total: 40 });
    await settle(topology);
    const account = await only('ADA@example.com');
    expect(account).toMatchObject({ eventId: id, verdict: 'stopped', stoppedAt: 'condition', deliveryId: null });
    expect(account.gates.map((one) => one.gate)).toEqual(SHOWN);
    expect(results(account)).toMatchObject({
      event: 'passed',
      rule: 'passed',
      condition: 'stopped',
      recipient: 'not_reached',
    });
    expect(account.gates[2]?.lines.join('\n')).toContain('event.total > 100  →  false');
  });

  it('is found by any form of the address', async () => {
    const id = await topology.event({
      status: 'paid',
      total: 200,
      people: [{ email: 'ada@xn--bcher-kva.example', ticket: 'T-2', wants: true }],
    });
    await settle(topology);
    expect(await only(' Ada@BÜCHER.example')).toMatchObject({ eventId: id, verdict: 'waiting' });
  });

  it('is a recipient that the rule left out, although the event contains the address', async () => {
    await order('bob', { wants: false });
    await settle(topology);
    expect(await only('bob@example.com')).toMatchObject({ verdict: 'stopped', stoppedAt: 'recipient' });
  });

  it('is an earlier notification, with its event and delivery', async () => {
    const first = await order('cyd', { ticket: 'T-1' });
    await order('cyd', { ticket: 'T-1', total: 300 });
    await settle(topology);
    const { accounts } = await ask('T-1');
    const older = accounts.find(({ eventId }) => eventId === first);
    const newer = accounts.find(({ eventId }) => eventId !== first);
    expect(older).toMatchObject({ eventId: first, verdict: 'waiting', stoppedAt: 'provider' });
    expect(newer).toMatchObject({ verdict: 'stopped', stoppedAt: 'duplicate' });
    expect(newer?.gates.find(({ gate }) => gate === 'duplicate')?.evidence).toContainEqual({
      kind: 'event',
      id: first,
    });
  });

  it.each([
    ['SUPPRESSED', 'opted_out', 'consent', 'stopped'],
    ['SUPPRESSED', 'suppressed_address', 'address', 'stopped'],
    ['EXPIRED', 'not_after_passed', 'in_time', 'stopped'],
    ['WAITING', 'held_by_quiet_hours', 'schedule', 'waiting'],
    ['FAILED', 'cannot_render', 'rendered', 'stopped'],
    ['SUPPRESSED', 'capped', 'limits', 'stopped'],
    ['IN_DOUBT', 'answer_unknown', 'provider', 'in_doubt'],
    ['BOUNCED', 'bounced', 'receipt', 'stopped'],
    ['SENT', 'accepted', null, 'told'],
    ['DELIVERED', 'delivered', null, 'told'],
  ] as const)('in state %s (%s) is the gate %s: %s', async (state, reason, stoppedAt, verdict) => {
    await order('dora');
    await settle(topology);
    const [delivery] = (await topology.data.ledger.list({ workspace: 'shop' }, 1)).items as readonly [Delivery];
    await topology.data.ledger.replace({ ...delivery, version: delivery.version + 1, state, reason });
    const account = await only('dora@example.com');
    expect(account).toMatchObject({ verdict, stoppedAt, deliveryId: delivery.id });
    const at = stoppedAt === null ? SHOWN.length : SHOWN.indexOf(stoppedAt);
    for (const [index, one] of account.gates.entries()) {
      if (index < at) expect(['passed', 'unknown'], one.gate).toContain(one.result);
      if (index > at) expect(one.result, one.gate).toBe('not_reached');
    }
  });

  it('gives the suppression before the text of the operator who entered it', async () => {
    await order('gus');
    await settle(topology);
    const [delivery] = (await topology.data.ledger.list({ workspace: 'shop' }, 1)).items as readonly [Delivery];
    const moved = { state: 'SUPPRESSED', reason: 'suppressed_address', detail: 'operator: wrote a letter' } as const;
    await topology.data.ledger.replace({ ...delivery, version: delivery.version + 1, ...moved });
    const { text } = await only('gus@example.com');
    expect(text).toBe('the address is on the suppression list: operator: wrote a letter');
  });

  it('lists each attempt at the provider, and says that only acceptance is known', async () => {
    await order('eve');
    await settle(topology);
    const [delivery] = (await topology.data.ledger.list({ workspace: 'shop' }, 1)).items as readonly [Delivery];
    const moment = { now: topology.clock.now(), derive: topology.ids.derive };
    const begun = beginAttempt(
      delivery,
      { attemptId: 'att_1' as AttemptId, token: 't', account: 'mail', leaseUntil: moment.now + 1_000 },
      moment,
    ) as Delivery;
    await topology.data.ledger.replace(begun);
    expect(results(await only('eve@example.com'))).toMatchObject({ provider: 'waiting', receipt: 'not_reached' });
    expect((await only('eve@example.com')).gates.find(({ gate }) => gate === 'provider')?.lines).toEqual([
      'mail: no answer known',
    ]);
  });

  it('finds nobody by the beginning of an address, and no event of another time range', async () => {
    await order('fay');
    await settle(topology);
    expect((await ask('fay@')).accounts).toEqual([]);
    expect(await ask('fay@example.com', { before: 1 })).toMatchObject({ accounts: [], looked: 0, next: null });
    expect((await ask('fay@example.com', { notification: 'order-paid.other' })).accounts).toEqual([]);
    expect((await ask('fay@example.com', { notification: 'order-paid.told' })).accounts).toHaveLength(1);
  });
});
