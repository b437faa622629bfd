import type { SourceReader } from '@carillon/ports';
import { startPostgres, type PostgresService } from '@carillon/testing/services';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../../../../test/support/requirements.ts';
import { ReadingDatabase, sourcesFor } from './support/reading-database.ts';

const MINUTES = 60_000;
/** `CARILLON_KILLS=60` is the whole proof. */
const KILLS = Number(process.env['CARILLON_KILLS'] ?? 20);
const WRITERS = 4;

describeWith('postgres', 'reading a PostgreSQL server that is killed', () => {
  let server: PostgresService;
  let database: ReadingDatabase;
  beforeAll(async () => {
    server = await startPostgres({ settings: { fsync: 'on' } });
    database = await ReadingDatabase.create(server.url);
  }, MINUTES);
  afterAll(() => server?.stop());

  it(
    'loses no committed change, repeats none, and keeps the order of each row',
    async () => {
      await database.run('CREATE TABLE counters (id int PRIMARY KEY, n int NOT NULL)');
      await database.run('ALTER TABLE counters REPLICA IDENTITY FULL');
      await database.run(`INSERT INTO counters SELECT i, 0 FROM generate_series(1, ${WRITERS * 10}) i`);
      await database.open(['public.counters']);
      let isWriting = true;
      let isReading = true;
      const writers = Array.from({ length: WRITERS }, (_, writer) =>
        write(database.database.url, writer, () => isWriting),
      );
      const reading = keepReading(database, () => isReading);
      for (let kill = 0; kill < KILLS; kill += 1) {
        const before = database.log.batches.length;
        await expect.poll(() => database.log.batches.length, { timeout: MINUTES }).toBeGreaterThan(before + 3);
        await server.kill();
        await server.restart();
      }
      isWriting = false;
      await Promise.all(writers);
      const rows = (await database.run('SELECT id, n FROM counters')) as readonly { id: number; n: number }[];
      const total = rows.reduce((sum, { n }) => sum + n, 0);
      await expect.poll(() => database.log.changes.length, { timeout: MINUTES }).toBeGreaterThanOrEqual(total);
      isReading = false;
      await Promise.all(database.readers.map((reader) => reader.close()));
      await reading;
      // Each update adds one, so each row's log is 1, 2, 3 … up to what the table holds.
      const seen = new Map<number, number>();
      for (const { change } of database.log.changes) {
        const { id, n } = change.event as { id: number; n: number };
        expect(n, `row ${id}`).toBe((seen.get(id) ?? 0) + 1);
        expect(change.previous).toMatchObject({ id, n: n - 1 });
        seen.set(id, n);
      }
      for (const { id, n } of rows) expect(seen.get(id) ?? 0).toBe(n);
      console.info(`${database.log.changes.length} changes over ${KILLS} kills`);
    },
    20 * MINUTES,
  );
});

/** Updates its own ten rows in transactions of one to ten updates; a lost connection is made again. */
async function write(url: string, writer: number, isWriting: () => boolean): Promise<void> {
  while (isWriting()) {
    const client = new pg.Client(url);
    client.on('error', () => undefined);
    try {
      await client.connect();
      for (let turn = 0; isWriting(); turn += 1) {
        const first = writer * 10 + 1;
        await client.query('UPDATE counters SET n = n + 1 WHERE id BETWEEN $1 AND $2', [first, first + (turn % 10)]);
      }
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 50));
    } finally {
      await client.end().catch(() => undefined);
    }
  }
}

/** Opens the reader again as the engine does, after each end that is no stop. */
async function keepReading(database: ReadingDatabase, isReading: () => boolean): Promise<void> {
  let reader: SourceReader | undefined = database.readers.at(-1);
  while (reader !== undefined) {
    const end = await reader.ended;
    if (!isReading()) return;
    if (end.kind !== 'waiting') throw new Error(`the reader ended: ${JSON.stringify(end)}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
    reader = database.start(['public.counters'], sourcesFor());
  }
}

// PostgreSQL 18 comes with FerretDB.
describeWith('mongodb', 'reading PostgreSQL 18', () => {
  let server: PostgresService;
  let database: ReadingDatabase;
  beforeAll(async () => {
    server = await startPostgres({ version: 18 });
    database = await ReadingDatabase.create(server.url);
  }, MINUTES);
  afterAll(() => server?.stop());

  it(
    'uses a replication slot that survives a failover to a standby',
    async () => {
      await database.run('CREATE TABLE kept (id int PRIMARY KEY, twice int GENERATED ALWAYS AS (id * 2) STORED)');
      await database.open(['public.kept']);
      expect(await database.run('SELECT failover FROM pg_replication_slots')).toEqual([{ failover: true }]);
      await database.run('INSERT INTO kept VALUES (1)');
      await database.log.waitForRows(1);
      expect(database.log.rows).toEqual([{ id: 1 }]);
      await database.drop();
    },
    MINUTES,
  );
});
