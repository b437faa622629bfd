import { decisionWords, type Decision } from '@carillon/domain/rules';
import { loadMemory } from '@carillon/stages';
import { ORDER_PAID, ORDERS, orderShop, stream } from '@carillon/testing/given';
import { untilFound } from '@carillon/testing/topology';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { describeWith } from '../../support/requirements.ts';
import { openCluster, openDataFolder, type RealBackend } from './backends.ts';
import { notified, startEngine, waiting, type Engine } from './engine.ts';

const TIMEOUT = 120_000;
const MINUTE = 60_000;
const GRACE = 60 * MINUTE;
const AFTER = 1_000;
const UNPAID = {
  ...ORDER_PAID,
  rules: {
    unpaid: {
      stream: 'orders',
      when: 'event.status == "placed"',
      after: '1s',
      unless: 'event.status == "paid"',
      recipients: { from: 'event', to: { email: 'event.customer.email' }, unique_id: 'event.order_id' },
    },
  },
} as typeof ORDER_PAID;
const TIMED = { ...ORDERS, key: 'event.order_id', time: 'event.happened_at', grace: '1h' };

const happened = ({ topology }: Engine, status: string, order: string, at: number) =>
  topology.event({
    status,
    order_id: order,
    happened_at: new Date(at).toISOString(),
    customer: { email: 'ada@example.com' },
  });

async function decisions({ topology }: Engine, order: string): Promise<readonly Decision[]> {
  const memory = await loadMemory({ workspace: 'shop', stream: 'shop/orders', key: order }, topology.ports);
  return memory?.decisions ?? [];
}

const untilDecided = (engine: Engine, order: string, words: string): Promise<Decision> =>
  untilFound(`order ${order}: ${words}`, async () => {
    const found = await decisions(engine, order);
    return found.find((decision) => decisionWords(decision).some((phrase) => phrase.includes(words)));
  });

const untilNotified = (engine: Engine, order: string): Promise<true> =>
  untilFound(`the message of order ${order}`, async () => {
    await engine.tick();
    return (await notified(engine)).includes(order) ? true : undefined;
  });

/** Late events of the evaluation records. A batch that came again counts once. */
async function lateEvents({ topology }: Engine): Promise<number> {
  const { evaluation } = topology.ports.codecs;
  const ranges = new Map<string, number>();
  for (const { value } of await topology.records('carillon.evaluations')) {
    const read = evaluation.decode(value);
    if (!read.ok) throw new Error(read.error.detail);
    const { partition, from, to, late } = read.value;
    ranges.set(`${partition} ${from} ${to}`, late);
  }
  return [...ranges.values()].reduce((sum, late) => sum + late, 0);
}

function countsEventTimes(open: () => Promise<RealBackend>): void {
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
    'decides by event time when events arrive out of order within the grace, and counts late events',
    async () => {
      const first = (engine = await startEngine(backend));
      await first.topology.publish(...orderShop(UNPAID), stream('orders', TIMED));
      const now = first.topology.clock.now();

      await happened(first, 'paid', 'paid-first', now - 5 * MINUTE);
      await happened(first, 'placed', 'paid-first', now - 10 * MINUTE);
      await untilDecided(first, 'paid-first', 'starts no wait: `unless` was true at');

      const placed = now - 30 * MINUTE;
      await happened(first, 'placed', 'within-grace', placed);
      await untilFound('the order waits', async () => ((await waiting(first)).length === 1 ? true : undefined));
      await first.stop();

      // Its deadline is half an hour ago, so any record would fire the wait but for the grace.
      const second = (engine = await startEngine(backend));
      await happened(second, 'paid', 'within-grace', placed + AFTER);
      await untilDecided(second, 'within-grace', 'wait cancelled');
      expect([await notified(second), await lateEvents(second)]).toEqual([[], 0]);

      await happened(second, 'placed', 'late', now - 180 * MINUTE);
      await untilNotified(second, 'late');
      await untilDecided(second, 'late', 'after its time');
      expect(await lateEvents(second)).toBe(1);

      const deadline = second.topology.clock.now() - GRACE + 2 * AFTER;
      await happened(second, 'placed', 'unpaid', deadline - AFTER);
      await untilNotified(second, 'unpaid');
      const fired = await untilDecided(second, 'unpaid', 'fired');
      expect(fired.at).toBeGreaterThan(deadline + GRACE);

      expect(await notified(second)).toEqual(['late', 'unpaid']);
      expect(second.topology.witness.failures).toEqual([]);
    },
    TIMEOUT,
  );
}

describe('a rule that waits on a stream with a time path, in a data folder', () => {
  countsEventTimes(openDataFolder);
});
describeWith(['kafka', 'mongodb'], 'a rule that waits on a stream with a time path, on Kafka and MongoDB', () => {
  countsEventTimes(openCluster);
});
