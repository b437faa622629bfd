import { existsSync } from 'node:fs';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../../../../test/support/requirements.ts';
import { createPostgresDatabase, startPostgres, type PostgresService } from '../../src/services/index.ts';

const TIMEOUT = 300_000;

describeWith('postgres', 'PostgreSQL for tests', () => {
  let server: PostgresService;
  beforeAll(async () => {
    server = await startPostgres({ settings: { wal_sender_timeout: '5s' } });
  }, TIMEOUT);
  afterAll(async () => {
    await server?.stop();
  }, TIMEOUT);

  it('is PostgreSQL 15 with logical replication and the given settings', async () => {
    const database = await createPostgresDatabase(server.url);
    const rows = await database.run(
      "SELECT current_setting('server_version') AS version, current_setting('wal_level') AS wal, current_setting('wal_sender_timeout') AS timeout",
    );
    expect(rows).toMatchObject([{ wal: 'logical', timeout: '5s' }]);
    expect(rows[0]?.['version']).toMatch(/^15\./);
    await database.drop();
  });

  it('drops databases with their slots and roles', async () => {
    const database = await createPostgresDatabase(server.url);
    const { role, url } = await database.createRole('REPLICATION');
    expect(new URL(url).username).toBe(role);
    await database.run("SELECT pg_create_logical_replication_slot('left_behind', 'pgoutput')");
    await database.drop();
    const other = await createPostgresDatabase(server.url);
    expect(await other.run('SELECT 1 FROM pg_replication_slots')).toEqual([]);
    expect(await other.run("SELECT 1 FROM pg_roles WHERE rolname = 't' || $1", [role.slice(1)])).toEqual([]);
    await other.drop();
  });

  it(
    'keeps what it committed over kill -9',
    async () => {
      const database = await createPostgresDatabase(server.url);
      await database.run('CREATE TABLE kept (id int); INSERT INTO kept VALUES (1)');
      await server.kill();
      await server.restart();
      const client = new pg.Client(database.url);
      await client.connect();
      expect((await client.query('SELECT id FROM kept')).rows).toEqual([{ id: 1 }]);
      await client.end();
    },
    TIMEOUT,
  );

  it(
    'leaves nothing behind when it is stopped',
    async () => {
      await server.stop();
      expect(existsSync(server.dataDir)).toBe(false);
    },
    TIMEOUT,
  );
});
