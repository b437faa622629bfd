import { ORDER_PAID, ORDERS, orderShop, stream } from '@carillon/testing/given';
import { untilFound, type Topology } from '@carillon/testing/topology';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { describeWith } from '../../support/requirements.ts';
import { openCluster, openDataFolder, type RealBackend } from './backends.ts';
import { notified, startEngine, waiting, type Engine } from './engine.ts';

const TIMEOUT = 120_000;
const RECIPIENTS = { from: 'event', to: { email: 'event.customer.email' }, unique_id: 'event.order_id' } as const;
const WAITING = {
  ...ORDER_PAID,
  rules: {
    unpaid: { stream: 'orders', when: 'event.status == "placed"', after: '1s', recipients: RECIPIENTS },
    // It never fires here, however slow the machine is.
    reserved: {
      stream: 'orders',
      when: 'event.status == "reserved"',
      after: '366d',
      unless: 'event.status == "paid"',
      recipients: RECIPIENTS,
    },
  },
} as typeof ORDER_PAID;

const happens = (topology: Topology, status: string, order: string) =>
  topology.event({ status, order_id: order, customer: { email: 'ada@example.com' } });

function firesByTicks(open: () => Promise<RealBackend>): void {
  let backend: RealBackend;
  let engine: Engine | undefined;
  beforeAll(async () => {
    backend = await open();
  }, TIMEOUT);
  afterEach(async () => {
    await engine?.stop();
    engine = undefined;
  });
  afterAll(() => backend.close(), TIMEOUT);

  it(
    'fires on a quiet stream after a restart, once, and not for a wait that was cancelled',
    async () => {
      const first = (engine = await startEngine(backend));
      const { topology } = first;
      await topology.publish(...orderShop(WAITING), stream('orders', { ...ORDERS, key: 'event.order_id' }));
      await happens(topology, 'reserved', 'A-2');
      await untilFound('the reserved order waits', async () =>
        (await waiting(first)).length === 1 ? true : undefined,
      );
      await happens(topology, 'paid', 'A-2');
      await untilFound('nothing waits', async () => ((await waiting(first)).length === 0 ? true : undefined));
      await happens(topology, 'placed', 'A-1');
      await untilFound('the placed order waits', async () => ((await waiting(first)).length === 1 ? true : undefined));
      await first.stop();

      const second = (engine = await startEngine(backend));
      await untilFound('the message of the placed order', async () => {
        await second.tick();
        return (await notified(second)).length > 0 ? true : undefined;
      });
      await second.stop();

      const third = (engine = await startEngine(backend));
      await happens(third.topology, 'paid', 'A-1');
      await happens(third.topology, 'placed', 'A-3');
      await untilFound('the message of the other order', async () => {
        await third.tick();
        return (await notified(third)).includes('A-3') ? true : undefined;
      });
      expect(await notified(third)).toEqual(['A-1', 'A-3']);
      await untilFound('nothing waits', async () => ((await waiting(third)).length === 0 ? true : undefined));
      expect(third.topology.witness.failures).toEqual([]);
    },
    TIMEOUT,
  );
}

describe('a rule that waits, in a data folder', () => {
  firesByTicks(openDataFolder);
});
describeWith(['kafka', 'mongodb'], 'a rule that waits, on Kafka and MongoDB', () => {
  firesByTicks(openCluster);
});
