import { afterEach, beforeEach, expect, it } from 'vitest';
import { describeWith } from '../../../../test/support/requirements.ts';
import { sharedServer } from '../../../../test/support/shared-servers.ts';
import { ReadingDatabase } from './support/reading-database.ts';

describeWith('postgres', 'reading changes of PostgreSQL', () => {
  let database: ReadingDatabase;
  beforeEach(async () => {
    database = await ReadingDatabase.create((await sharedServer('postgres')).url);
  });
  afterEach(() => database.drop());

  it('returns creates, updates and deletes with the row before', async () => {
    await database.run('CREATE TABLE orders (id int PRIMARY KEY, status text, total numeric(12,2))');
    await database.run('ALTER TABLE orders REPLICA IDENTITY FULL');
    await database.open(['public.orders']);
    await database.run("INSERT INTO orders VALUES (1, 'open', 12.50)");
    await database.run("UPDATE orders SET status = 'paid'");
    await database.run('DELETE FROM orders');
    await database.log.waitForRows(3);
    const open = { id: 1, status: 'open', total: 12.5 };
    const paid = { ...open, status: 'paid' };
    expect(
      database.log.changes.map(({ change: { op, event, previous, unknown } }) => ({ op, event, previous, unknown })),
    ).toEqual([
      { op: 'create', event: open, previous: null, unknown: [] },
      { op: 'update', event: paid, previous: open, unknown: [] },
      { op: 'delete', event: paid, previous: paid, unknown: [] },
    ]);
    const [first] = database.log.changes;
    expect(first?.change.source).toMatchObject({ integration: 'shop-db', table: 'public.orders' });
    expect(first?.change.source.position).toMatch(/^[0-9A-F]+\/[0-9A-F]+:1$/);
    expect(first?.change.source.at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
  });

  it('returns no more changes at once than its limit', async () => {
    await database.run('CREATE TABLE orders (id int PRIMARY KEY)');
    await database.run('ALTER TABLE orders REPLICA IDENTITY FULL');
    await database.open(['public.orders']);
    database.log.mostChanges = 7;
    await database.run('INSERT INTO orders SELECT generate_series(1, 30)');
    await database.log.waitForRows(30);
    expect(Math.max(...database.log.batches.map(({ changes }) => changes.length))).toBe(7);
  });
});
