import { afterEach, beforeEach, expect, it } from 'vitest';
import { describeWith } from '../../../../test/support/requirements.ts';
import { sharedServer } from '../../../../test/support/shared-servers.ts';
import { parseLsn } from '../src/reading/lsn.ts';
import { ReadingDatabase, sourcesFor } from './support/reading-database.ts';

describeWith('postgres', 'the position up to which a PostgreSQL source was read', () => {
  let database: ReadingDatabase;
  beforeEach(async () => {
    database = await ReadingDatabase.create((await sharedServer('postgres')).url);
    await database.run('CREATE TABLE kept (id int PRIMARY KEY, note text)');
  });
  afterEach(() => database.drop());

  const slot = async (): Promise<{ readonly confirmed: bigint; readonly pid: unknown }> => {
    const [row] = await database.run(
      'SELECT confirmed_flush_lsn::text AS lsn, active_pid AS pid FROM pg_replication_slots WHERE slot_name = $1',
      [database.log.position?.slot],
    );
    return { confirmed: parseLsn(String(row?.['lsn'])), pid: row?.['pid'] };
  };
  const saved = (): bigint => parseLsn(database.log.position?.lsn ?? '0/0');
  const ids = (): readonly unknown[] => database.log.changes.map(({ change }) => change.event['id']);
  const cut = (): Promise<unknown> =>
    database.run('SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots WHERE slot_name = $1', [
      database.log.position?.slot,
    ]);

  it('is acknowledged to the server once it is durable and never before', async () => {
    const reader = await database.open(['public.kept']);
    database.log.block();
    const before = saved();
    await database.run("INSERT INTO kept VALUES (1, 'a')");
    const [row] = await database.run('SELECT pg_current_wal_flush_lsn()::text AS lsn');
    // Ten reports of the position.
    await expect
      .poll(
        async () =>
          (await database.run('SELECT reply_time FROM pg_stat_replication WHERE pid = $1', [(await slot()).pid]))
            .length,
      )
      .toBe(1);
    const reports = database.log.reports.length;
    await expect.poll(() => database.log.reports.length).toBeGreaterThan(reports + 5);
    expect((await slot()).confirmed).toBeLessThanOrEqual(saved());
    expect((await slot()).confirmed).toBeLessThan(parseLsn(String(row?.['lsn'])));
    expect(saved()).toBeGreaterThanOrEqual(before);
    await cut();
    database.log.unblock();
    expect(await reader.ended).toMatchObject({ kind: 'waiting', reason: 'unreachable' });
    await database.open(['public.kept']);
    await database.run("INSERT INTO kept VALUES (2, 'b')");
    await database.log.waitForRows(2);
    expect(ids()).toEqual([1, 2]);
    await expect.poll(async () => (await slot()).confirmed === saved()).toBe(true);
  });

  it('continues within a transaction, and changes keep their ids', async () => {
    const insert = "INSERT INTO kept SELECT i, repeat('x', 1000) FROM generate_series(1, 5000) i";
    const reader = await database.open(['public.kept']);
    let batches = 0;
    database.log.beforeTake = ({ changes }) => {
      if (changes.length > 0) batches += 1;
      return batches > 2 ? Promise.reject(new Error('disk full')) : Promise.resolve();
    };
    await database.run(insert);
    expect(await reader.ended).toMatchObject({ kind: 'closed', error: { message: 'disk full' } });
    const count = database.log.changes.length;
    expect(count).toBeGreaterThan(0);
    expect(count).toBeLessThan(5000);
    expect(database.log.position?.partial?.changes).toBe(count);
    database.log.beforeTake = () => Promise.resolve();
    await database.open(['public.kept']);
    await database.log.waitForRows(5000);
    expect(ids()).toEqual(Array.from({ length: 5000 }, (_, index) => index + 1));
    const identities = database.log.changes.map(({ identity }) => identity.join());
    expect(new Set(identities).size).toBe(5000);
    const [first, last] = [database.log.changes[0], database.log.changes.at(-1)];
    expect(last?.identity.slice(0, 3)).toEqual(first?.identity.slice(0, 3));
    expect([first?.identity[3], last?.identity[3]]).toEqual(['1', '5000']);
    await expect.poll(() => database.log.position?.partial).toBeNull();
  });

  it('advances with traffic on tables that are not read, so that the server can delete WAL', async () => {
    await database.run('CREATE TABLE other (id serial PRIMARY KEY, note text)');
    await database.open(['public.kept']);
    await database.run("INSERT INTO other (note) SELECT repeat('x', 500) FROM generate_series(1, 2000)");
    const [row] = await database.run('SELECT pg_current_wal_flush_lsn()::text AS lsn');
    const written = parseLsn(String(row?.['lsn']));
    await expect.poll(async () => (await slot()).confirmed, { timeout: 10_000 }).toBeGreaterThanOrEqual(written);
    expect(saved()).toBeGreaterThanOrEqual((await slot()).confirmed);
    const before = database.log.position?.at ?? 0;
    await expect.poll(() => database.log.position?.at, { timeout: 10_000 }).toBeGreaterThan(before);
    expect(database.log.changes).toEqual([]);
  });

  it('stays behind an append that is blocked, while the server keeps the connection', async () => {
    await database.run(`ALTER DATABASE ${database.database.name} SET wal_sender_timeout = '500ms'`);
    await database.open(['public.kept'], sourcesFor({ statusMs: 60_000 }));
    database.log.block();
    await database.run("INSERT INTO kept SELECT i, repeat('x', 1000) FROM generate_series(1, 20000) i");
    const { pid } = await slot();
    const reports = database.log.reports.length;
    // A report every 150 ms: three times the timeout of the server.
    await expect.poll(() => database.log.reports.length, { timeout: 10_000 }).toBeGreaterThan(reports + 10);
    expect((await slot()).pid).toBe(pid);
    database.log.unblock();
    await database.log.waitForRows(20_000);
    expect((await slot()).pid).toBe(pid);
    expect(ids()).toEqual(Array.from({ length: 20_000 }, (_, index) => index + 1));
  });

  it('is kept if the server stops responding: the reader ends and is opened again', async () => {
    const reader = await database.open(['public.kept'], sourcesFor({ silenceMs: 300, statusMs: 100 }));
    const { pid } = await slot();
    await database.run("INSERT INTO kept VALUES (1, 'a')");
    await database.log.waitForRows(1);
    process.kill(Number(pid), 'SIGSTOP');
    try {
      expect(await reader.ended).toMatchObject({
        kind: 'waiting',
        reason: 'unreachable',
        detail: 'The server was silent for 0.3 s.',
      });
    } finally {
      process.kill(Number(pid), 'SIGCONT');
    }
    await database.open(['public.kept']);
    await database.run("INSERT INTO kept VALUES (2, 'b')");
    await database.log.waitForRows(2);
    expect(ids()).toEqual([1, 2]);
  });

  it('is not beyond the last stored change when the reader is closed', async () => {
    const reader = await database.open(['public.kept']);
    database.log.block();
    await database.run("INSERT INTO kept VALUES (1, 'a')");
    await expect.poll(async () => (await database.run('SELECT 1 FROM kept')).length).toBe(1);
    const closed = reader.close();
    database.log.unblock();
    await closed;
    expect(await reader.ended).toEqual({ kind: 'closed', error: null });
    database.log.beforeTake = () => Promise.resolve();
    await database.open(['public.kept']);
    await database.log.waitForRows(1);
    expect(ids()).toEqual([1]);
  });
});
