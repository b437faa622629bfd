import { isPositionOnly } from '@carillon/domain/rules';
import { ORDER_PAID, ORDERS, orderShop, stream } from '@carillon/testing/given';
import { evaluateAll, openTopology, type Topology } from '@carillon/testing/topology';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createEvaluateStage, forgetRecord, loadMemory, tickRecord } from '../../src/index.ts';

const HOUR = 3_600_000;
const ENTITY = { workspace: 'shop', stream: 'shop/orders', key: 'A-1' };
const RECIPIENTS = {
  from: 'event',
  to: { email: 'event.customer.email' },
  unique_id: 'event_id',
} as const;
const RULES = {
  unpaid: { stream: 'orders', when: 'event.status == "placed"', after: '1h', recipients: RECIPIENTS },
  cools: { stream: 'orders', when: 'event.status == "paid"', cooldown: '30d', recipients: RECIPIENTS },
} as const;

let topology: Topology;
beforeEach(async () => {
  topology = await openTopology({ partitions: 1 });
  topology.clock.standStill();
  await topology.publish(
    ...orderShop({ ...ORDER_PAID, rules: RULES }),
    stream('orders', { ...ORDERS, key: 'event.order_id' }),
  );
});
afterEach(() => topology.close());

const happens = (status: string, order = 'A-1') =>
  topology.event({ status, order_id: order, customer: { email: 'ada@example.com' } });
const forget = () =>
  topology.data.log.append([forgetRecord(ENTITY, 'person:per_1', { ids: topology.ports.ids, partitions: 1 })]);
const intents = async (): Promise<number> => (await topology.records('carillon.intents')).length;

/** Lets two hours pass, and evaluates everything. */
async function later(): Promise<void> {
  topology.clock.pass(2 * HOUR);
  await topology.data.log.append([tickRecord(0)]);
  await evaluateAll(topology);
}

describe('a log record that makes the engine forget an entity', () => {
  it('ends the waits of the entity without a message, and leaves only a position of its state', async () => {
    await happens('placed');
    await happens('placed', 'A-2');
    await forget();
    await evaluateAll(topology);
    const memory = await loadMemory(ENTITY, topology.ports);
    expect(memory && isPositionOnly(memory)).toBe(true);
    const [stored] = await topology.data.ruleStates.load([
      topology.ports.ids.derive('state', 'shop/orders', 'A-1', ''),
    ]);
    expect(stored).toMatchObject({ data: '', waits: [], nextDue: null });
    await later();
    expect(await intents()).toBe(1);
  });

  it('lets the entity start anew: its cooldown is over, and a later event starts a wait', async () => {
    await happens('paid');
    await happens('paid');
    await forget();
    await happens('paid');
    await happens('placed');
    await evaluateAll(topology);
    expect(await intents()).toBe(2);
    await later();
    expect(await intents()).toBe(3);
  });

  it('is applied after the deadlines that passed before it have fired', async () => {
    await happens('placed');
    topology.clock.pass(2 * HOUR);
    await forget();
    await evaluateAll(topology);
    expect(await intents()).toBe(1);
  });

  it('changes nothing if it is read again, and earlier events stay forgotten', async () => {
    await happens('paid');
    await forget();
    await happens('paid');
    const records = await topology.records('carillon.events');
    const start = { partition: 0, configNumber: -1, watermark: 0 };
    const stage = createEvaluateStage(topology.ports);
    const first = await stage.handle(records, start);
    expect(await first.save?.()).toBe('done');
    const again = await stage.handle(records, start);
    const made = ({ outputs }: typeof first) => outputs.filter(({ kind }) => kind === 'intent');
    expect([made(first).length, made(again).length]).toEqual([2, 0]);
    expect(again.save).toBeUndefined();
  });

  it('is counted as repeated if it is read again, because it ends no wait then', async () => {
    await happens('placed');
    await forget();
    const records = await topology.records('carillon.events');
    const event = records.slice(0, -1);
    const start = { partition: 0, configNumber: -1, watermark: 0 };
    const stage = createEvaluateStage(topology.ports);
    const before = await stage.handle(event, start);
    expect(await before.save?.()).toBe('done');
    const first = await stage.handle(records.slice(-1), before.state);
    expect(await first.save?.()).toBe('done');
    const again = await stage.handle(records.slice(-1), before.state);
    const counted = ({ outputs, decided = [] }: typeof first) =>
      outputs.flatMap((output) =>
        output.kind === 'evaluation' ? [[output.evaluation.repeated, decided.map(({ decision }) => decision)]] : [],
      );
    expect([counted(first), counted(again)]).toEqual([[[0, ['wait_cancelled']]], [[1, []]]]);
  });

  it('counts, per rule, the waits that it ends', async () => {
    await happens('placed');
    await forget();
    const records = await topology.records('carillon.events');
    const stage = createEvaluateStage(topology.ports);
    const { decided = [] } = await stage.handle(records, { partition: 0, configNumber: -1, watermark: 0 });
    expect(decided).toContainEqual({
      workspace: 'shop',
      rule: 'order-paid.unpaid',
      decision: 'wait_cancelled',
      count: 1,
    });
  });

  it('does nothing for an entity without stored state', async () => {
    await forget();
    await evaluateAll(topology);
    expect(await loadMemory(ENTITY, topology.ports)).toBeNull();
  });
});
