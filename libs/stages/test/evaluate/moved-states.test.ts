import { emptyMemory, movedMemory } from '@carillon/domain/rules';
import { ORDER_PAID, ORDERS, orderShop, stream } from '@carillon/testing/given';
import { evaluateAll, openTopology, type Topology } from '@carillon/testing/topology';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createEvaluateStage, loadMemory, movedState, tickRecord } from '../../src/index.ts';

const HOUR = 3_600_000;
const ENTITY = { workspace: 'shop', stream: 'shop/orders', key: 'A-1' };
const RECIPIENTS = {
  from: 'event',
  to: { email: 'event.customer.email' },
  unique_id: 'event_id',
} as const;
const RULES = {
  unpaid: {
    stream: 'orders',
    when: 'event.status == "placed"',
    after: '1h',
    unless: 'event.status == "paid"',
    recipients: RECIPIENTS,
  },
  changes: { stream: 'orders', when: 'changedFromTo(event.status, "placed", "gone")', recipients: RECIPIENTS },
} as const;

const opened: Topology[] = [];
async function open(prepare: (topology: Topology) => Promise<void> = async () => undefined): Promise<Topology> {
  const topology = await openTopology({ partitions: 1 });
  opened.push(topology);
  topology.clock.standStill();
  await prepare(topology);
  await topology.publish(
    ...orderShop({ ...ORDER_PAID, rules: RULES }),
    stream('orders', { ...ORDERS, key: 'event.order_id' }),
  );
  return topology;
}
const happens = (topology: Topology, status: string) =>
  topology.event({ status, order_id: 'A-1', customer: { email: 'ada@example.com' } });
const intents = async (topology: Topology): Promise<number> => (await topology.records('carillon.intents')).length;
async function hoursLater(topology: Topology): Promise<void> {
  topology.clock.pass(2 * HOUR);
  await topology.data.log.append([tickRecord(0)]);
  await evaluateAll(topology);
}

let moved: Topology;
beforeEach(async () => {
  const old = await open();
  await happens(old, 'placed');
  await happens(old, 'viewed');
  await happens(old, 'placed');
  await evaluateAll(old);
  const memory = await loadMemory(ENTITY, old.ports);
  if (!memory) throw new Error('the order waits');
  moved = await open(async ({ data, ports }) => {
    const state = movedState(memory, 0, { ids: ports.ids, log: data.log });
    expect(await data.ruleStates.save([state])).toEqual(['done']);
  });
});
afterEach(async () => {
  for (const topology of opened.splice(0)) await topology.close();
});

describe('rule state that was moved to another deployment with its own log', () => {
  it('fires a wait once, also if the deadline passed before the first configuration was there', async () => {
    moved.clock.pass(2 * HOUR);
    await evaluateAll(moved);
    expect(await intents(moved)).toBe(0);
    await hoursLater(moved);
    await hoursLater(moved);
    expect(await intents(moved)).toBe(1);
  });

  it('applies every event of the new log, and the last event of the old log before it', async () => {
    await happens(moved, 'gone');
    await evaluateAll(moved);
    expect(await intents(moved)).toBe(1);
    await happens(moved, 'paid');
    await hoursLater(moved);
    expect(await intents(moved)).toBe(1);
  });

  it('keeps its offsets in order below those of the new log, and gets the new configuration numbers', () => {
    const memory = {
      ...emptyMemory(ENTITY),
      offset: 9,
      lastEvent: 7,
      forgottenAt: 2,
      rules: { unpaid: { since: 3, wait: { deadline: 1, due: 1, event: 5, previous: null } } },
    };
    expect(movedMemory(memory, 2)).toEqual({
      ...emptyMemory(ENTITY),
      lastEvent: -3,
      rules: { unpaid: { since: 5, wait: { deadline: 1, due: 1, event: -5, previous: null } } },
    });
  });
});

describe('rule state that is newer than its log', () => {
  it('stops the partition with instructions for the operator', async () => {
    const topology = await open();
    await happens(topology, 'placed');
    const records = await topology.records('carillon.events');
    const stage = createEvaluateStage(topology.ports);
    const start = { partition: 0, configNumber: -1, watermark: 0 };
    const { save } = await stage.handle(records, start);
    await save?.();
    const [state] = await topology.data.ruleStates.list(1);
    if (!state) throw new Error('the order waits');
    await topology.data.ruleStates.save([{ ...state, offset: records.length }]);
    await expect(createEvaluateStage(topology.ports).handle(records, start)).rejects.toMatchObject({
      code: 'wrong_log',
      message: expect.stringMatching(
        /log ends at \d+: was it restored\? restore log and stores from one backup/,
      ) as string,
    });
  });
});
