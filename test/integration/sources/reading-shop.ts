import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEmbedded } from '@carillon/adapter-embedded';
import { createPostgresSources } from '@carillon/adapter-postgres';
import { readChange } from '@carillon/domain/changes';
import type { EngineRole } from '@carillon/engine';
import { ok } from '@carillon/kernel';
import type { AddressGuard, ChangeSources, SourceStore, StoredSource } from '@carillon/ports';
import { COLLECTIONS, createSourceStore, createStores } from '@carillon/stores';
import { integration, stream, type Wish } from '@carillon/testing/given';
import { createPostgresDatabase, type PostgresDatabase } from '@carillon/testing/services';
import { Topology, untilFound } from '@carillon/testing/topology';
import { startEngineOn } from '../../../apps/engine/test/engine-role.ts';

const LOOPBACK: AddressGuard = {
  resolve: async () => ok([{ address: '127.0.0.1', family: 4, listed: true, isPublic: false }]),
};
export const REF = { workspace: 'shop', integration: 'shop-db' };
const TABLE = 'CREATE TABLE orders (id bigint PRIMARY KEY, status text); ALTER TABLE orders REPLICA IDENTITY FULL';

export type ShopOptions = {
  /** Changes how the engine writes the store. */
  readonly store?: (store: SourceStore) => SourceStore;
};

/** A database with a table of orders, and an engine on a data folder that reads it. */
export class ReadingShop {
  readonly database: PostgresDatabase;
  readonly folder: string;
  readonly sources: ChangeSources = createPostgresSources({
    guard: LOOPBACK,
    timing: { statusMs: 100, idleMs: 200, reportMs: 150 },
  });
  #running: { readonly topology: Topology; readonly engine: EngineRole; backup(file: string): Promise<void> } | null =
    null;
  #dataDir: string;

  private constructor(database: PostgresDatabase, folder: string) {
    this.database = database;
    this.folder = folder;
    this.#dataDir = join(folder, 'data');
  }

  static async create(server: string): Promise<ReadingShop> {
    const database = await createPostgresDatabase(server);
    await database.run(TABLE);
    return new ReadingShop(database, await mkdtemp(join(tmpdir(), 'carillon-sources-')));
  }

  get topology(): Topology {
    return this.#now.topology;
  }

  get #now() {
    if (this.#running === null) throw new Error('the shop is not open');
    return this.#running;
  }

  /** Opens the data folder and starts an engine on it. */
  async open({ store = (same) => same }: ShopOptions = {}): Promise<void> {
    let backup: (file: string) => Promise<void> = async () => undefined;
    const topology = new Topology({
      secrets: { SHOP_DB: this.database.url },
      async backing(clock) {
        const data = await openEmbedded({ dataDir: dataDir, clock, partitions: 2, collections: COLLECTIONS });
        await data.configurationStore.identity({ logId: data.log.logId, keyFingerprint: 'finger' });
        backup = (file) => data.backup(file);
        const sources = store(createSourceStore(data.documents, data.writeWithRecords));
        return { data: { ...data, ...createStores(data.documents), sources }, close: () => data.close() };
      },
    });
    const dataDir = this.#dataDir;
    await topology.start();
    const engine = await startEngineOn(topology, {
      changeSources: async () => this.sources,
      topicSources: () => Promise.reject(new Error('no topics are read here')),
      avroSchemas: () => Promise.reject(new Error('no schemas are read here')),
      aloneOnStore: true,
    });
    this.#running = { topology, engine, backup: (file) => backup(file) };
  }

  /** From now on the shop has another data folder. */
  use(dataDir: string): void {
    this.#dataDir = dataDir;
  }

  get dataDir(): string {
    return this.#dataDir;
  }

  publish(...more: readonly Wish[]): Promise<number> {
    return this.topology.publish(
      integration('shop-db', { kind: 'postgres', url: { secret: 'SHOP_DB' } }),
      stream('orders', { from: { integration: 'shop-db', tables: { 'public.orders': 'event.id' } } }),
      ...more,
    );
  }

  backup(file: string): Promise<void> {
    return this.#now.backup(file);
  }

  stored(): Promise<StoredSource | null> {
    return this.topology.data.sources.load(REF);
  }

  untilStored(what: string, fits: (source: StoredSource) => boolean): Promise<StoredSource> {
    return untilFound(what, async () => {
      const source = await this.stored();
      return source !== null && fits(source) ? source : undefined;
    });
  }

  untilState(state: string, reason: string | null = null): Promise<StoredSource> {
    return this.untilStored(
      `${state} ${reason}`,
      (source) => source.state.kind === state && (reason === null || reasonOf(source) === reason),
    );
  }

  /** Changes on the log, each as operation, row and row before. */
  async changes(): Promise<readonly (readonly unknown[])[]> {
    const records = await this.topology.records('carillon.events');
    return records
      .filter(({ headers }) => headers['shape'] === 'change')
      .map(({ value }) => {
        const change = readChange(value);
        if (!change.ok) throw new Error(change.error.detail);
        const { op, event, previous } = change.value;
        return [op, event, previous];
      });
  }

  untilChanges(count: number): Promise<readonly (readonly unknown[])[]> {
    return untilFound(`${count} changes`, async () => {
      const changes = await this.changes();
      return changes.length >= count ? changes : undefined;
    });
  }

  async slots(): Promise<number> {
    const rows = await this.database.run('SELECT 1 FROM pg_replication_slots WHERE database = current_database()');
    return rows.length;
  }

  async close(): Promise<void> {
    await this.#running?.engine.close();
    await this.#running?.topology.close();
    this.#running = null;
  }

  async drop(): Promise<void> {
    await this.close();
    await this.database.drop();
    await rm(this.folder, { recursive: true, force: true });
  }
}

const reasonOf = ({ state }: StoredSource): string | null => ('reason' in state ? state.reason : null);
