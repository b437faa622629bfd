import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ensureCached, POSTGRES_15_RELEASE, postgresProgram } from '@carillon/testing/services';
import type { BenchCase, OpenSide, Reading, Side } from '../harness/bench.ts';
import { cpuSeconds } from '../harness/cpu.ts';
import { countEmbedded } from '../product.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { DEBEZIUM, DEBEZIUM_SYNCS, startReadingDebezium } from './debezium.ts';
import { whileHeld } from './held-process.ts';
import { createOrderDatabase } from './order-database.ts';
import { PRODUCT, PRODUCT_SYNCS, startReadingProduct } from './reading-product.ts';

export const WAITING = 100_000;
/** Changes that are on their way to the product before it goes on: they fill the buffers of the connection. */
const AHEAD = 20_000;
const FILE = 'pg_recvlogical to a file';

/** The product is held still while the changes are committed. The time begins once those in the buffers are through. */
const reading: Side = {
  name: PRODUCT,
  syncs: PRODUCT_SYNCS,
  async open(): Promise<OpenSide> {
    const { product, orders, ends, dataDir, close } = await startReadingProduct();
    let written = 0;
    return {
      processes: { carillon: product.pid, PostgreSQL: orders.server.pid },
      async round() {
        const before = ends.count('carillon.events');
        await whileHeld(product.pid, () => orders.insert(AHEAD + WAITING));
        written += AHEAD + WAITING;
        const begun = await ends.until('carillon.events', before + AHEAD);
        const ended = await ends.until('carillon.events', before + AHEAD + WAITING);
        return { done: WAITING, seconds: (ended - begun) / 1000 };
      },
      async verify() {
        await product.kill('SIGTERM');
        const counts = await countEmbedded(dataDir);
        const twice = [...counts.values()].filter((count) => count > 1).length;
        return counts.size === written && twice === 0
          ? []
          : [`${written} rows were inserted; ${counts.size} are on the log, ${twice} of them more than once`];
      },
      close,
    };
  },
};

/** Kafka Connect is held still likewise. */
const connecting: Side = {
  name: DEBEZIUM,
  syncs: DEBEZIUM_SYNCS,
  async open(): Promise<OpenSide> {
    const { orders, connect, processes, ends, close } = await startReadingDebezium();
    let written = 0;
    return {
      processes: { ...processes, PostgreSQL: orders.server.pid },
      async round() {
        await whileHeld(connect.pid, () => orders.insert(AHEAD + WAITING));
        const begun = await ends.until(written + AHEAD);
        written += AHEAD + WAITING;
        const ended = await ends.until(written);
        return { done: WAITING, seconds: (ended - begun) / 1000 };
      },
      async verify() {
        const records = await ends.count();
        return records === written ? [] : [`${written} rows were inserted, and ${records} records are on the topic`];
      },
      close,
    };
  },
};

/** The tool of PostgreSQL writes what its slot sends. The file holds the note of each row. */
const receiving: Side = {
  name: FILE,
  syncs: 'every 10 s (fsync), and then it acknowledges',
  async open(): Promise<OpenSide> {
    const orders = await createOrderDatabase();
    const folder = await temporaryFolder();
    const program = postgresProgram(await ensureCached(POSTGRES_15_RELEASE), POSTGRES_15_RELEASE, 'pg_recvlogical');
    const { database } = orders;
    await database.run('CREATE PUBLICATION bench FOR TABLE orders');
    const slot = `bench_${database.name}`;
    await database.run("SELECT pg_create_logical_replication_slot($1, 'pgoutput')", [slot]);
    const note = Buffer.from('n'.repeat(100));
    const wrong: string[] = [];
    let rounds = 0;

    async function receive(file: string, until: string): Promise<number> {
      const options = ['proto_version=1', 'publication_names=bench'].flatMap((option) => ['-o', option]);
      const place = ['-d', database.url, '--slot', slot, '--start', '--no-loop', '--endpos', until, '-f', file];
      const child = spawn(program, [...place, ...options], { stdio: ['ignore', 'ignore', 'inherit'] });
      const ended = once(child, 'exit') as Promise<[number | null]>;
      let cpu = 0;
      let isRunning = true;
      void ended.finally(() => (isRunning = false));
      while (isRunning) {
        cpu = cpuSeconds(child.pid ?? 0) || cpu;
        await Promise.race([ended, sleep(50)]);
      }
      const [code] = await ended;
      if (code !== 0) throw new Error(`pg_recvlogical ended with ${code}`);
      return cpu;
    }

    return {
      async round(): Promise<Reading> {
        await orders.insert(WAITING);
        const [row] = await database.run('SELECT pg_current_wal_flush_lsn()::text AS lsn');
        const file = join(folder.path, `round-${(rounds += 1)}`);
        const before = cpuSeconds(orders.server.pid);
        const begun = performance.now();
        const cpu = await receive(file, String(row?.['lsn']));
        const seconds = (performance.now() - begun) / 1000;
        const received = countOf(await readFile(file), note);
        if (received !== WAITING) wrong.push(`${received} of ${WAITING} rows are in the file`);
        return {
          done: WAITING,
          seconds,
          cpu: { pg_recvlogical: cpu, PostgreSQL: cpuSeconds(orders.server.pid) - before },
        };
      },
      verify: async () => wrong,
      async close() {
        await orders.close();
        await folder.remove();
      },
    };
  },
};

function countOf(bytes: Buffer, part: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(part); at >= 0; at = bytes.indexOf(part, at + part.length)) count += 1;
  return count;
}

export const waitingChanges: BenchCase = {
  title: `${WAITING.toLocaleString('en')} changes that wait`,
  counted: 'changes',
  sides: [reading, receiving, connecting],
  comparisons: [
    { side: PRODUCT, to: FILE, measure: 'rate', wanted: 'at least', floor: 0.15, goal: 0.3 },
    { side: PRODUCT, to: DEBEZIUM, measure: 'rate', wanted: 'at least', floor: 0.7, goal: 1.2 },
  ],
};
