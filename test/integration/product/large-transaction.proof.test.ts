import { untilFound } from '@carillon/testing';
import { createPostgresDatabase, type PostgresDatabase } from '@carillon/testing/services';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../../support/requirements.ts';
import { sharedServer } from '../../support/shared-servers.ts';
import {
  BLOG_FILES,
  expectFair,
  figuresOf,
  openBystander,
  ruleFile,
  templateFiles,
  type Spans,
} from './fairness-bystander.ts';
import { openShop, type Shop } from './shop.ts';

const ROWS = Number(process.env['CARILLON_ROWS'] ?? 1_000_000);
const MINUTES = 60_000;

const FILES = {
  'carillon.yaml': 'backend: embedded\n',
  'workspaces/shop/workspace.yaml': 'name: Shop\n',
  'workspaces/shop/integrations/shop-db.yaml': 'kind: postgres\nurl: { secret: SHOP_DB }\n',
  'workspaces/shop/streams/wide.yaml': 'from: { integration: shop-db, tables: { public.wide: event.id } }\n',
  'workspaces/shop/notifications/wide.yaml': ruleFile(
    'wide',
    '      to: { email: event.note }\n      unique_id: event_id',
  ).replace('has(event.order_id)', 'event.note == "last@example.com"'),
  ...templateFiles('shop', 'wide', '<p>Hello.</p>\n'),
  ...BLOG_FILES,
};

describeWith('postgres', `While the product reads a transaction of ${ROWS.toLocaleString('en')} rows`, () => {
  let database: PostgresDatabase;
  let shop: Shop & { close(): Promise<void> };
  beforeAll(async () => {
    database = await createPostgresDatabase((await sharedServer('postgres')).url);
    await database.run('CREATE TABLE wide (id int PRIMARY KEY, note text); ALTER TABLE wide REPLICA IDENTITY FULL');
    const env = { CARILLON_SECRET_SHOP__SHOP_DB: database.url, CARILLON_ALLOWED_PRIVATE_ADDRESSES: '127.0.0.1' };
    shop = await openShop({ files: FILES, env });
  }, 2 * MINUTES);
  afterAll(async () => {
    await shop.close();
    await database.drop();
  }, MINUTES);

  const slotIsRead = async (): Promise<true | undefined> => {
    const rows = await database.run(
      `SELECT 1 FROM pg_replication_slots
       WHERE database = current_database() AND confirmed_flush_lsn = pg_current_wal_flush_lsn()`,
    );
    return rows.length > 0 ? true : undefined;
  };
  /** The last row is in a transaction of its own, and is all that notifies somebody. */
  const isUnderWay = async (): Promise<boolean> => (await shop.deliveries()).length === 0;

  it(
    'it answers events of another stream and sends their messages within twice the p95 of before and 50 ms',
    async () => {
      const blog = await openBystander(shop);
      await untilFound('the source reads', slotIsRead);
      const before = figuresOf([await blog.time(), await blog.time(), await blog.time()]);
      await database.run(`INSERT INTO wide SELECT i, repeat('x', 200) FROM generate_series(1, ${ROWS}) i`);
      await database.run("INSERT INTO wide VALUES (0, 'last@example.com')");
      const spans: Spans[] = [];
      // The last one may have begun at the end of the transaction.
      while (await isUnderWay()) spans.push(await blog.time());
      const measured = spans.slice(0, -1);
      const during = figuresOf(measured);
      console.info(JSON.stringify({ before, during, each: measured.map((one) => figuresOf([one]).message) }));
      expect(measured.length).toBeGreaterThan(0);
      expectFair(before, during);
    },
    15 * MINUTES,
  );
});
