import { afterEach, beforeEach, expect, it } from 'vitest';
import { describeWith } from '../../../../test/support/requirements.ts';
import { sharedServer } from '../../../../test/support/shared-servers.ts';
import { ReadingDatabase } from './support/reading-database.ts';

const KIB = 1024;
/** Text that PostgreSQL cannot compress, so that it is stored outside of the row. */
const large = (bytes: number): string =>
  `(SELECT string_agg(md5(i::text), '') FROM generate_series(1, ${bytes / 32}) i)`;

describeWith('postgres', 'changed rows read from PostgreSQL', () => {
  let database: ReadingDatabase;
  beforeEach(async () => {
    database = await ReadingDatabase.create((await sharedServer('postgres')).url);
  });
  afterEach(() => database.drop());

  const facts = (): readonly unknown[] =>
    database.log.changes.map(({ change: { op, event, previous, unknown } }) => ({ op, event, previous, unknown }));

  it('lack the row before without REPLICA IDENTITY FULL, and deleted rows have only their key', async () => {
    await database.run('CREATE TABLE orders (id int PRIMARY KEY, status text)');
    await database.open(['public.orders']);
    await database.run("INSERT INTO orders VALUES (1, 'open')");
    await database.run("UPDATE orders SET status = 'paid'");
    await database.run('UPDATE orders SET id = 2');
    await database.run('DELETE FROM orders');
    await database.log.waitForRows(4);
    expect(facts()).toEqual([
      { op: 'create', event: { id: 1, status: 'open' }, previous: null, unknown: [] },
      { op: 'update', event: { id: 1, status: 'paid' }, previous: undefined, unknown: [] },
      { op: 'update', event: { id: 2, status: 'paid' }, previous: undefined, unknown: [] },
      { op: 'delete', event: { id: 2 }, previous: { id: 2 }, unknown: ['status'] },
    ]);
  });

  it('list a large unchanged value as unknown, or copy it from the row before', async () => {
    await database.run('CREATE TABLE notes (id int PRIMARY KEY, seen int, note text)');
    await database.open(['public.notes']);
    await database.run(`INSERT INTO notes VALUES (1, 0, ${large(16 * KIB)})`);
    await database.run('UPDATE notes SET seen = 1');
    await database.run('ALTER TABLE notes REPLICA IDENTITY FULL');
    await database.run('UPDATE notes SET seen = 2');
    await database.log.waitForRows(3);
    const [created, unknown, copied] = database.log.changes.map(({ change }) => change);
    expect(created?.unknown).toEqual([]);
    expect(unknown?.event).toEqual({ id: 1, seen: 1 });
    expect(unknown?.unknown).toEqual(['note']);
    expect(copied?.unknown).toEqual([]);
    expect(copied?.event['note']).toBe(created?.event['note']);
    expect(copied?.previous?.['note']).toBe(created?.event['note']);
  });

  it('omit fields above 64 KiB and list their names', async () => {
    await database.run('CREATE TABLE files (id int PRIMARY KEY, body text, bytes bytea, list text[], tree jsonb)');
    await database.open(['public.files']);
    await database.run(
      `INSERT INTO files VALUES (1, repeat('a', ${64 * KIB}), decode(repeat('00', ${48 * KIB}), 'hex'), NULL)`,
    );
    await database.run(
      `INSERT INTO files VALUES (2, repeat('ä', ${32 * KIB}) || 'a', decode(repeat('00', ${49 * KIB}), 'hex'), ARRAY[repeat('a', ${64 * KIB})])`,
    );
    await database.run(`INSERT INTO files VALUES (3, repeat('a', ${5 * KIB * KIB}), NULL, NULL)`);
    await database.run("INSERT INTO files VALUES (4, 'small', NULL, NULL)");
    await database.run(
      `INSERT INTO files (id, list, tree) SELECT 5, array_agg(md5(i::text)), jsonb_agg(md5(i::text)) FROM generate_series(1, ${(5 * KIB * KIB) / 32}) i`,
    );
    await database.log.waitForRows(5);
    expect(database.log.changes.map(({ change }) => change.unknown)).toEqual([
      [],
      ['body', 'bytes', 'list'],
      ['body'],
      [],
      ['list', 'tree'],
    ]);
    expect(database.log.changes[0]?.change.event['body']).toHaveLength(64 * KIB);
    expect(database.log.changes[3]?.change.event).toMatchObject({ id: 4, body: 'small' });
  });

  it('list a field whose previous value exceeds 64 KiB, even if the new value is known', async () => {
    await database.run('CREATE TABLE files (id int PRIMARY KEY, body text)');
    await database.run('ALTER TABLE files REPLICA IDENTITY FULL');
    await database.open(['public.files']);
    await database.run(`INSERT INTO files VALUES (1, repeat('a', ${65 * KIB}))`);
    await database.run("UPDATE files SET body = 'small'");
    await database.log.waitForRows(2);
    expect(facts()[1]).toEqual({
      op: 'update',
      event: { id: 1, body: 'small' },
      previous: { id: 1 },
      unknown: ['body'],
    });
  });

  it('may have any column names, and 1,600 columns', async () => {
    const names = ['constructor', '__proto__', 'event', 'a.b', 'Größe', 'sp ace', 'qu"ote'];
    const many = Array.from({ length: 1600 - names.length }, (_, index) => `c${index}`);
    const quoted = [...names, ...many].map((name) => `"${name.replaceAll('"', '""')}" int`);
    await database.run(`CREATE TABLE "My.Table" (${quoted.join(', ')}, PRIMARY KEY ("constructor"))`);
    await database.open(['public.My.Table']);
    await database.run(
      'INSERT INTO "My.Table" ("constructor", "__proto__", "a.b", "qu""ote", c1592) VALUES (1, 2, 3, 4, 5)',
    );
    await database.log.waitForRows(1);
    const [read] = database.log.changes;
    expect(Object.keys(read?.change.event ?? {})).toEqual([...names, ...many]);
    for (const [name, value] of [
      ['constructor', 1],
      ['__proto__', 2],
      ['a.b', 3],
      ['qu"ote', 4],
      ['c1592', 5],
    ] as const) {
      expect(read?.change.event[name]).toBe(value);
    }
    expect(read?.change.source.table).toBe('public.My.Table');
  });

  it('of partitions have the name of the parent table, and columns come and go with ALTER TABLE', async () => {
    await database.run('CREATE TABLE parts (id int PRIMARY KEY, a int) PARTITION BY RANGE (id)');
    await database.run('CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (0) TO (10)');
    await database.open(['public.parts']);
    await database.run('INSERT INTO parts VALUES (1, 1)');
    await database.run('CREATE TABLE parts_2 PARTITION OF parts FOR VALUES FROM (10) TO (20)');
    await database.run('INSERT INTO parts VALUES (11, 2)');
    await database.run("ALTER TABLE parts ADD b text DEFAULT 'new', DROP a");
    await database.run('INSERT INTO parts VALUES (12)');
    await database.run('UPDATE parts SET id = 2 WHERE id = 11');
    await database.log.waitForRows(5);
    expect(database.log.changes.map(({ change: { op, event, source } }) => [op, source.table, event])).toEqual([
      ['create', 'public.parts', { id: 1, a: 1 }],
      ['create', 'public.parts', { id: 11, a: 2 }],
      ['create', 'public.parts', { id: 12, b: 'new' }],
      ['delete', 'public.parts', { id: 11 }],
      ['create', 'public.parts', { id: 2, b: 'new' }],
    ]);
  });
});
