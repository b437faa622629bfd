import { createEvaluateStage } from '@carillon/stages';
import { ORDER_PAID, ORDERS, orderShop, stream } from '@carillon/testing/given';
import { openTopology, type Topology } from '@carillon/testing/topology';
import { Progress, startStageConsumer } from '@carillon/runtime';
import type { Consumption, LogRecord } from '@carillon/ports';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { untilFound } from '@carillon/testing';
import { createTicker } from '../src/ticking/ticker.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
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

let topology: Topology;
let consumption: Consumption | undefined;
let progress = new Progress();
beforeEach(async () => {
  topology = await openTopology({ partitions: 2 });
  topology.clock.standStill();
  await topology.publish(...orderShop(UNPAID), stream('orders', { ...ORDERS, key: 'event.order_id' }));
  await start();
});
afterEach(async () => {
  await consumption?.stop();
  await topology.close();
});

/** Starts what evaluates, as another process would. `before`: waited for before each batch. */
async function start(before: () => Promise<void> = async () => undefined): Promise<void> {
  await consumption?.stop();
  progress = new Progress();
  const { log, checkpoints } = topology.data;
  const evaluate = createEvaluateStage(topology.ports);
  const stage: typeof evaluate = {
    ...evaluate,
    async handle(records, state) {
      await before();
      return evaluate.handle(records, state);
    },
  };
  const watch = topology.witness;
  const common = { group: 'engine', topic: 'carillon.events', log, checkpoints, watch, progress } as const;
  consumption = await startStageConsumer({ ...common, stage, sink: topology.liveSink });
}
const ticker = () => createTicker({ ...topology.data, clock: topology.clock, progress });
const happens = (status: string, order: string) =>
  topology.event({ status, order_id: order, customer: { email: 'ada@example.com' } });
const ticks = async (): Promise<LogRecord[]> =>
  (await topology.records('carillon.events')).filter(({ headers }) => headers['kind'] === 'tick');
const intents = () => topology.records('carillon.intents');
const caughtUp = () =>
  untilFound('both partitions are read to their end', async () => {
    const { log } = topology.data;
    const places = progress.caughtUp();
    const ends = await Promise.all(places.map(({ partition }) => log.bounds('carillon.events', partition)));
    const isDone = places.length === 2 && places.every(({ offset }, at) => offset === ends[at]?.end);
    return isDone ? true : undefined;
  });

describe('the ticker', () => {
  it('appends nothing in an hour of an idle install', async () => {
    await caughtUp();
    const round = ticker();
    for (let second = 0; second < 3_600; second += 1) {
      await round();
      topology.clock.pass(SECOND);
    }
    expect(await ticks()).toEqual([]);
  });

  it('makes a wait on a quiet stream fire, with one tick in its partition', async () => {
    await happens('placed', 'A-1');
    await happens('placed', 'A-2');
    await happens('paid', 'A-2');
    await caughtUp();
    const round = ticker();
    topology.clock.pass(MINUTE);
    await round();
    expect(await ticks()).toEqual([]);
    topology.clock.pass(1);
    await round();
    await untilFound('the intent', async () => (await intents())[0]);
    await caughtUp();
    for (let second = 0; second < 120; second += 1) {
      topology.clock.pass(SECOND);
      await round();
    }
    expect(await ticks()).toHaveLength(1);
    expect(await intents()).toHaveLength(1);
  });

  it('appends ticks for waits of an earlier process, and none to a partition with unread records', async () => {
    await happens('placed', 'A-1');
    await caughtUp();
    await consumption?.stop();
    const behind = createTicker({
      ...topology.data,
      clock: topology.clock,
      progress: { caughtUp: () => [] },
    });
    topology.clock.pass(2 * MINUTE);
    await behind();
    expect(await ticks()).toEqual([]);
    await start();
    await caughtUp();
    await ticker()();
    expect(await ticks()).toHaveLength(1);
    await untilFound('the intent', async () => (await intents())[0]);
  });
  it('appends none to a partition whose newest record is being evaluated', async () => {
    await happens('placed', 'A-1');
    await caughtUp();
    const [begun, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    await start(() => (begun.resolve(), held.promise));
    await caughtUp();
    await happens('viewed', 'A-1');
    await begun.promise;
    topology.clock.pass(2 * MINUTE);
    const round = ticker();
    await round();
    await round();
    const early = await ticks();
    held.resolve();
    expect(early).toEqual([]);
    await caughtUp();
    await round();
    expect(await ticks()).toHaveLength(1);
    await untilFound('the intent', async () => (await intents())[0]);
  });
});
