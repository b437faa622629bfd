import type { PostgresPosition, StoppedReason } from '@carillon/domain/changes';
import type { SourceEnd } from '@carillon/ports';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { describeWith } from '../../../../test/support/requirements.ts';
import { sharedServer } from '../../../../test/support/shared-servers.ts';
import type { Timing } from '../src/index.ts';
import { ReadingDatabase, sourcesFor, targetOf } from './support/reading-database.ts';

describeWith('postgres', 'states of a PostgreSQL source', () => {
  let database: ReadingDatabase;
  beforeEach(async () => {
    database = await ReadingDatabase.create((await sharedServer('postgres')).url);
    await database.run('CREATE TABLE kept (id int PRIMARY KEY, note text)');
  });
  afterEach(() => database.drop());

  /** Reads until a position is saved, then closes the reader. */
  async function begin(): Promise<PostgresPosition> {
    const reader = await database.open(['public.kept']);
    await reader.close();
    const { position } = database.log;
    if (position === null) throw new Error('no position was saved');
    await untilSlotIsFree();
    return position;
  }
  /** The server notices a moment later that a reader has closed its connection. */
  const untilSlotIsFree = (): Promise<unknown> =>
    expect
      .poll(() => database.run('SELECT 1 FROM pg_replication_slots WHERE database = current_database() AND active'), {
        timeout: 30_000,
      })
      .toEqual([]);
  const ended = (
    from: PostgresPosition | null,
    url = database.database.url,
    timing: Partial<Timing> = {},
  ): Promise<SourceEnd> => {
    database.log.position = from;
    return database.start(['public.kept'], sourcesFor(timing), targetOf(url)).ended;
  };
  const reset = async (from: PostgresPosition, reason: StoppedReason = 'slot_gone'): Promise<PostgresPosition> => {
    const result = await sourcesFor().reset(database.target, ['public.kept'], from, reason);
    if (!result.ok) throw new Error(result.error.reason);
    return result.value;
  };

  describe('a stopped PostgreSQL source', () => {
    it('has the reason slot_gone after the slot was dropped, until a reset creates slot and publication again', async () => {
      const position = await begin();
      await database.run('SELECT pg_drop_replication_slot($1)', [position.slot]);
      await database.run("INSERT INTO kept VALUES (1, 'missed')");
      for (let attempt = 0; attempt < 2; attempt += 1) {
        expect(await ended(position)).toEqual({ kind: 'stopped', reason: 'slot_gone', detail: null, fix: null });
      }
      database.log.position = await reset(position);
      expect(database.log.position).toMatchObject({
        slot: position.slot,
        publication: position.publication,
        partial: null,
      });
      expect(database.log.position.publicationOid).not.toBe(position.publicationOid);
      await database.open(['public.kept']);
      await database.run("INSERT INTO kept VALUES (2, 'read')");
      await database.log.waitForRows(1);
      expect(database.log.rows).toEqual([{ id: 2, note: 'read' }]);
    });

    it('has the reason publication_gone after the publication was dropped or recreated, also while it is read', async () => {
      const reader = await database.open(['public.kept']);
      const { publication = '' } = database.log.position ?? {};
      await database.run(`DROP PUBLICATION ${publication}`);
      await database.run(`CREATE PUBLICATION ${publication} FOR TABLE kept`);
      await database.run("INSERT INTO kept VALUES (1, 'a')");
      expect(await reader.ended).toMatchObject({ kind: 'stopped', reason: 'publication_gone' });
      expect(await ended(database.log.position)).toMatchObject({ kind: 'stopped', reason: 'publication_gone' });
    });

    it('has the reason slot_ahead if the slot is beyond the stored position, and a reset continues at the slot', async () => {
      const position = await begin();
      await database.open(['public.kept']);
      await database.run("INSERT INTO kept VALUES (1, 'read by the position of later')");
      await database.log.waitForRows(1);
      await database.run('SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots WHERE slot_name = $1', [
        position.slot,
      ]);
      // A backup of Carillon brings the older position back.
      const end = await ended(position);
      expect(end).toMatchObject({ kind: 'stopped', reason: 'slot_ahead' });
      const next = await reset(position);
      expect(next).toMatchObject({ publicationOid: position.publicationOid, partial: null });
      database.log.position = next;
      await database.open(['public.kept']);
      await database.run("INSERT INTO kept VALUES (2, 'next')");
      await database.log.waitForRows(2);
      expect(database.log.rows).toEqual([
        { id: 1, note: 'read by the position of later' },
        { id: 2, note: 'next' },
      ]);
    });

    it('has the reason went_back if the database was restored and its WAL has grown past the position', async () => {
      const { systemId, ...before } = await begin();
      await database.run("INSERT INTO kept VALUES (1, 'after the copy was restored')");
      const [row] = await database.run('SELECT pg_current_wal_flush_lsn()::text AS lsn');
      const lsn = String(row?.['lsn']);
      // The slot came back with the copy. The position was saved earlier, in WAL that is gone.
      expect(await ended({ systemId, ...before, lsn })).toMatchObject({ kind: 'stopped', reason: 'went_back' });
      const partial = { commitLsn: 'FFFFFF/0', changes: 1 };
      expect(await ended({ systemId, ...before, partial })).toMatchObject({ kind: 'stopped', reason: 'went_back' });
      // Read before it was saved: the slot is behind because the server forgot the acknowledgement.
      database.log.position = { systemId, ...before, lsn, at: Date.now() + 60_000 };
      await database.open(['public.kept']);
      await database.run("INSERT INTO kept VALUES (2, 'read')");
      await database.log.waitForRows(1);
      expect(database.log.rows).toEqual([{ id: 2, note: 'read' }]);
      await Promise.all(database.readers.map((reader) => reader.close()));
      // The slot looks sound now. The person who resets it was told that reading begins now.
      const made = await reset(database.log.position, 'went_back');
      expect(made.publicationOid).not.toBe(before.publicationOid);
    });

    it('has the reason other_database for another system id, and went_back for a WAL that ends or branched before the position', async () => {
      const position = await begin();
      expect(await ended({ ...position, systemId: '1' })).toMatchObject({ kind: 'stopped', reason: 'other_database' });
      expect(await ended({ ...position, lsn: 'FFFFFF/0' })).toMatchObject({ kind: 'stopped', reason: 'went_back' });
      expect(await ended({ ...position, timeline: 9 })).toMatchObject({ kind: 'stopped', reason: 'went_back' });
      expect(await reset({ ...position, systemId: '1' })).toMatchObject({
        slot: position.slot,
        publicationOid: position.publicationOid,
      });
    });
  });

  describe('a waiting PostgreSQL source', () => {
    it('has the reason publication_changed while the options of the publication omit changes, also while it is read', async () => {
      const reader = await database.open(['public.kept']);
      const { publication = '' } = database.log.position ?? {};
      const expected = {
        kind: 'waiting',
        reason: 'publication_changed',
        fix: `ALTER PUBLICATION "${publication}" SET (publish = 'insert, update, delete', publish_via_partition_root = true);`,
      };
      await database.run(`ALTER PUBLICATION ${publication} SET (publish = 'insert')`);
      expect(await reader.ended).toMatchObject(expected);
      await database.run(
        `ALTER PUBLICATION ${publication} SET (publish = 'insert, update, delete', publish_via_partition_root = false)`,
      );
      const end = await ended(database.log.position);
      expect(end).toMatchObject(expected);
      await database.run(('fix' in end && end.fix) || '');
      await database.open(['public.kept']);
      await database.run("INSERT INTO kept VALUES (1, 'read')");
      await database.log.waitForRows(1);
    });

    it('has the reason unreachable if the stream breaks and the database cannot be asked why', async () => {
      const reader = await database.open(['public.kept'], sourcesFor({ reportMs: 600_000 }));
      await database.run(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = current_database() AND application_name = 'carillon' AND backend_type = 'client backend'`,
      );
      await database.run(`DROP PUBLICATION ${database.log.position?.publication}`);
      await database.run("INSERT INTO kept VALUES (1, 'a')");
      expect(await reader.ended).toMatchObject({ kind: 'waiting', reason: 'unreachable' });
      expect(await ended(database.log.position)).toMatchObject({ kind: 'stopped', reason: 'publication_gone' });
    });

    it('has the reason refused_login for a wrong password and an unknown role, and wrong_url for an unknown database', async () => {
      const { url } = await database.database.createRole('REPLICATION');
      const wrong = new URL(url);
      wrong.password = 'canary-4711';
      const end = await ended(null, wrong.href);
      expect(end).toMatchObject({ kind: 'waiting', reason: 'refused_login' });
      expect(JSON.stringify(end)).not.toContain('canary-4711');
      wrong.username = 'nobody_of_this_name';
      expect(await ended(null, wrong.href)).toMatchObject({ reason: 'refused_login' });
      const other = new URL(database.database.url);
      other.pathname = '/no_such_database';
      expect(await ended(null, other.href)).toMatchObject({
        reason: 'wrong_url',
        detail: 'There is no database of the name in the URL.',
      });
    });

    it('has the reason may_not_replicate without the REPLICATION attribute, and shows the SQL', async () => {
      const { url, role } = await database.database.createRole();
      expect(await ended(null, url)).toEqual({
        kind: 'waiting',
        reason: 'may_not_replicate',
        detail: null,
        fix: `ALTER ROLE "${role}" REPLICATION;`,
      });
    });

    it('has the reason may_not_publish without CREATE on the database, and continues once a person has run the SQL', async () => {
      const { url } = await database.database.createRole('REPLICATION');
      const end = await ended(null, url);
      expect(end).toMatchObject({ kind: 'waiting', reason: 'may_not_publish' });
      const { publication } = database.log.position ?? {};
      const fix = 'fix' in end ? end.fix : null;
      expect(fix).toBe(
        `CREATE PUBLICATION "${publication}" FOR TABLE ONLY public.kept WITH (publish = 'insert, update, delete', publish_via_partition_root = true);`,
      );
      await database.run(fix ?? '');
      await database.open(['public.kept'], sourcesFor(), targetOf(url));
      await database.run("INSERT INTO kept VALUES (1, 'read by a role with REPLICATION only')");
      await database.log.waitForRows(1);
      expect(database.log.reports.at(-1)?.tables).toMatchObject([{ table: 'public.kept', since: null, problem: null }]);
    });

    it('has the reason making_slot while a transaction is open, and names the session of the transaction', async () => {
      const client = new pg.Client(database.database.url);
      await client.connect();
      const pid = (await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')).rows[0]?.pid;
      await client.query("BEGIN; INSERT INTO kept VALUES (1, 'before')");
      const end = await ended(null, database.database.url, { lockTimeoutMs: 300 });
      expect(end).toMatchObject({ kind: 'waiting', reason: 'making_slot' });
      const { position } = database.log;
      await client.query('COMMIT');
      await client.end();
      expect('detail' in end ? end.detail : null).toContain(`process id ${pid} of postgres, open since 20`);
      // The next attempt uses the same names.
      await database.open(['public.kept']);
      expect(database.log.position).toMatchObject({ slot: position?.slot });
      expect(await database.run('SELECT count(*)::int AS n FROM pg_publication')).toEqual([{ n: 1 }]);
    });

    it('has the reason making_slot also if the server does not answer before the transaction ends', async () => {
      const client = new pg.Client(database.database.url);
      await client.connect();
      await client.query("BEGIN; INSERT INTO kept VALUES (1, 'before')");
      const timing = { lockTimeoutMs: 60_000, answerMs: 1_000 };
      for (let attempt = 0; attempt < 2; attempt += 1) {
        expect(await ended(database.log.position, database.database.url, timing)).toMatchObject({
          kind: 'waiting',
          reason: 'making_slot',
          detail: expect.stringContaining('of postgres, open since 20') as string,
        });
      }
      await client.query('COMMIT');
      await client.end();
    });

    it('has the reason in_use while another process reads the slot', async () => {
      await database.open(['public.kept']);
      const second = database.start(['public.kept'], sourcesFor({ releaseMs: 0 }));
      expect(await second.ended).toEqual({ kind: 'waiting', reason: 'in_use', detail: null, fix: null });
      const { position } = database.log;
      expect(position).not.toBeNull();
      if (position)
        expect(await sourcesFor().drop(database.target, position)).toMatchObject({
          ok: false,
          error: { reason: 'in_use' },
        });
    });
  });

  it('are predicted by a check, which changes nothing and warns of a slot that fills the disk', async () => {
    const fine = await sourcesFor().check(database.target, []);
    expect(fine).toMatchObject({ problems: [], server: expect.stringMatching(/^PostgreSQL 15\.\d+$/) as string });
    expect(fine.warnings).toEqual([
      {
        detail:
          'max_slot_wal_keep_size is unlimited, so a replication slot that is not read fills the disk of the database.',
        fix: "ALTER SYSTEM SET max_slot_wal_keep_size = '10GB'; SELECT pg_reload_conf();",
      },
    ]);
    const { url, role } = await database.database.createRole();
    const poor = await sourcesFor().check(targetOf(url), []);
    expect(poor.problems).toEqual([
      { reason: 'may_not_replicate', detail: null, fix: `ALTER ROLE "${role}" REPLICATION;` },
    ]);
    expect(poor.warnings[1]?.fix).toBe(`GRANT CREATE ON DATABASE "${database.database.name}" TO "${role}";`);
    const made =
      'SELECT slot_name::text FROM pg_replication_slots WHERE database = current_database() UNION SELECT pubname::text FROM pg_publication';
    expect(await database.run(made)).toEqual([]);
  });

  it('include a warning about a slot of Carillon that no source uses, with the SQL that drops it', async () => {
    const { slot } = await begin();
    const of = async (known: readonly string[]) =>
      (await sourcesFor().check(database.target, [], known)).warnings.filter(({ detail }) => detail.includes(slot));
    await expect.poll(() => of([]), { timeout: 10_000 }).toHaveLength(1);
    expect(await of([slot])).toEqual([]);
    const [warning] = await of([]);
    expect(warning?.detail).toMatch(/holds \d+ \w+ of WAL/);
    await database.run(warning?.fix ?? '');
    expect(await of([])).toEqual([]);
  });

  it('allow to continue with a slot that was created right before a crash, before its position was saved', async () => {
    let takes = 0;
    database.log.beforeTake = () => ((takes += 1) === 2 ? Promise.reject(new Error('crash')) : Promise.resolve());
    expect(await database.start(['public.kept']).ended).toMatchObject({ kind: 'closed', error: { message: 'crash' } });
    expect(database.log.position).toMatchObject({ lsn: '0/0' });
    await database.run("INSERT INTO kept VALUES (1, 'since the slot was made')");
    await database.open(['public.kept']);
    await database.log.waitForRows(1);
    expect(
      await database.run('SELECT count(*)::int AS n FROM pg_replication_slots WHERE database = current_database()'),
    ).toEqual([{ n: 1 }]);
  });

  it('allow a reset of a position without a slot, which creates a new slot', async () => {
    const position = await begin();
    const again = await reset({ ...position, publicationOid: 0, lsn: '0/0' });
    expect(again).toMatchObject({ slot: position.slot, partial: null });
    expect(again.publicationOid).not.toBe(position.publicationOid);
    expect(again.lsn).not.toBe('0/0');
    expect(
      await database.run('SELECT count(*)::int AS n FROM pg_replication_slots WHERE database = current_database()'),
    ).toEqual([{ n: 1 }]);
  });

  it('never lead to dropping a slot on another server', async () => {
    const position = await begin();
    const elsewhere = { ...position, slot: `${position.slot}_elsewhere`, systemId: '8' };
    expect(await sourcesFor().drop(database.target, elsewhere)).toMatchObject({
      ok: false,
      error: { detail: expect.stringContaining('the slot is on the server with system id 8') as string },
    });
    expect(await database.run('SELECT pubname::text AS name FROM pg_publication')).toEqual([
      { name: position.publication },
    ]);
  });

  it('allow to drop a slot that pg_upgrade kept although the system id changed', async () => {
    const position = await begin();
    expect(await sourcesFor().drop(database.target, { ...position, systemId: '8' })).toEqual({ ok: true, value: null });
    expect(await database.run('SELECT pubname FROM pg_publication')).toEqual([]);
  });

  it('allow to drop slot and publication, also twice, and to print the SQL for it', async () => {
    const position = await begin();
    expect(await sourcesFor().drop(database.target, position)).toEqual({ ok: true, value: null });
    expect(await sourcesFor().drop(database.target, position)).toEqual({ ok: true, value: null });
    const left =
      'SELECT slot_name::text AS name FROM pg_replication_slots WHERE database = current_database() UNION SELECT pubname::text FROM pg_publication';
    expect(await database.run(left)).toEqual([]);
    const again = await reset(position);
    expect(await database.run(left)).toHaveLength(1);
    await database.run(sourcesFor().dropSql(again));
    expect(await database.run(left)).toEqual([]);
  });
});
