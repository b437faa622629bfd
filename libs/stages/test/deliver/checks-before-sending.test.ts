import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HOLDS, openDelivery, providerResult, sandboxOf, type Delivery, type Hold } from '@carillon/domain/deliveries';
import type { ChannelSender } from '@carillon/ports';
import { givenIntent, HOUR, ORDER_PAID, orderShop } from '@carillon/testing/given';
import { openTopology, type Topology } from '@carillon/testing/topology';
import { deliveryIdOf, type AttemptReport } from '../../src/index.ts';
import { attemptAndPublish } from './support/attempt-and-publish.ts';

/* A hold that comes later (consent, quiet hours, a limit) is a function in the list: the sender is not touched. */

let topology: Topology;
let calls = 0;
beforeEach(async () => {
  topology = await openTopology({ partitions: 1 });
  calls = 0;
  const [rule] = Object.values(ORDER_PAID.rules);
  if (!rule) throw new Error('there is a rule');
  await topology.publish(...orderShop({ ...ORDER_PAID, id: 'ntf_paid', rules: { paid: { ...rule, id: 'rul_paid' } } }));
});
afterEach(() => topology.close());

const sender: ChannelSender = {
  send: async () => {
    calls += 1;
    return providerResult('accepted', '250', 'fine');
  },
  check: async () => [],
  close: async () => undefined,
};

async function waiting(expires: number): Promise<Delivery> {
  const now = topology.clock.now();
  const intent = givenIntent('a', { causedAt: now, notAfter: now + expires });
  const moment = { now, derive: topology.ids.derive };
  const delivery = openDelivery(intent, 'carillon.intents/0@0', deliveryIdOf(intent, topology.ids), moment);
  await topology.data.ledger.insert([delivery]);
  return delivery;
}
const attempt = (delivery: Delivery, holds: readonly Hold[]): Promise<AttemptReport> =>
  attemptAndPublish(
    delivery,
    { choice: sandboxOf('email'), sender, release: () => undefined },
    { retryAt: null, anotherAccount: false },
    {
      ...topology.ports,
      pause: () => Promise.resolve(),
      stopping: new AbortController().signal,
      collect: async () => [],
      holds,
    },
  );
/** Nothing is sent before this. */
const quietUntil =
  (until: number): Hold =>
  ({ now }) =>
    now < until ? { kind: 'wait', until, reason: 'throttled', detail: 'quiet hours' } : { kind: 'go' };

describe('a hold before a send (quiet hours, for example)', () => {
  it('lets a message wait until its time without counting an attempt, and then sends it', async () => {
    const delivery = await waiting(24 * HOUR);
    const until = topology.clock.now() + 8 * HOUR;
    const holds = [...HOLDS, quietUntil(until)];
    const report = await attempt(delivery, holds);
    expect(report).toMatchObject({
      kind: 'postponed',
      delivery: { state: 'WAITING', nextAt: until, attemptsUsed: 0, attempts: [], detail: 'quiet hours' },
    });
    expect(calls).toBe(0);
    topology.clock.pass(8 * HOUR);
    const held = await topology.data.ledger.get(delivery.id);
    expect(held && (await attempt(held, holds))).toMatchObject({ kind: 'called', delivery: { state: 'SENT' } });
    expect(calls).toBe(1);
  });

  it('suppresses a message at once if it could only be sent after not_after', async () => {
    const delivery = await waiting(HOUR);
    expect(await attempt(delivery, [...HOLDS, quietUntil(topology.clock.now() + 8 * HOUR)])).toMatchObject({
      kind: 'ended',
      delivery: { state: 'SUPPRESSED', reason: 'throttled', detail: 'quiet hours; then it is too late' },
    });
    expect(calls).toBe(0);
  });

  it('is decided by the first check of the list that does not let the message go', async () => {
    const asked: string[] = [];
    const named =
      (name: string, verdict: ReturnType<Hold>): Hold =>
      () => {
        asked.push(name);
        return verdict;
      };
    const no = { kind: 'end', state: 'SUPPRESSED', reason: 'suppressed_address', detail: 'second' } as const;
    await attempt(await waiting(HOUR), [named('first', { kind: 'go' }), named('second', no), named('third', no)]);
    expect(asked).toEqual(['first', 'second']);
    expect(calls).toBe(0);
  });
});
