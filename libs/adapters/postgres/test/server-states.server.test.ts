import { writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { join } from 'node:path';
import { ok } from '@carillon/kernel';
import type { AddressGuard } from '@carillon/ports';
import { selfSigned } from '@carillon/testing';
import { startPostgres, type PostgresService } from '@carillon/testing/services';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { describeWith } from '../../../../test/support/requirements.ts';
import { sharedServer } from '../../../../test/support/shared-servers.ts';
import { parseLsn } from '../src/reading/lsn.ts';
import { ReadingDatabase, sourcesFor, targetOf } from './support/reading-database.ts';

const PUBLIC: AddressGuard = {
  resolve: () => Promise.resolve(ok([{ address: '127.0.0.1', family: 4, listed: false, isPublic: true }])),
};

describeWith('postgres', 'a PostgreSQL source on a server with few replication slots and little WAL', () => {
  const certificate = selfSigned('db.test');
  let server: PostgresService;
  let database: ReadingDatabase;
  beforeAll(async () => {
    server = await startPostgres({
      security: certificate,
      settings: {
        max_replication_slots: 2,
        max_slot_wal_keep_size: '16MB',
        min_wal_size: '32MB',
        max_wal_size: '32MB',
      },
    });
  });
  afterAll(() => server?.stop());
  beforeEach(async () => {
    database = await ReadingDatabase.create(server.url);
    await database.run('CREATE TABLE kept (id int PRIMARY KEY, note text)');
  });
  afterEach(() => database.drop());

  const url = (parts: { readonly host?: string; readonly sslmode?: string }): string => {
    const made = new URL(database.database.url);
    made.hostname = parts.host ?? made.hostname;
    if (parts.sslmode !== undefined) made.searchParams.set('sslmode', parts.sslmode);
    return made.href;
  };

  it('is read over TLS with the user’s own certificate authority, which is required at public addresses', async () => {
    const check = async (address: string, ca: string | null, guard?: AddressGuard): Promise<unknown> => {
      const { server: version, problems } = await sourcesFor({}, guard).check(targetOf(address, ca), []);
      return problems[0]?.reason === undefined ? version?.slice(0, 13) : `${problems[0].reason}: ${problems[0].detail}`;
    };
    const { cert } = certificate;
    const other = selfSigned('db.test').cert;
    expect(await check(url({ host: 'db.test' }), cert)).toBe('PostgreSQL 15');
    expect(await check(url({ host: 'db.test' }), cert, PUBLIC)).toBe('PostgreSQL 15');
    expect(await check(url({ host: 'db.test', sslmode: 'prefer' }), null)).toBe('PostgreSQL 15');
    expect(await check(url({ host: 'db.test', sslmode: 'verify-full' }), null)).toMatch(/^refused_certificate: /);
    expect(await check(url({ host: 'db.test' }), null, PUBLIC)).toMatch(/^refused_certificate: /);
    expect(await check(url({ host: 'db.test' }), other)).toMatch(/^refused_certificate: /);
    expect(await check(url({ host: 'elsewhere.test' }), cert)).toBe(
      'refused_certificate: The certificate of the server is for another host.',
    );
    expect(await check(url({ host: 'db.test', sslmode: 'disable' }), cert, PUBLIC)).toMatch(/^wrong_url: `sslmode/);
    const plain = new URL((await sharedServer('postgres')).url);
    plain.searchParams.set('sslmode', 'require');
    expect(await check(plain.href, null)).toBe('refused_certificate: The server offers no TLS.');

    await database.open(['public.kept'], sourcesFor({}, PUBLIC), targetOf(url({ host: 'db.test' }), cert));
    const encrypted = await database.run(
      "SELECT bool_and(ssl) AS ssl FROM pg_stat_ssl s JOIN pg_stat_activity a USING (pid) WHERE a.application_name = 'carillon'",
    );
    expect(encrypted).toEqual([{ ssl: true }]);
  });

  it('reports that no slot is free when all are taken', async () => {
    for (const name of ['one', 'two'])
      await database.run("SELECT pg_create_logical_replication_slot($1, 'pgoutput')", [name]);
    const fix = 'ALTER SYSTEM SET max_replication_slots = 20; -- then restart PostgreSQL';
    expect((await sourcesFor().check(database.target, [])).problems).toEqual([
      { reason: 'no_slot_free', detail: null, fix },
    ]);
    expect(await database.start(['public.kept']).ended).toMatchObject({ kind: 'waiting', reason: 'no_slot_free', fix });
  });

  it('stops when the server deleted the WAL of its slot, and a reset creates a new slot', async () => {
    const reader = await database.open(['public.kept']);
    await reader.close();
    for (let segment = 0; segment < 4; segment += 1) {
      await database.run("INSERT INTO kept SELECT max(id) + 1, 'x' FROM (SELECT id FROM kept UNION SELECT 0) k");
      await database.run('SELECT pg_switch_wal()');
    }
    await database.run('CHECKPOINT');
    expect(await database.start(['public.kept']).ended).toMatchObject({ kind: 'stopped', reason: 'slot_lost' });
    const { position } = database.log;
    if (position === null) throw new Error('no position was saved');
    const made = await sourcesFor().reset(database.target, ['public.kept'], position, 'slot_lost');
    if (!made.ok) throw new Error(made.error.reason);
    expect(parseLsn(made.value.lsn)).toBeGreaterThan(parseLsn(position.lsn));
    database.log.position = made.value;
    await database.open(['public.kept']);
    await database.run("INSERT INTO kept VALUES (100, 'read')");
    await database.log.waitForRows(1);
    expect(database.log.rows).toEqual([{ id: 100, note: 'read' }]);
  });

  it('may be a standby until it is promoted; on its new timeline reading continues without a gap', async () => {
    const reader = await database.open(['public.kept']);
    await database.run("INSERT INTO kept VALUES (1, 'before')");
    await database.log.waitForRows(1);
    await reader.close();
    await server.kill('SIGINT');
    await writeFile(join(server.dataDir, 'postgres/data/standby.signal'), '');
    await server.restart();
    expect((await sourcesFor().check(database.target, [])).problems.map(({ reason }) => reason)).toContain('standby');
    expect(await database.start(['public.kept']).ended).toEqual({
      kind: 'waiting',
      reason: 'standby',
      detail: null,
      fix: null,
    });
    await database.run('SELECT pg_promote()');
    await database.run("INSERT INTO kept VALUES (2, 'after')");
    await database.open(['public.kept']);
    await database.log.waitForRows(2);
    expect(database.log.rows).toEqual([
      { id: 1, note: 'before' },
      { id: 2, note: 'after' },
    ]);
    expect(database.log.position?.timeline).toBe(2);
  });

  it('waits as not_logical with another wal_level, and names the setting to change', async () => {
    await database.run('ALTER SYSTEM SET wal_level = replica');
    await server.restart();
    const fix = 'ALTER SYSTEM SET wal_level = logical; -- then restart PostgreSQL';
    const { problems, warnings } = await sourcesFor().check(database.target, []);
    expect(problems).toEqual([{ reason: 'not_logical', detail: null, fix }]);
    expect(warnings).toEqual([]);
    expect(await database.start(['public.kept']).ended).toMatchObject({ kind: 'waiting', reason: 'not_logical', fix });
    await database.run('ALTER SYSTEM RESET wal_level');
    await server.restart();
  });
});

describeWith('postgres', 'a PostgreSQL source on a server that cannot replicate', () => {
  const servers: Server[] = [];
  afterEach(() => servers.splice(0).forEach((server) => server.close()));

  /** A server that refuses TLS and then answers the startup message with an error, as PgBouncer does (src/client.c). */
  async function scripted(code: string, message: string): Promise<string> {
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.on('data', (data) => {
        if (data.length === 8) return void socket.write('N');
        const fields = `SFATAL\0C${code}\0M${message}\0\0`;
        const head = Buffer.alloc(5);
        head.write('E');
        head.writeInt32BE(4 + Buffer.byteLength(fields), 1);
        socket.end(Buffer.concat([head, Buffer.from(fields)]));
      });
    });
    servers.push(server);
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    return `postgres://me:canary@127.0.0.1:${(server.address() as AddressInfo).port}/d`;
  }

  it.each([
    ['pooler', '08P01', 'unsupported startup parameter: replication'],
    ['pooler', '08P01', 'unsupported startup parameter in options: timezone'],
    ['unreachable', '57P03', 'the database system is starting up'],
    ['no_slot_free', '53300', 'sorry, too many clients already'],
    ['refused_login', '28000', 'no pg_hba.conf entry for host "x", user "me", database "d", no encryption'],
    ['unreachable', 'XX000', 'canary'],
  ])('reports %s after %s %s', async (reason, code, message) => {
    const { server, problems } = await sourcesFor().check(targetOf(await scripted(code, message)), []);
    expect(server).toBeNull();
    expect(problems).toMatchObject([{ reason }]);
    expect(JSON.stringify(problems)).not.toContain('canary');
  });

  it('reports unreachable if nothing listens, or if another kind of server does', async () => {
    const other = createServer((socket) => socket.on('error', () => undefined).end('HTTP/1.1 400 Bad Request'));
    servers.push(other);
    await new Promise<void>((listening) => other.listen(0, '127.0.0.1', listening));
    const { port } = other.address() as AddressInfo;
    for (const place of [`127.0.0.1:${port}`, '127.0.0.1:1']) {
      const { problems } = await sourcesFor().check(targetOf(`postgres://me:canary@${place}/d`), []);
      expect(problems).toMatchObject([{ reason: 'unreachable' }]);
    }
  });
});
