import { describeTable } from '@carillon/domain/changes';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { describeWith } from '../../../../test/support/requirements.ts';
import { sharedServer } from '../../../../test/support/shared-servers.ts';
import { ReadingDatabase, sourcesFor, targetOf } from './support/reading-database.ts';

describeWith('postgres', 'the tables that a PostgreSQL source reads', () => {
  let database: ReadingDatabase;
  beforeEach(async () => {
    database = await ReadingDatabase.create((await sharedServer('postgres')).url);
    await database.run(`CREATE TABLE good (id int PRIMARY KEY);
      CREATE TABLE bare (note text);
      CREATE TABLE deferred (id int PRIMARY KEY DEFERRABLE);
      CREATE TABLE nothing (id int PRIMARY KEY);
      ALTER TABLE nothing REPLICA IDENTITY NOTHING;
      CREATE TABLE whole (note text);
      ALTER TABLE whole REPLICA IDENTITY FULL;
      CREATE UNLOGGED TABLE volatile (id int PRIMARY KEY);
      CREATE TABLE parts (id int PRIMARY KEY) PARTITION BY RANGE (id);
      CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (0) TO (10);
      CREATE TABLE bare_parts (id int) PARTITION BY RANGE (id);
      CREATE TABLE bare_parts_1 PARTITION OF bare_parts FOR VALUES FROM (0) TO (10);
      ALTER TABLE bare_parts_1 REPLICA IDENTITY FULL;
      CREATE VIEW seen AS SELECT * FROM good`);
  });
  afterEach(() => database.drop());

  const problems = (): Readonly<Record<string, unknown>> =>
    Object.fromEntries(
      (database.log.reports.at(-1)?.tables ?? []).map(({ table, problem }) => [table, problem?.reason ?? null]),
    );
  const published = async (): Promise<readonly unknown[]> =>
    (await database.run('SELECT tablename::text AS name FROM pg_publication_tables ORDER BY 1')).map(
      ({ name }) => name,
    );

  it('are read, or have a reason with the SQL that fixes it; no table is published whose UPDATEs would fail', async () => {
    const names = [
      'good',
      'bare',
      'deferred',
      'nothing',
      'whole',
      'volatile',
      'parts',
      'parts_1',
      'bare_parts',
      'seen',
      'missing',
    ];
    const tables = names.map((name) => `public.${name}`);
    const { tables: checked } = await sourcesFor().check(database.target, tables);
    await database.open(tables);
    expect(Object.fromEntries(checked.map(({ table, problem }) => [table, problem?.reason ?? null]))).toEqual(
      problems(),
    );
    expect(checked.filter(({ identity }) => identity === 'full').map(({ table }) => table)).toEqual(['public.whole']);
    expect(problems()).toEqual({
      'public.good': null,
      'public.bare': 'no_identity',
      'public.deferred': 'no_identity',
      'public.nothing': 'no_identity',
      'public.whole': null,
      'public.volatile': 'not_published',
      'public.parts': null,
      'public.parts_1': 'is_partition',
      'public.bare_parts': 'no_identity',
      'public.seen': 'is_view',
      'public.missing': 'no_table',
    });
    expect(await published()).toEqual(['good', 'parts', 'whole']);
    const fixes = database.log.reports.at(-1)?.tables.flatMap(({ problem }) => problem?.fix ?? []);
    expect(fixes).toEqual([
      'ALTER TABLE public.bare REPLICA IDENTITY FULL;',
      'ALTER TABLE public.deferred REPLICA IDENTITY FULL;',
      'ALTER TABLE public.nothing REPLICA IDENTITY DEFAULT;',
      'ALTER TABLE public.volatile SET LOGGED;',
      'ALTER TABLE public.bare_parts ADD PRIMARY KEY (id); -- name its key columns',
    ]);
    for (const table of ['good', 'bare', 'deferred', 'nothing', 'whole', 'volatile', 'parts', 'bare_parts']) {
      await database.run(`UPDATE ${table} SET ${table === 'bare' || table === 'whole' ? "note = ''" : 'id = id'}`);
    }
    const { since } = database.log.reports[0]?.tables[0] ?? {};
    expect(Math.abs(Date.now() - (since ?? 0))).toBeLessThan(60_000);
  });

  it('are judged by a check as by the reader: a partition can be read if its parent table is not listed', async () => {
    const tables = ['public.parts_1', 'public.seen'];
    const { tables: checked } = await sourcesFor().check(database.target, tables);
    expect(checked).toEqual([
      { table: 'public.parts_1', identity: 'key', problem: null },
      {
        table: 'public.seen',
        identity: expect.any(String) as string,
        problem: { reason: 'is_view', detail: null, fix: null },
      },
    ]);
    await database.open(tables);
    expect(problems()).toEqual({ 'public.parts_1': null, 'public.seen': 'is_view' });
  });

  it('can be added and removed while they are read', async () => {
    await database.open(['public.good', 'public.bare', 'public.later']);
    await database.run('ALTER TABLE bare REPLICA IDENTITY FULL');
    await database.run('CREATE TABLE later (id int PRIMARY KEY)');
    await database.run('ALTER TABLE good DROP CONSTRAINT good_pkey');
    await expect
      .poll(problems, { timeout: 10_000 })
      .toEqual({ 'public.good': 'no_identity', 'public.bare': null, 'public.later': null });
    await database.run('INSERT INTO good VALUES (1)');
    await database.run('UPDATE good SET id = 2');
    await database.run("INSERT INTO bare VALUES ('read')");
    await database.run('INSERT INTO later VALUES (3)');
    await database.log.waitForRows(2);
    expect(database.log.rows).toEqual([{ note: 'read' }, { id: 3 }]);
    await database.run('DROP TABLE later');
    await expect.poll(problems).toMatchObject({ 'public.later': 'no_table' });
  });

  it('leave the publication when they are no longer listed, and are added again when listed again', async () => {
    const reader = await database.open(['public.good', 'public.whole']);
    await reader.close();
    const other = await database.open(['public.good']);
    expect(await published()).toEqual(['good']);
    await other.close();
    await database.run("INSERT INTO whole VALUES ('missed')");
    await database.open(['public.good', 'public.whole']);
    await database.run("INSERT INTO whole VALUES ('read')");
    await database.log.waitForRows(1);
    expect(database.log.rows).toEqual([{ note: 'read' }]);
  });

  it('may all be removed: the slot still advances, and they can come back', async () => {
    await (await database.open(['public.good'])).close();
    const empty = await database.open([]);
    await expect.poll(published).toEqual([]);
    await database.run('INSERT INTO good VALUES (1)');
    const [written] = await database.run('SELECT pg_current_wal_flush_lsn()::text AS lsn');
    const follows = async (): Promise<unknown> =>
      (
        await database.run(
          `SELECT bool_and(confirmed_flush_lsn >= '${String(written?.['lsn'])}') AS follows FROM pg_replication_slots
            WHERE database = current_database()`,
        )
      )[0]?.['follows'];
    await expect.poll(follows, { timeout: 10_000 }).toSatisfy((value) => String(value).startsWith('t'));
    await empty.close();
    await database.open(['public.good']);
    await database.run('INSERT INTO good VALUES (2)');
    await database.log.waitForRows(1);
    expect(database.log.rows).toEqual([{ id: 2 }]);
  });

  it('are not published if they have another owner; the SQL for an administrator is shown', async () => {
    const { url, role } = await database.database.createRole('REPLICATION');
    const { role: owner } = await database.database.createRole();
    await database.run(
      `GRANT CREATE ON DATABASE ${database.database.name} TO ${role}; ALTER TABLE good OWNER TO ${owner}`,
    );
    const foreseen = async () =>
      (await sourcesFor().check(targetOf(url), ['public.good'])).warnings.map(({ detail }) => detail);
    expect(await foreseen()).toContainEqual(expect.stringMatching(/^The role does not own public\.good, so/));
    await database.open(['public.good'], sourcesFor(), targetOf(url));
    const problem = database.log.reports.at(-1)?.tables[0]?.problem;
    const fix = `ALTER PUBLICATION "${database.log.position?.publication}" ADD TABLE ONLY public.good;`;
    expect(problem).toEqual({ reason: 'not_published', detail: null, fix });
    expect(problem && describeTable('public.good', problem)).toMatch(/administrator of the database/);
    await expect(database.run(`SET ROLE ${owner}; ${fix}`)).rejects.toThrow('must be owner of publication');
    await database.run(fix);
    await expect.poll(problems).toEqual({ 'public.good': null });
    expect((await foreseen()).join()).not.toContain('does not own');
    await database.run('INSERT INTO good VALUES (1)');
    await database.log.waitForRows(1);
  });

  it('are in the SQL of a publication that a person has to create, as far as they can be read', async () => {
    const { url } = await database.database.createRole('REPLICATION');
    const names = ['good', 'bare', 'seen', 'parts', 'parts_1', 'missing'].map((name) => `public.${name}`);
    const end = await database.start(names, sourcesFor(), targetOf(url)).ended;
    expect('fix' in end ? end.fix : null).toMatch(
      /^CREATE PUBLICATION "carillon_\w+" FOR TABLE ONLY public\.good, ONLY public\.parts WITH \(/,
    );
  });

  it('are listed with columns, keys and which part of the row before is sent', async () => {
    await database.run(
      'CREATE TABLE "z Last" (id int, "the key" numeric(12,2) PRIMARY KEY, twice int GENERATED ALWAYS AS (id * 2) STORED)',
    );
    const listed = await sourcesFor().tables(database.target);
    if (!listed.ok) throw new Error(listed.error.reason);
    expect(listed.value.map(({ table, identity, problem }) => [table, identity, problem?.reason ?? null])).toEqual([
      ['public.bare', 'nothing', 'no_identity'],
      ['public.bare_parts', 'nothing', 'no_identity'],
      ['public.deferred', 'nothing', 'no_identity'],
      ['public.good', 'key', null],
      ['public.nothing', 'nothing', 'no_identity'],
      ['public.parts', 'key', null],
      ['public.volatile', 'key', 'not_published'],
      ['public.whole', 'full', null],
      ['public.z Last', 'key', null],
    ]);
    expect(listed.value.at(-1)?.columns).toEqual([
      { name: 'id', type: 'integer', key: false },
      { name: 'the key', type: 'numeric(12,2)', key: true },
    ]);
  });

  it('have another id once they were removed from the publication and added again', async () => {
    await database.open(['public.good']);
    const entry = () => database.log.reports.at(-1)?.tables[0]?.entry;
    await expect.poll(entry).toMatch(/^\d+$/);
    const before = entry();
    const name = database.log.position?.publication;
    await database.run(`ALTER PUBLICATION ${name} DROP TABLE good; ALTER PUBLICATION ${name} ADD TABLE good`);
    await expect.poll(() => [undefined, before].includes(entry())).toBe(false);
  });
});
