import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { openEmbedded, type Embedded } from '@carillon/adapter-embedded';
import { systemClock } from '@carillon/adapter-system';
import { cli, launchProduct, startProduct } from '@carillon/testing';
import { isEvaluated } from '../evaluate-again.ts';
import { READING_PLACES, type ReadingOrder } from '../killed-reading.ts';

export type KilledReaderOptions = {
  /** Everything that a test writes is below it. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  /** Plants the helper that kills the process where `KILL_READING` says. */
  readonly killable: Readonly<Record<string, string>>;
};

/** The embedded product, killed again and again while it reads a source. */
export class KilledReader {
  readonly #options: KilledReaderOptions;

  constructor(options: KilledReaderOptions) {
    this.#options = options;
  }

  get dataDir(): string {
    return join(this.#options.folder, 'data');
  }

  #environment(order: ReadingOrder): Readonly<Record<string, string>> {
    const { env, killable } = this.#options;
    return { ...killable, KILL_READING: JSON.stringify(order), ...env };
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

  /** One life of the product, which ends by SIGKILL. */
  async killOnce(): Promise<void> {
    const place = READING_PLACES[Math.floor(Math.random() * READING_PLACES.length)] ?? 'before';
    const nth = 1 + Math.floor(Math.random() * 20);
    const product = launchProduct({ dataDir: this.dataDir, env: this.#environment({ place, nth }) });
    await product.ready.catch(() => undefined);
    const late = new Promise((resolve) => setTimeout(resolve, 500 + Math.random() * 6_000));
    await Promise.race([product.exited, late]);
    await product.kill('SIGKILL');
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
