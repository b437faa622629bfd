import { loadMemory } from '@carillon/stages';
import { ORDER_PAID, ORDERS, orderShop, stream } from '@carillon/testing/given';
import { evaluateAll, openTopology, type Topology } from '@carillon/testing/topology';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createStateSweeper } from '../src/ticking/state-sweeper.ts';

const DAY = 86_400_000;
const RULE = {
  stream: 'orders',
  when: 'event.status == "placed"',
  recipients: { from: 'event', to: { email: 'event.customer.email' }, unique_id: 'event_id' },
} as const;

let topology: Topology;
beforeEach(async () => {
  topology = await openTopology({ partitions: 1 });
  topology.clock.standStill();
  const rules = { cools: { ...RULE, cooldown: '1d' }, waits: { ...RULE, when: 'event.waits', after: '300d' } } as const;
  const orders = { ...ORDERS, key: 'event.order_id', forget_after: '2d' };
  await topology.publish(...orderShop({ ...ORDER_PAID, rules }), stream('orders', orders));
});
afterEach(() => topology.close());

const happens = (order: string, waits = false) =>
  topology.event({ status: 'placed', waits, order_id: order, customer: { email: 'ada@example.com' } });
const remembered = async (...orders: readonly string[]): Promise<readonly string[]> => {
  const memories = await Promise.all(
    orders.map((key) => loadMemory({ workspace: 'shop', stream: 'shop/orders', key }, topology.ports)),
  );
  return orders.filter((_order, at) => memories[at] !== null);
};
const sweep = (partitions: readonly number[] = [0]): Promise<void> =>
  createStateSweeper({
    ...topology.data,
    progress: { caughtUp: () => partitions.map((partition) => ({ partition, offset: 0 })) },
  })();

describe('the state sweeper', () => {
  it('deletes the state of forgotten entities, and keeps that of waiting ones', async () => {
    await happens('A-1');
    await happens('A-2', true);
    await evaluateAll(topology);
    topology.clock.pass(4 * DAY);
    await happens('A-3');
    await evaluateAll(topology);
    await sweep([]);
    expect(await remembered('A-1', 'A-2', 'A-3')).toEqual(['A-1', 'A-2', 'A-3']);
    await sweep();
    expect(await remembered('A-1', 'A-2', 'A-3')).toEqual(['A-2', 'A-3']);
  });

  it('uses the watermark, so that an unread event still finds its entity', async () => {
    await happens('A-1');
    await evaluateAll(topology);
    await topology.restart();
    await happens('A-1');
    topology.clock.pass(10 * DAY);
    await sweep();
    await evaluateAll(topology);
    expect(await topology.records('carillon.intents')).toHaveLength(1);
  });

  it('lets a forgotten entity start again', async () => {
    await happens('A-1');
    await evaluateAll(topology);
    topology.clock.pass(4 * DAY);
    await happens('A-1');
    await evaluateAll(topology);
    expect(await topology.records('carillon.intents')).toHaveLength(2);
  });
});
