import type { SourceEnd, SourceReader } from '@carillon/ports';
import { startPostgres, type PostgresService } from '@carillon/testing/services';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { describeWith } from '../../../../test/support/requirements.ts';
import { createPostgresSources } from '../src/index.ts';
import { ACCESS, readable, ReadingDatabase, sourcesFor } from './support/reading-database.ts';

const MINUTES = 60_000;
const MIB = 2 ** 20;
const MISSED_MIB = Number(process.env['CARILLON_MISSED_MIB'] ?? 1024);
/** Ten minutes of a database that writes 0.5 MiB a second, in three. */
const OTHER_MIB = Number(process.env['CARILLON_OTHER_MIB'] ?? 300);
const OTHER_MINUTES = Number(process.env['CARILLON_OTHER_MINUTES'] ?? 3);
const MAX_HELD_MIB = 64;

describeWith('postgres', 'a PostgreSQL source that is written to while it is read', () => {
  let server: PostgresService;
  let database: ReadingDatabase;
  beforeAll(async () => {
    server = await startPostgres();
  }, MINUTES);
  afterAll(() => server?.stop());
  beforeEach(async () => {
    database = await ReadingDatabase.create(server.url);
  });
  afterEach(() => database.drop());

  async function walSince(lsn: unknown): Promise<number> {
    const [row] = await database.run('SELECT (pg_current_wal_lsn() - $1::pg_lsn)::float8 AS bytes', [lsn]);
    return Number(row?.['bytes']);
  }
  async function walEnd(): Promise<unknown> {
    const [row] = await database.run('SELECT pg_current_wal_lsn()::text AS lsn');
    return row?.['lsn'];
  }
  const stopReading = (): Promise<unknown> => Promise.all(database.readers.map((reader) => reader.close()));
  const problemOf = (table: string): string | null | undefined => {
    const reading = database.log.reports.at(-1)?.tables.find((one) => one.table === table);
    return reading && (reading.problem?.reason ?? null);
  };

  it(
    `is read completely after ${MISSED_MIB} MiB of WAL were written while the reader was stopped`,
    async () => {
      await database.run('CREATE TABLE wide (id int PRIMARY KEY, note text)');
      // Not compressed, so that a row is as large in the WAL.
      await database.run('ALTER TABLE wide ALTER note SET STORAGE EXTERNAL');
      await database.open(['public.wide']);
      await stopReading();
      const begin = await walEnd();
      let rows = 0;
      while ((await walSince(begin)) < MISSED_MIB * MIB) {
        await database.run("INSERT INTO wide SELECT $1 + i, repeat('x', 8000) FROM generate_series(1, 1000) i", [rows]);
        rows += 1000;
      }
      let last = 0;
      const reader: SourceReader = sourcesFor().open(database.target, ['public.wide'], database.log.position, {
        take({ changes }) {
          for (const { change } of changes.map(readable)) {
            if (change.event['id'] !== (last += 1)) throw new Error(`row ${last} is missing`);
          }
          return Promise.resolve();
        },
        mostChanges: () => 300,
        report: () => undefined,
      });
      database.readers.push(reader);
      let end: SourceEnd | undefined;
      void reader.ended.then((ended) => (end = ended));
      const isOver = (): boolean => end !== undefined || last === rows;
      await expect.poll(isOver, { timeout: 10 * MINUTES, interval: 100 }).toBe(true);
      expect(end).toBe(undefined);
      expect(last).toBe(rows);
      console.info(`${rows} rows`);
    },
    15 * MINUTES,
  );

  it.each([
    ['is read', true],
    ['is not read', false],
  ])(
    'shows no_table for a table dropped while the reader %s, loses none of its earlier changes, and reads the others',
    async (_when, isRead) => {
      await database.run('CREATE TABLE dropped (id int PRIMARY KEY); CREATE TABLE kept (id int PRIMARY KEY)');
      const tables = ['public.dropped', 'public.kept'];
      await database.open(tables);
      if (!isRead) await stopReading();
      await database.run('INSERT INTO dropped VALUES (1)');
      await database.run('DROP TABLE dropped');
      await database.run('INSERT INTO kept VALUES (2)');
      if (!isRead) await database.open(tables);
      await database.log.waitForRows(2);
      await expect.poll(() => problemOf('public.dropped'), { timeout: MINUTES }).toBe('no_table');
      expect(problemOf('public.kept')).toBe(null);
      await database.run('INSERT INTO kept VALUES (3)');
      await database.log.waitForRows(3);
      expect(database.log.rows).toEqual([{ id: 1 }, { id: 2 }, { id: 3 }]);
    },
    2 * MINUTES,
  );

  it.each([
    ['is read', true],
    ['is not read', false],
  ])(
    'gives each row with the columns of its time if columns are added, renamed and dropped while the reader %s',
    async (_when, isRead) => {
      await database.run('CREATE TABLE kept (id int PRIMARY KEY, note text)');
      await database.run('ALTER TABLE kept REPLICA IDENTITY FULL');
      await database.open(['public.kept']);
      if (!isRead) await stopReading();
      await database.run("INSERT INTO kept VALUES (1, 'a')");
      await database.run('ALTER TABLE kept ADD COLUMN total int');
      await database.run("INSERT INTO kept VALUES (2, 'b', 5)");
      await database.run('ALTER TABLE kept RENAME COLUMN note TO remark');
      await database.run("UPDATE kept SET remark = 'c' WHERE id = 2");
      await database.run('ALTER TABLE kept DROP COLUMN total');
      await database.run("INSERT INTO kept VALUES (3, 'd')");
      if (!isRead) await database.open(['public.kept']);
      await database.log.waitForRows(4);
      expect(database.log.rows).toEqual([
        { id: 1, note: 'a' },
        { id: 2, note: 'b', total: 5 },
        { id: 2, remark: 'c', total: 5 },
        { id: 3, remark: 'd' },
      ]);
      expect({ ...database.log.changes[2]?.change.previous }).toEqual({ id: 2, remark: 'b', total: 5 });
    },
    2 * MINUTES,
  );

  it(
    `retains less than ${MAX_HELD_MIB} MiB of WAL while ${OTHER_MIB} MiB are written to other tables`,
    async () => {
      await database.run('CREATE TABLE quiet (id int PRIMARY KEY); CREATE TABLE other (id serial, note text)');
      await database.run('ALTER TABLE other ALTER note SET STORAGE EXTERNAL');
      // With the times of the product.
      await database.open(['public.quiet'], createPostgresSources({ guard: ACCESS.guard }));
      const lsn = await walEnd();
      const began = performance.now();
      let largest = 0;
      let written = 0;
      while (written < OTHER_MIB * MIB) {
        const share = (performance.now() - began) / (OTHER_MINUTES * MINUTES);
        if (written < share * OTHER_MIB * MIB) {
          await database.run("INSERT INTO other (note) SELECT repeat('x', 8000) FROM generate_series(1, 20)");
        } else await database.run('SELECT pg_sleep(0.05)');
        written = await walSince(lsn);
        const [slot] = await database.run(
          `SELECT (pg_current_wal_lsn() - restart_lsn)::float8 AS held FROM pg_replication_slots
           WHERE database = current_database()`,
        );
        largest = Math.max(largest, Number(slot?.['held']));
      }
      console.info(`${Math.round(written / MIB)} MiB written, at most ${Math.round(largest / MIB)} MiB held`);
      expect(largest).toBeLessThan(MAX_HELD_MIB * MIB);
      await database.run('INSERT INTO quiet VALUES (1)');
      await database.log.waitForRows(1);
    },
    (OTHER_MINUTES + 5) * MINUTES,
  );
});
