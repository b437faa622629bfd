import type { ChannelName } from '@carillon/domain/channels';
import { beginAttempt, leaseRanOut, operatorResend, type Delivery } from '@carillon/domain/deliveries';
import type { FoundMessage } from '@carillon/domain/receipts';
import type { AttemptId, DeliveryId } from '@carillon/kernel';
import { givenIntent, HOUR, MINUTE, PLAIN_SETTINGS } from '@carillon/testing/given';
import { openTopology, untilFound, type Topology } from '@carillon/testing/topology';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createCustodyStage, createDoubtSettler, deliveryIdOf, type DoubtPorts } from '../../src/index.ts';

let topology: Topology;
let answers: readonly FoundMessage[] | null | undefined;
let asked: number;
let troubles: string[];
let channels: readonly ChannelName[];
/** What the question about it throws over. */
let broken: DeliveryId | null;
beforeEach(async () => {
  topology = await openTopology({ partitions: 1 });
  topology.clock.standStill();
  answers = [];
  asked = 0;
  troubles = [];
  channels = ['email'];
  broken = null;
});
afterEach(() => topology.close());

const moment = () => ({ now: topology.clock.now(), derive: topology.ids.derive });
async function get(id: DeliveryId): Promise<Delivery> {
  const found = await topology.data.ledger.get(id);
  if (!found) throw new Error('no such delivery');
  return found;
}
/** A delivery whose call ended nobody knows how. */
async function doubted(name = 'a', account = 'main'): Promise<DeliveryId> {
  const intent = givenIntent(name, {
    uniqueId: name,
    to: `${account}@example.com`,
    notAfter: topology.clock.now() + 48 * HOUR,
  });
  const custody = createCustodyStage({ ...topology.ports, due: () => undefined });
  const record = {
    topic: 'carillon.intents',
    partition: 0,
    key: 'k',
    value: topology.ports.codecs.intent.encode(intent),
    headers: {},
    offset: 1,
    time: topology.clock.now(),
  } as const;
  await custody.handle([record], { partition: 0, configNumber: -1, watermark: 0 });
  const id = deliveryIdOf(intent, topology.ids);
  await lose(id, name, account);
  return id;
}
/** An attempt that ends nobody knows how. */
async function lose(id: DeliveryId, name: string, account = 'main'): Promise<void> {
  const start = { attemptId: `att_${name}` as AttemptId, token: `t${name}`, account, leaseUntil: moment().now };
  const sending = beginAttempt(await get(id), start, moment());
  if (!sending) throw new Error('not begun');
  await topology.data.ledger.replace(sending);
  const lost = leaseRanOut(sending, PLAIN_SETTINGS, moment());
  if (!lost) throw new Error('not lost');
  await topology.data.ledger.replace(lost);
}
const settlerPorts = (): DoubtPorts => ({
  ...topology.ports,
  ledger: topology.data.ledger,
  isOurs: () => true,
  channels,
  trouble: (_, error) => void troubles.push(String(error)),
  find: async ({ id }) => {
    asked += 1;
    if (id === broken) throw new Error('no adapter');
    return answers;
  },
});
const settler = () => createDoubtSettler(settlerPorts());
const message = (): FoundMessage => ({ source: 'twilio', providerId: 'SM1', createdAt: topology.clock.now() });

