import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { PostgresPosition } from '@carillon/domain/changes';
import { startPostgres, type PostgresService } from '@carillon/testing/services';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../../../../test/support/requirements.ts';
import { ReadingDatabase } from './support/reading-database.ts';
import type { ReadingProcessOrder, TakenBatch } from './support/reading-process.ts';

const MINUTES = 60_000;
const MIB = 2 ** 20;
const ROWS = Number(process.env['CARILLON_ROWS'] ?? 1_000_000);
/** About ten times longer than the server needs to send a batch. */
const SLOW_MS = 20;

/** A process that reads, and its log. */
class ReadingProcess {
  readonly #child: ChildProcess;
  /** Resident memory before the first change, and the most since. In bytes. */
  readonly memory = { before: 0, largest: 0 };
  readonly #log: TransactionLog;

  constructor(log: TransactionLog, order: Pick<ReadingProcessOrder, 'target' | 'takeMs'>) {
    this.#log = log;
    const whole: ReadingProcessOrder = { ...order, table: 'public.wide', from: log.position };
    this.#child = fork(join(import.meta.dirname, 'support/reading-process.ts'), [JSON.stringify(whole)]);
    this.#child.on('message', (batch: TakenBatch) => this.#take(batch));
  }

  #take({ ids, position, rss }: TakenBatch): void {
    if (ids === null) this.memory.before = rss;
    else {
      // Each id once and in order.
      expect(ids.first).toBe(this.#log.count + 1);
      this.#log.count = ids.last;
    }
    this.#log.position = position;
    this.memory.largest = Math.max(this.memory.largest, rss);
    // A process that was killed has no use for it.
    if (this.#child.connected) this.#child.send('durable', () => undefined);
  }

  /** Resolves once everything that it sent is on the log. */
  async kill(): Promise<void> {
    const closed = once(this.#child, 'close');
    this.#child.kill('SIGKILL');
    await closed;
  }
}

class TransactionLog {
  count = 0;
  position: PostgresPosition | null = null;
}

describeWith('postgres', `a transaction of ${ROWS.toLocaleString('en')} rows`, () => {
  let server: PostgresService;
  let database: ReadingDatabase;
  const reading: ReadingProcess[] = [];
  beforeAll(async () => {
    server = await startPostgres();
  }, MINUTES);
  afterAll(() => server?.stop());

  it.each([
    ['at once', 0],
    [`${SLOW_MS} ms after it came`, SLOW_MS],
  ])(
    'is read once and completely in less than 300 MiB by a process that is killed in its middle, if a batch is durable %s',
    async (_when, takeMs) => {
      database = await ReadingDatabase.create(server.url);
      await database.run('CREATE TABLE wide (id int PRIMARY KEY, note text)');
      const log = new TransactionLog();
      const start = (): ReadingProcess => {
        const process = new ReadingProcess(log, { target: database.target, takeMs });
        reading.push(process);
        return process;
      };
      const first = start();
      await expect.poll(() => log.position?.lsn ?? '0/0', { timeout: MINUTES }).not.toBe('0/0');
      await database.run(`INSERT INTO wide SELECT i, repeat('x', 200) FROM generate_series(1, ${ROWS}) i`);
      await expect.poll(() => log.count, { timeout: 5 * MINUTES, interval: 10 }).toBeGreaterThan(ROWS / 4);
      await first.kill();
      expect(log.count).toBeLessThan(ROWS);
      const second = start();
      await expect.poll(() => log.count, { timeout: 5 * MINUTES, interval: 200 }).toBe(ROWS);
      // The position of a row at the end, then of the transaction's end.
      await expect.poll(() => log.position?.partial, { timeout: MINUTES }).toBe(null);
      await second.kill();
      for (const { memory } of [first, second]) {
        console.info(`${Math.round(memory.before / MIB)} MiB before, ${Math.round(memory.largest / MIB)} MiB at most`);
        expect(memory.largest).toBeLessThan(300 * MIB);
      }
      await database.drop();
    },
    10 * MINUTES,
  );
});
