import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchCase, OpenSide, Side } from '../harness/bench.ts';
import { closedLoop } from '../harness/load.ts';
import { secondsOf } from '../warm-up.ts';
import { DEBEZIUM, DEBEZIUM_SYNCS, startReadingDebezium } from './debezium.ts';
import { PRODUCT, PRODUCT_SYNCS, RULE_FILES, startReadingProduct } from './reading-product.ts';

/** Rows that updates set to `paid`, each once. */
const ROWS = 20_000;

const updating: Side = {
  name: PRODUCT,
  syncs: PRODUCT_SYNCS,
  async open(): Promise<OpenSide> {
    const { product, orders, ends, close } = await startReadingProduct(RULE_FILES);
    await orders.insert(ROWS);
    await orders.database.run("UPDATE orders SET status = 'created'");
    // Inserts and updates.
    await ends.until('carillon.events', 2 * ROWS);
    const first = ends.count('carillon.intents');
    let updated = 0;
    return {
      processes: { carillon: product.pid, PostgreSQL: orders.server.pid },
      async round(round) {
        return closedLoop({ open: 1, seconds: secondsOf(round) }, async () => {
          updated += 1;
          await orders.update(updated, 'paid');
          await ends.until('carillon.intents', first + updated);
        });
      },
      async verify() {
        const intents = ends.count('carillon.intents') - first;
        return intents === updated ? [] : [`${updated} rows were updated, and ${intents} intents came`];
      },
      close,
    };
  },
};

const connecting: Side = {
  name: DEBEZIUM,
  syncs: DEBEZIUM_SYNCS,
  async open(): Promise<OpenSide> {
    const { orders, processes, ends, close } = await startReadingDebezium();
    await orders.insert(ROWS);
    await ends.until(ROWS);
    let updated = 0;
    return {
      processes: { ...processes, PostgreSQL: orders.server.pid },
      async round(round) {
        return closedLoop({ open: 1, seconds: secondsOf(round) }, async () => {
          updated += 1;
          await orders.update(updated, 'paid');
          await ends.until(ROWS + updated);
        });
      },
      async verify() {
        const records = (await ends.count()) - ROWS;
        return records === updated ? [] : [`${updated} rows were updated, and ${records} records came`];
      },
      close,
    };
  },
};

export const updateToIntent: BenchCase = {
  title: 'from UPDATE to intent',
  counted: 'updates',
  delays: 'from the UPDATE, before it is sent, to the intent on the log, or to the record on the topic',
  sides: [updating, connecting],
  comparisons: [{ side: PRODUCT, to: DEBEZIUM, measure: 'p50', wanted: 'at most', floor: 1, goal: 0.3 }],
};

const idling: Side = {
  name: PRODUCT,
  syncs: PRODUCT_SYNCS,
  async open(): Promise<OpenSide> {
    const { product, close } = await startReadingProduct(RULE_FILES);
    return {
      processes: { carillon: product.pid },
      async round({ seconds }) {
        await sleep(seconds * 1000);
        return { done: 1, seconds };
      },
      verify: async () => [],
      close,
    };
  },
};

const CONNECT_IDLE = 'Kafka, Connect and Debezium';

const connectIdling: Side = {
  name: CONNECT_IDLE,
  syncs: DEBEZIUM_SYNCS,
  async open(): Promise<OpenSide> {
    const { processes, close } = await startReadingDebezium();
    return {
      processes,
      async round({ seconds }) {
        await sleep(seconds * 1000);
        return { done: 1, seconds };
      },
      verify: async () => [],
      close,
    };
  },
};

export const idleMemory: BenchCase = {
  title: 'memory, idle',
  counted: 'looks',
  sides: [idling, connectIdling],
  comparisons: [{ side: PRODUCT, to: CONNECT_IDLE, measure: 'memory', wanted: 'at most', floor: 1 / 5, goal: 1 / 8 }],
};
