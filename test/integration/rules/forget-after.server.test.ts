import { createStateSweeper } from '@carillon/engine';
import { loadMemory } from '@carillon/stages';
import { ORDER_PAID, ORDERS, orderShop, stream } from '@carillon/testing/given';
import { untilFound } from '@carillon/testing/topology';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openDataFolder, type RealBackend } from './backends.ts';
import { startEngine, type Engine } from './engine.ts';

const TIMEOUT = 60_000;
const DAY = 86_400_000;
const RETURNING = {
  ...ORDER_PAID,
  rules: {
    returns: {
      stream: 'orders',
      when: 'has(previous.status)',
      recipients: { from: 'event', to: { email: 'event.customer.email' }, unique_id: 'event_id' },
    },
  },
} as unknown as typeof ORDER_PAID;

describe('forget_after of a stream, in a data folder', () => {
  let backend: RealBackend;
  let engine: Engine | undefined;
  beforeAll(async () => {
    backend = await openDataFolder();
  }, TIMEOUT);
  afterEach(async () => {
    await engine?.stop();
    engine = undefined;
  });
  afterAll(() => backend.close(), TIMEOUT);

  const happens = ({ topology }: Engine, order: string) =>
    topology.event({ status: 'placed', order_id: order, customer: { email: 'ada@example.com' } });
  const memoryOf = ({ topology }: Engine, order: string) =>
    loadMemory({ workspace: 'shop', stream: 'shop/orders', key: order }, topology.ports);
  const untilRemembered = (of: Engine, order: string): Promise<true> =>
    untilFound(`${order} is remembered`, async () => ((await memoryOf(of, order)) === null ? undefined : true));
  /** Events with a message on the log, sorted, because each partition of the messages has an order of its own. */
  const fired = async ({ topology }: Engine): Promise<readonly string[]> =>
    (await topology.records('carillon.intents'))
      .map(({ value }) => {
        const read = topology.ports.codecs.intent.decode(value);
        if (!read.ok) throw new Error(read.error.detail);
        return /^evt_[0-9A-Z]{26}/.exec(read.value.slot.uniqueId)?.[0] ?? read.value.slot.uniqueId;
      })
      .toSorted();
  const untilFired = (of: Engine, event: string): Promise<true> =>
    untilFound(`a message of ${event}`, async () => ((await fired(of)).includes(event) ? true : undefined));
  /** Removes states as a process of the engine does each hour. */
  async function sweep({ topology }: Engine): Promise<void> {
    const { log } = topology.data;
    const partitions = Array.from({ length: log.partitions('carillon.events') }, (_, partition) => partition);
    const progress = { caughtUp: () => partitions.map((partition) => ({ partition, offset: 0 })) };
    await createStateSweeper({ ...topology.data, progress })();
  }

  it(
    'deletes the state of an idle entity, and treats a later event as its first',
    async () => {
      const first = (engine = await startEngine(backend));
      const orders = { ...ORDERS, key: 'event.order_id', forget_after: '2d' };
      await first.topology.publish(...orderShop(RETURNING), stream('orders', orders));
      await happens(first, 'A-1');
      await happens(first, 'A-2');
      await untilRemembered(first, 'A-1');
      await untilRemembered(first, 'A-2');
      await first.stop();

      // The next day both are remembered, and the second one changes.
      const second = (engine = await startEngine(backend));
      second.topology.clock.pass(DAY);
      const nextDay = await happens(second, 'A-1');
      await untilFired(second, nextDay);
      await sweep(second);
      expect(await memoryOf(second, 'A-2')).not.toBeNull();

      second.topology.clock.pass(4 * DAY);
      await happens(second, 'A-1');
      const secondOfLater = await happens(second, 'A-1');
      await untilFired(second, secondOfLater);
      await sweep(second);
      expect(await memoryOf(second, 'A-1')).not.toBeNull();
      await second.stop();

      const third = (engine = await startEngine(backend));
      const afterRestart = await happens(third, 'A-1');
      await untilFired(third, afterRestart);
      expect(await fired(third)).toEqual([nextDay, secondOfLater, afterRestart].toSorted());
      expect(third.topology.witness.failures).toEqual([]);
    },
    TIMEOUT,
  );
});
