import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { openEmbedded, type Embedded } from '@carillon/adapter-embedded';
import { systemClock } from '@carillon/adapter-system';
import { cli, launchProduct, startProduct } from '@carillon/testing';
import { isEvaluated } from '../evaluate-again.ts';
import { killableReading, KillOrders, READING_STEPS, type ReadingStep } from '../killed-reading.ts';

/** Where a life ends: at a step of the reader, from outside while the product runs, or from outside while it starts. */
const AIMS = [...READING_STEPS, 'running', 'starting'] as const;
/** Few batches are read between two kills. */
const MAX_NTH_BATCH = 4;
/** Time to reach the step of a kill. Without enough changes the product does not reach it. */
const AIMED_MS = 15_000;

export type KilledReaderOptions = {
  /** Everything that a test writes is below it. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
};

/** The embedded product, killed again and again while it reads a source. */
export class KilledReader {
  readonly #options: KilledReaderOptions;
  readonly #orders: KillOrders;
  readonly #killable: Readonly<Record<string, string>>;
  /** Kills by step. */
  readonly kills: Record<ReadingStep | 'outside', number> = {
    before: 0,
    during: 0,
    appended: 0,
    saved: 0,
    acknowledged: 0,
    outside: 0,
  };

  constructor(options: KilledReaderOptions) {
    this.#options = options;
    this.#orders = new KillOrders(join(options.folder, 'kill-order'));
    this.#killable = { ...options.env, ...killableReading(this.#orders.file) };
  }

  get dataDir(): string {
    return join(this.#options.folder, 'data');
  }

  /** Number of kills so far. */
  get count(): number {
    return Object.values(this.kills).reduce((sum, count) => sum + count, 0);
  }

  /** Applies a configuration and runs the product until it reads. */
  async begin(files: Readonly<Record<string, string>>, untilRead: () => Promise<unknown>): Promise<void> {
    const product = await startProduct({ dataDir: this.dataDir, env: this.#options.env });
    const folder = join(this.#options.folder, 'configuration');
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), text);
    }
    const applied = await cli(['apply', '-f', folder], { dataDir: this.dataDir });
    if (applied.code !== 0) throw new Error(applied.stderr);
    await untilRead();
    await product.kill('SIGTERM');
  }

  /** Starts the product and kills it, with each call at another step. */
  async killOnce(): Promise<void> {
    const aim = AIMS[this.count % AIMS.length] ?? 'starting';
    const isAimed = aim !== 'running' && aim !== 'starting';
    if (isAimed) this.#orders.give({ step: aim, nth: 1 + Math.floor(Math.random() * MAX_NTH_BATCH) });
    const product = launchProduct({ dataDir: this.dataDir, env: this.#killable });
    if (aim === 'starting') await Promise.race([product.exited, pause(Math.random() * 4_000)]);
    else {
      await Promise.race([product.ready.catch(() => undefined), product.exited]);
      await Promise.race([product.exited, pause(isAimed ? AIMED_MS : Math.random() * 6_000)]);
    }
    await product.kill('SIGKILL');
    const isDone = this.#orders.takeBack() !== null;
    this.kills[isAimed && isDone ? aim : 'outside'] += 1;
  }

  /** Runs the product until everything is read and evaluated, then opens its data. */
  async openEvaluated(untilRead: () => Promise<unknown>): Promise<Embedded> {
    const product = await startProduct({ dataDir: this.dataDir, env: this.#options.env });
    await untilRead();
    await product.kill('SIGTERM');
    const data = await openEmbedded({ dataDir: this.dataDir, clock: systemClock });
    if (await isEvaluated(data.log, data.checkpoints)) return data;
    await data.close();
    return this.openEvaluated(untilRead);
  }
}
