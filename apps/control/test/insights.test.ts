import type { InsightsBody } from '@carillon/contracts';
import { describeReason } from '@carillon/domain/deliveries';
import { deliveryOf, type DeliveryFacts } from '@carillon/testing';
import { createDirectWire, createMemoryLedger } from '@carillon/testing/memory';
import { orderShop } from '@carillon/testing/given';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { deploymentOwner } from '../src/access/principal.ts';
import { accessOf, openControl, type Fixture, publishWishes } from './control-fixture.ts';

const HOUR = 3_600_000;
let fixture: Fixture;
let ledger = createMemoryLedger().connect(createDirectWire());
beforeEach(async () => {
  ledger = createMemoryLedger().connect(createDirectWire());
  const checkpoints = { load: async () => null, save: async () => undefined } as never;
  fixture = await openControl(accessOf(deploymentOwner('session')), { ledger, checkpoints });
  const { clock } = fixture;
  const wishes = [
    { ref: { kind: 'workspace', workspace: 'shop', name: '' }, body: {} } as const,
    ...orderShop(undefined, 'shop'),
  ];
  await publishWishes(fixture, wishes);
  // In the middle of an hour, so that the first bucket begins before the span.
  clock.pass(HOUR / 2);
});
afterEach(() => fixture.control.app.close());

async function ask(query: string) {
  const answer = await fixture.control.app.inject({ method: 'GET', url: `/v1/workspaces/shop/insights?${query}` });
  return { status: answer.statusCode, body: answer.json<InsightsBody & { detail: string; pointer: string }>() };
}
const put = (hoursAgo: number, state: NonNullable<DeliveryFacts['state']>, more: DeliveryFacts = {}) =>
  ledger.insert([
    deliveryOf({ slot: { workspace: 'shop' }, ...more, state, createdAt: fixture.clock.now() - hoursAgo * HOUR }),
  ]);

it('counts deliveries by state, time and notification, and the notified people', async () => {
  const bob = { intent: { person: 'bob', notification: 'order-sent' } };
  await put(30, 'SENT');
  await put(2, 'SENT');
  await put(2, 'DELIVERED');
  await put(1, 'SENT', bob);
  await put(1, 'FAILED', { intent: { person: 'eve' } });
  const { status, body } = await ask('last=3h&bucket=1h');
  expect(status).toBe(200);
  expect(body).toMatchObject({ states: { SENT: 2, DELIVERED: 1, FAILED: 1 }, messages: 3, people: 2, bucket: '1h' });
  expect(body.buckets.map(({ states }) => states)).toEqual([{}, { SENT: 1, DELIVERED: 1 }, { SENT: 1, FAILED: 1 }, {}]);
  expect(body.notifications).toEqual([
    { notification: 'order-paid', states: { SENT: 1, DELIVERED: 1, FAILED: 1 } },
    { notification: 'order-sent', states: { SENT: 1 } },
  ]);
  const day = await ask('');
  expect(day.body.states).toEqual(body.states);
  const one = await ask('last=3h&notification=order-paid');
  expect(one.body).toMatchObject({
    states: { SENT: 1, DELIVERED: 1, FAILED: 1 },
    notification: 'order-paid',
    people: null,
  });
});

it('a delivery that changed state is counted in its new state only, however often the counts are read', async () => {
  const delivery = deliveryOf({ slot: { workspace: 'shop' }, createdAt: fixture.clock.now() - HOUR });
  await ledger.insert([delivery, delivery]);
  expect((await ask('')).body.states).toEqual({ WAITING: 1 });
  await ledger.replace({ ...delivery, version: 2, state: 'SENT', nextAt: null });
  expect((await ask('')).body.states).toEqual({ SENT: 1 });
  expect((await ask('')).body.states).toEqual({ SENT: 1 });
});

it('lists deliveries in doubt of any age, and accounts that messages wait for', async () => {
  await put(200, 'IN_DOUBT');
  const called = {
    id: 'att_1',
    token: 't',
    account: 'shop/mail',
    to: null,
    startedAt: 1,
    endedAt: 2,
    result: null,
  } as never;
  await put(0.5, 'WAITING', { reason: 'refused_account', attempts: [called] });
  await put(30, 'WAITING', { reason: 'refused_account', attempts: [called] });
  const { body } = await ask('');
  expect(body.in_doubt).toEqual({ deliveries: 1, complete: true });
  expect(body.failing_accounts).toEqual([
    { account: 'shop/mail', reason: 'refused_account', sentence: describeReason('refused_account'), deliveries: 1 },
  ]);
  // The marker of the configuration stands on the log of events, which neither engine nor projections read here.
  expect(body.lag.records).toBe(2);
});

it.each([
  ['last=93d', '/last', 'a span is at most 92 days'],
  ['bucket=1s', '/bucket', 'expected a duration from 1m'],
  ['last=30d&bucket=1h', '/bucket', 'into more than 200'],
  ['notification=order-payed', '/notification', 'did you mean order-paid?'],
  ['from=2999-01-01T00:00:00Z', '/from', 'must not be in the future'],
])('%s is refused by name', async (query, pointer, detail) => {
  const { status, body } = await ask(query);
  expect({ status, pointer: body.pointer }).toEqual({ status: 400, pointer });
  expect(body.detail).toContain(detail);
});
