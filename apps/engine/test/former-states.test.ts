import { CHANGED_BY_OWNER } from '@carillon/domain/configuration';
import { loadMemory, publishConfiguration } from '@carillon/stages';
import { ORDER_PAID, ORDERS, orderShop, stream } from '@carillon/testing/given';
import { evaluateAll, openTopology, type Topology } from '@carillon/testing/topology';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createFormerStateRemover, type FormerStatesPorts } from '../src/ticking/former-states.ts';

const MINUTE = 60_000;
const RULE = {
  stream: 'orders',
  when: 'event.status == "placed"',
  recipients: { from: 'event', to: { email: 'event.customer.email' }, unique_id: 'event_id' },
} as const;
const rules = { cools: { ...RULE, cooldown: '1d' }, waits: { ...RULE, when: 'event.waits', after: '30d' } } as const;

let topology: Topology;
beforeEach(async () => {
  topology = await openTopology({ partitions: 1 });
  topology.clock.standStill();
  await publishShop();
});
afterEach(() => topology.close());

const publishShop = () =>
  topology.publish(...orderShop({ ...ORDER_PAID, rules }), stream('orders', { ...ORDERS, key: 'event.order_id' }));
const happens = (order: string, waits = false) =>
  topology.event({ status: 'placed', waits, order_id: order, customer: { email: 'ada@example.com' } });
const remembered = async (...orders: readonly string[]): Promise<readonly string[]> => {
  const memories = await Promise.all(
    orders.map((key) => loadMemory({ workspace: 'shop', stream: 'shop/orders', key }, topology.ports)),
  );
  return orders.filter((_order, at) => memories[at] !== null);
};

async function removeShop(): Promise<void> {
  const { configuration, codecs, ids, clock, log } = topology.ports;
  const { resources } = await configuration.refresh();
  const changes = [...resources.values()].map(({ ref, number }) => ({ ref, based_on: number, body: null }));
  const readEverywhere = () => Promise.resolve();
  const ports = { log, codec: codecs.configuration, view: configuration, ids, clock, readEverywhere };
  await publishConfiguration(ports, changes, CHANGED_BY_OWNER);
}

const createRemover = (
  partitions: readonly number[] = [0],
  more: Partial<Pick<FormerStatesPorts, 'ruleStates'>> = {},
) =>
  createFormerStateRemover({
    ...topology.ports,
    ...more,
    progress: { caughtUp: () => partitions.map((partition) => ({ partition, offset: 0 })) },
  });

describe('the state of a removed workspace', () => {
  it('is removed with its waits once the removal has settled, by the process that holds its partition', async () => {
    await happens('A-1');
    await happens('A-2', true);
    await evaluateAll(topology);
    const remove = createRemover();
    await remove();
    await removeShop();
    await evaluateAll(topology);
    await remove();
    expect(await remembered('A-1', 'A-2')).toEqual(['A-1', 'A-2']);
    topology.clock.pass(2 * MINUTE);
    await createRemover([])();
    expect(await remembered('A-1', 'A-2')).toEqual(['A-1', 'A-2']);
    await remove();
    expect(await remembered('A-1', 'A-2')).toEqual([]);
    expect(await topology.data.ruleStates.earliestDue(0)).toBeNull();
  });

  it('is removed by a process that starts after the removal', async () => {
    await happens('A-1');
    await evaluateAll(topology);
    await removeShop();
    topology.clock.pass(2 * MINUTE);
    await createRemover()();
    expect(await remembered('A-1')).toEqual([]);
  });

  it('stays if the workspace is made again while states are read', async () => {
    await happens('A-1');
    await evaluateAll(topology);
    await removeShop();
    topology.clock.pass(2 * MINUTE);
    const { ruleStates } = topology.ports;
    let isMade = false;
    const list: typeof ruleStates.list = async (...page) => {
      if (!isMade) await publishShop();
      if (!isMade) await happens('A-2', true);
      isMade = true;
      await evaluateAll(topology);
      return ruleStates.list(...page);
    };
    await createRemover([0], { ruleStates: { ...ruleStates, list } })();
    expect(await remembered('A-2')).toEqual(['A-2']);
  });

  it('stays if the workspace exists again, and the states of other workspaces stay', async () => {
    await happens('A-1');
    await evaluateAll(topology);
    await removeShop();
    await publishShop();
    topology.clock.pass(2 * MINUTE);
    await createRemover()();
    expect(await remembered('A-1')).toEqual(['A-1']);
  });
});
