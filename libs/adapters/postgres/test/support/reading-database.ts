import type { ReadChange, PostgresPosition } from '@carillon/domain/changes';
import { ok } from '@carillon/kernel';
import type {
  AddressGuard,
  ChangeSources,
  ReadBatch,
  SourceEnd,
  SourceReader,
  SourceReport,
  SourceTarget,
} from '@carillon/ports';
import { createPostgresDatabase, type PostgresDatabase } from '@carillon/testing/services';
import { expect } from 'vitest';
import { DEFAULT_TIMING, type Access } from '../../src/access.ts';
import { createPostgresSources, type Timing } from '../../src/index.ts';

const LOOPBACK: AddressGuard = {
  resolve: () => Promise.resolve(ok([{ address: '127.0.0.1', family: 4, listed: true, isPublic: false }])),
};

/** Times that keep tests short. */
const TIMING: Partial<Timing> = { statusMs: 100, idleMs: 200, reportMs: 150 };

/** How tests reach a database below the adapter's interface. */
export const ACCESS: Access = { guard: LOOPBACK, timing: { ...DEFAULT_TIMING, ...TIMING } };

export const sourcesFor = (timing: Partial<Timing> = {}, guard = LOOPBACK): ChangeSources =>
  createPostgresSources({ guard, timing: { ...TIMING, ...timing } });

export const targetOf = (url: string, ca: string | null = null): SourceTarget => ({
  workspace: 'shop',
  integration: 'shop-db',
  url,
  ca,
});

/** Returns a change. Throws if it could not be read. */
export function readable(read: ReadBatch['changes'][number]): ReadChange {
  if ('change' in read) return read;
  throw new Error(`change ${read.source.position} could not be read`, { cause: read.error });
}

/** A log in memory: what readers handed over, and the position that was saved with it. */
export class MemoryLog {
  readonly batches: ReadBatch[] = [];
  readonly reports: SourceReport[] = [];
  /** Changes that a batch may hold. */
  mostChanges = 300;
  position: PostgresPosition | null = null;
  /** Awaited before a batch counts as durable. */
  beforeTake: (batch: ReadBatch) => Promise<void> = () => Promise.resolve();
  #block = Promise.withResolvers<void>();

  /** Keeps batches with changes from becoming durable until `unblock`. */
  block(): void {
    this.#block = Promise.withResolvers<void>();
    this.beforeTake = ({ changes }) => (changes.length > 0 ? this.#block.promise : Promise.resolve());
  }

  unblock(): void {
    this.#block.resolve();
  }

  readonly handlers = {
    take: async (batch: ReadBatch): Promise<void> => {
      await this.beforeTake(batch);
      this.batches.push(batch);
      this.position = batch.position;
    },
    mostChanges: () => this.mostChanges,
    report: (report: SourceReport): void => void this.reports.push(report),
  };

  get changes(): readonly ReadChange[] {
    return this.batches.flatMap(({ changes }) => changes.map(readable));
  }

  /** The rows after each change. */
  get rows(): readonly unknown[] {
    return this.changes.map(({ change }) => ({ ...change.event }));
  }

  async waitForRows(count: number): Promise<void> {
    await expect.poll(() => this.changes.length, { timeout: 20_000 }).toBeGreaterThanOrEqual(count);
  }
}

/** A database with a log that reads it. Readers that are open are closed when it is dropped. */
export class ReadingDatabase {
  readonly database: PostgresDatabase;
  readonly log = new MemoryLog();
  readonly readers: SourceReader[] = [];

  constructor(database: PostgresDatabase) {
    this.database = database;
  }

  static async create(server: string): Promise<ReadingDatabase> {
    return new ReadingDatabase(await createPostgresDatabase(server));
  }

  get target(): SourceTarget {
    return targetOf(this.database.url);
  }

  run(sql: string, values?: readonly unknown[]): Promise<readonly Readonly<Record<string, unknown>>[]> {
    return this.database.run(sql, values);
  }

  /** Reads from the position of the log on. Resolves when the server streams, which the first report shows. */
  async open(tables: readonly string[], sources = sourcesFor(), target = this.target): Promise<SourceReader> {
    const reports = this.log.reports.length;
    const reader = this.start(tables, sources, target);
    let end: SourceEnd | undefined;
    void reader.ended.then((ended) => (end = ended));
    await expect
      .poll(
        () => {
          if (end)
            throw new Error(`the reader ended: ${JSON.stringify(end)}`, { cause: 'error' in end ? end.error : end });
          return this.log.reports.length;
        },
        { timeout: 20_000 },
      )
      .toBeGreaterThan(reports);
    return reader;
  }

  start(tables: readonly string[], sources = sourcesFor(), target = this.target): SourceReader {
    const reader = sources.open(target, tables, this.log.position, this.log.handlers);
    this.readers.push(reader);
    return reader;
  }

  async drop(): Promise<void> {
    this.log.unblock();
    await Promise.all(this.readers.map((reader) => reader.close()));
    await this.database.drop();
  }
}
