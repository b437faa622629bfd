import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEmbedded } from '@carillon/adapter-embedded';
import { createTicker } from '@carillon/engine';
import { Progress, startStageConsumer } from '@carillon/runtime';
import { createEvaluateStage } from '@carillon/stages';
import { COLLECTIONS, createSourceStore, createStores } from '@carillon/stores';
import { ORDER_PAID, ORDERS, orderShop, stream } from '@carillon/testing/given';
import { openTopology, untilFound, type Topology } from '@carillon/testing/topology';
import { afterEach, beforeEach, expect, it } from 'vitest';

const MINUTE = 60_000;
const UNPAID = {
  ...ORDER_PAID,
  rules: {
    unpaid: {
      stream: 'orders',
      when: 'event.status == "placed"',
      after: '1m',
      unless: 'event.status == "paid"',
      recipients: { from: 'event', to: { email: 'event.customer.email' }, unique_id: 'event.order_id' },
    },
  },
} as typeof ORDER_PAID;

let folder = '';
let running: { readonly topology: Topology; readonly round: () => Promise<void>; stop(): Promise<void> } | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carillon-waits-'));
});
afterEach(async () => {
  await running?.stop();
  running = undefined;
  rmSync(folder, { recursive: true, force: true });
});

/** Opens the data folder as a process does, with what evaluates and what appends ticks. `passed`: time since the first start. */
async function start(passed: number) {
  await running?.stop();
  const topology = await openTopology({
    async backing(clock) {
      const data = await openEmbedded({ dataDir: folder, clock, partitions: 2, collections: COLLECTIONS });
      const sources = createSourceStore(data.documents, data.writeWithRecords);
      return { data: { ...data, ...createStores(data.documents), sources }, close: () => data.close() };
    },
  });
  topology.clock.pass(passed);
  const progress = new Progress();
  const { log, checkpoints, ruleStates } = topology.data;
  const stage = createEvaluateStage(topology.ports);
  const common = { group: 'engine', topic: 'carillon.events', log, checkpoints, progress } as const;
  const consumption = await startStageConsumer({ ...common, stage, sink: topology.liveSink, watch: topology.witness });
  running = {
    topology,
    round: createTicker({ log, ruleStates, clock: topology.clock, progress }),
    async stop() {
      await consumption.stop();
      await topology.close();
    },
  };
  return running;
}

it('an order that is not paid within a minute fires by a tick, a paid one does not, also after a restart', async () => {
  const first = await start(0);
  const happens = (status: string, order: string) =>
    first.topology.event({ status, order_id: order, customer: { email: 'ada@example.com' } });
  await first.topology.publish(...orderShop(UNPAID), stream('orders', { ...ORDERS, key: 'event.order_id' }));
  for (const order of ['A-1', 'A-2', 'A-3']) await happens('placed', order);
  await happens('paid', 'A-2');
  await untilFound('both waits are stored', async () => {
    const { ruleStates } = first.topology.data;
    const due = await Promise.all([0, 1].map((partition) => ruleStates.due(partition, Number.MAX_SAFE_INTEGER, 10)));
    return due.flat().length === 2 ? true : undefined;
  });

  const second = await start(2 * MINUTE);
  const intents = await untilFound('the messages of the unpaid orders', async () => {
    await second.round();
    const found = await second.topology.records('carillon.intents');
    return found.length >= 2 ? found : undefined;
  });
  const { intent } = second.topology.ports.codecs;
  const orders = intents.map(({ value }) => {
    const read = intent.decode(value);
    if (!read.ok) throw new Error(read.error.detail);
    expect(read.value.deadline).toBe(read.value.causedAt);
    return read.value.slot.uniqueId;
  });
  expect(orders.toSorted()).toEqual(['A-1', 'A-3']);

  const third = await start(4 * MINUTE);
  await third.topology.event({ status: 'paid', order_id: 'A-1', customer: { email: 'ada@example.com' } });
  await third.round();
  expect(await third.topology.records('carillon.intents')).toHaveLength(2);
});