describe('a delivery in doubt (nobody knows if it was sent) whose provider can be asked', () => {
  it('is asked about after 1, 10 and 60 minutes, and not in between', async () => {
    await doubted();
    const doubts = settler();
    for (const [after, times] of [
      [30_000, 0],
      [30_000, 1],
      [5 * MINUTE, 1],
      [5 * MINUTE, 2],
      [HOUR, 3],
      [HOUR, 3],
    ] as const) {
      topology.clock.pass(after);
      await doubts.round();
      expect(asked).toBe(times);
    }
  });

  it('becomes SENT if the provider has its message, and the outcome is published', async () => {
    const id = await doubted();
    answers = [message()];
    topology.clock.pass(MINUTE);
    expect(await settler().round()).toBe(1);
    expect(await get(id)).toMatchObject({ state: 'SENT', reason: 'evidence', unpublished: [] });
    expect((await get(id)).detail).toContain('SM1');
  });

  it('stays in doubt if the provider has no such message, because that proves nothing', async () => {
    const id = await doubted();
    topology.clock.pass(2 * HOUR);
    expect(await settler().round()).toBe(0);
    expect((await get(id)).state).toBe('IN_DOUBT');
  });

  it('stays in doubt if the provider’s message could belong to another delivery to the same address', async () => {
    const ids = [await doubted('a'), await doubted('b')];
    answers = [message()];
    topology.clock.pass(MINUTE);
    expect(await settler().round()).toBe(0);
    for (const id of ids) expect((await get(id)).state).toBe('IN_DOUBT');
  });

  it('is asked about again after a minute if the provider could not be reached', async () => {
    await doubted();
    const doubts = settler();
    answers = null;
    topology.clock.pass(MINUTE);
    await doubts.round();
    await doubts.round();
    expect(asked).toBe(1);
    topology.clock.pass(MINUTE);
    await doubts.round();
    expect(asked).toBe(2);
  });

  it('is not asked about early by a restarted process', async () => {
    const id = await doubted();
    topology.clock.pass(2 * MINUTE);
    await settler().round();
    await settler().round();
    expect(asked).toBe(1);
    topology.clock.pass(10 * MINUTE);
    answers = [{ ...message(), createdAt: topology.clock.now() - 12 * MINUTE }];
    expect(await settler().round()).toBe(1);
    expect((await get(id)).state).toBe('SENT');
  });

  it('is asked about once more if the process died before it recorded the query', async () => {
    await doubted();
    topology.clock.pass(MINUTE);
    const replace = () => Promise.reject(new Error('the process dies here'));
    const dying = createDoubtSettler({ ...settlerPorts(), ledger: { ...topology.data.ledger, replace } });
    await dying.round();
    expect([asked, troubles]).toEqual([1, ['Error: the process dies here']]);
    await settler().round();
    expect(asked).toBe(2);
  });

  it('is asked about as at first if it is the second doubt of the same delivery', async () => {
    const id = await doubted();
    const doubts = settler();
    topology.clock.pass(2 * HOUR);
    await doubts.round();
    expect(asked).toBe(1);
    // Somebody has it sent again, and that call too ends nobody knows how, between two rounds.
    const again = operatorResend(await get(id), HOUR, 'ann', moment());
    if (!again.ok) throw new Error(again.error);
    await topology.data.ledger.replace(again.value);
    await lose(id, 'b');
    topology.clock.pass(MINUTE);
    await doubts.round();
    expect(asked).toBe(2);
  });

  it('is resolved while a query for a slow account still runs', async () => {
    const quick = await doubted('b', 'quick');
    topology.clock.pass(1);
    // The newest is asked about first.
    const slow = await doubted('a', 'slow');
    let letGo = (): void => undefined;
    const gate = new Promise<void>((resolve) => (letGo = resolve));
    topology.clock.pass(MINUTE);
    const found = [{ ...message(), createdAt: topology.clock.now() - MINUTE }];
    const round = createDoubtSettler({
      ...settlerPorts(),
      find: async ({ id }) => {
        if (id === slow) await gate;
        return id === quick ? found : [];
      },
    }).round();
    await untilFound('the quick one is settled', async () => (await get(quick)).state === 'SENT' || undefined);
    letGo();
    expect(await round).toBe(1);
    expect((await get(slow)).state).toBe('IN_DOUBT');
  });

  it('costs one query per round for an account that cannot be reached, however many deliveries are in doubt', async () => {
    for (const name of ['a', 'b', 'c']) await doubted(name);
    answers = null;
    topology.clock.pass(MINUTE);
    const doubts = settler();
    await doubts.round();
    expect(asked).toBe(1);
    await doubts.round();
    await doubts.round();
    expect(asked).toBe(3);
    await doubts.round();
    expect(asked).toBe(3);
  });

  it('waits for the next round if its account already had its share of queries', async () => {
    for (const name of ['a', 'b', 'c']) await doubted(name);
    topology.clock.pass(MINUTE);
    const doubts = createDoubtSettler({
      ...settlerPorts(),
      find: async () => {
        asked += 1;
        topology.clock.pass(20_000);
        return [];
      },
    });
    await doubts.round();
    expect(asked).toBe(2);
    await doubts.round();
    expect(asked).toBe(3);
  });

  it('does not block others if the query fails, and is asked about again after a minute', async () => {
    for (const name of ['a', 'b', 'c']) broken = await doubted(name);
    const doubts = settler();
    topology.clock.pass(MINUTE);
    await doubts.round();
    expect([asked, troubles]).toEqual([3, ['Error: no adapter']]);
    await doubts.round();
    expect(asked).toBe(3);
    topology.clock.pass(MINUTE);
    broken = null;
    await doubts.round();
    expect(asked).toBe(4);
  });

  it('is not read if it is on a channel without a provider to ask', async () => {
    await doubted();
    channels = ['sms'];
    topology.clock.pass(MINUTE);
    await settler().round();
    expect(asked).toBe(0);
  });

  it('is not asked about any more after 25 hours', async () => {
    await doubted();
    topology.clock.pass(25 * HOUR);
    await settler().round();
    expect(asked).toBe(0);
  });
});
