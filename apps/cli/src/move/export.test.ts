import { ORDER_PAID, ORDERS, orderShop, stream } from '@carillon/testing/given';
import { evaluateAll, openTopology, type Topology } from '@carillon/testing/topology';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { stateLines } from './export.ts';

const UNPAID = {
  stream: 'orders',
  when: 'event.status == "placed"',
  after: '1h',
  recipients: { from: 'event', to: { email: 'event.customer.email' }, unique_id: 'event_id' },
} as const;

let topology: Topology;
let event: number;
beforeEach(async () => {
  topology = await openTopology({ partitions: 1 });
  await topology.publish(
    ...orderShop({ ...ORDER_PAID, rules: { unpaid: UNPAID } }),
    stream('orders', { ...ORDERS, key: 'event.order_id' }),
  );
  const body = {
    order_id: 'A-1',
    status: 'placed',
    total: 1,
    user_ids: [],
    customer: { name: 'A', email: 'a@example.com' },
  };
  await topology.event(body, { stream: 'shop/orders' });
  event = (await topology.data.log.bounds('carillon.events', 0)).end - 1;
  await evaluateAll(topology);
});
afterEach(() => topology.close());

async function waitsExported(calledOffBelow: ReadonlyMap<number, number>): Promise<number> {
  let waits = 0;
  for await (const line of stateLines({ ruleStates: topology.data.ruleStates, calledOffBelow })) {
    const rules = 'state' in line ? Object.values(line.state.rules) : [];
    waits += rules.filter(({ wait }) => wait !== undefined).length;
  }
  return waits;
}

it('an export leaves out waits for events that a restore called off, and keeps later ones', async () => {
  expect(await waitsExported(new Map([[0, event]]))).toBe(1);
  expect(await waitsExported(new Map([[0, event + 1]]))).toBe(0);
});
