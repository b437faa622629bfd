import { decisionWords } from '@carillon/domain/rules';
import { loadMemory } from '@carillon/stages';
import { ORDER_PAID, ORDERS, orderShop, stream } from '@carillon/testing/given';
import { untilFound } from '@carillon/testing/topology';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { describeWith } from '../../support/requirements.ts';
import { openCluster, openDataFolder, type RealBackend } from './backends.ts';
import { startEngine, type Engine } from './engine.ts';

const TIMEOUT = 120_000;
const RECIPIENTS = { from: 'event', to: { email: 'event.customer.email' }, unique_id: 'event_id' } as const;
const COUNTING = {
  ...ORDER_PAID,
  rules: {
    fails: {
      stream: 'orders',
      totals: {
        failed: { count: 'event.status == "failed"', within: '1h' },
        spent: { sum: 'event.total', within: 'calendar month' },
        cards: { distinct: 'event.card', within: '1d' },
      },
      when: 'totals.failed >= 3 && totals.spent > 0.0 && totals.cards > 0',
      cooldown: 'until_false',
      recipients: RECIPIENTS,
    },
  },
} as unknown as typeof ORDER_PAID;

function countsOverRestarts(open: () => Promise<RealBackend>): void {
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

  const start = async (): Promise<Engine> => (engine = await startEngine(backend));
  const fails = ({ topology }: Engine, order: string, card: string) =>
    topology.event({ status: 'failed', order_id: order, total: 10.5, card, customer: { email: 'ada@example.com' } });
  /** Waits until the newest decision about an order says this. */
  const untilSays = ({ topology }: Engine, order: string, words: readonly string[]): Promise<true> =>
    untilFound(`order ${order}: ${words.join()}`, async () => {
      const memory = await loadMemory({ workspace: 'shop', stream: 'shop/orders', key: order }, topology.ports);
      const newest = memory?.decisions.at(-1);
      const said = newest === undefined ? [] : decisionWords(newest);
      return words.every((word) => said.includes(word)) ? true : undefined;
    });
  const intents = async ({ topology }: Engine): Promise<number> => (await topology.records('carillon.intents')).length;

  it(
    'counts, adds up and tells values apart over restarts, and notifies once',
    async () => {
      const first = await start();
      const orders = { ...ORDERS, key: 'event.order_id' };
      await first.topology.publish(...orderShop(COUNTING), stream('orders', orders));
      await fails(first, 'A-1', 'visa');
      await untilSays(first, 'A-1', ['totals.failed is 1', 'totals.spent is 10.5', 'totals.cards is 1']);
      await first.stop();

      const second = await start();
      await fails(second, 'A-1', 'visa');
      await fails(second, 'A-2', 'visa');
      await untilSays(second, 'A-1', ['totals.failed is 2', 'totals.spent is 21', 'totals.cards is 1']);
      await untilSays(second, 'A-2', ['totals.failed is 1']);
      expect(await intents(second)).toBe(0);
      await second.stop();

      const third = await start();
      await fails(third, 'A-1', 'amex');
      await untilSays(third, 'A-1', ['totals.failed is 3', 'totals.spent is 31.5', 'totals.cards is 2']);
      await fails(third, 'A-1', 'amex');
      await untilSays(third, 'A-1', ['totals.failed is 4', 'totals.spent is 42', 'totals.cards is 2']);
      expect(await intents(third)).toBe(1);
      expect(third.topology.witness.failures).toEqual([]);
    },
    TIMEOUT,
  );
}

describe('a rule that counts, in a data folder', () => {
  countsOverRestarts(openDataFolder);
});
describeWith(['kafka', 'mongodb'], 'a rule that counts, on Kafka and MongoDB', () => {
  countsOverRestarts(openCluster);
});
