import { setTimeout as pause } from 'node:timers/promises';
import { untilFound } from '@carillon/testing';
import { createPostgresDatabase, type PostgresDatabase } from '@carillon/testing/services';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { scratch } from '../../integration/product/shop.ts';
import { describeWith } from '../../support/requirements.ts';
import { sharedServer } from '../../support/shared-servers.ts';
import { READING_FILES, readChangesOnLog } from '../changes-on-log.ts';
import { findWrongOutputs } from '../../support/verify-log.ts';
import { evaluateAgain } from '../evaluate-again.ts';
import { connectTo, createHistoryTables, readHistory, writeWhile } from '../table-history.ts';
import { KilledReader } from './killed-reader.ts';

/*
 * The product is killed while four connections write: at each step of the reader, and from outside while it starts and
 * while it runs. CARILLON_SOURCE_KILLS and CARILLON_SOURCE_TRANSACTIONS make the run shorter.
 */

const KILLS = Number(process.env['CARILLON_SOURCE_KILLS'] ?? 60);
const TRANSACTIONS = Number(process.env['CARILLON_SOURCE_TRANSACTIONS'] ?? 100_000);
const TITLE = `An embedded engine that is killed ${KILLS} times while it reads ${TRANSACTIONS} transactions`;
const CONNECTIONS = 4;
/** Kills that reach each step. */
const MIN_KILLS = 30;
const MINUTES = 60_000;
const TIMEOUT_MS = Number(process.env['CARILLON_SOURCE_MINUTES'] ?? 20) * MINUTES;

describeWith('postgres', TITLE, () => {
  let place: Awaited<ReturnType<typeof scratch>>;
  let database: PostgresDatabase;
  let reader: KilledReader;
  beforeAll(async () => {
    place = await scratch();
    database = await createPostgresDatabase((await sharedServer('postgres')).url);
    const client = await connectTo(database.url);
    await createHistoryTables(client);
    await client.end();
    const env = { CARILLON_SECRET_SHOP__SHOP_DB: database.url, CARILLON_ALLOWED_PRIVATE_ADDRESSES: '127.0.0.1' };
    reader = new KilledReader({ folder: place.folder, env });
  }, 120_000);
  afterAll(async () => {
    await place.remove();
  });

  async function slot(): Promise<{ readonly left: number } | null> {
    const [row] = await database.run(
      `SELECT (pg_current_wal_flush_lsn() - confirmed_flush_lsn)::bigint::text AS left FROM pg_replication_slots
       WHERE database = current_database() AND confirmed_flush_lsn IS NOT NULL`,
    );
    return row === undefined ? null : { left: Number(row['left']) };
  }

  it(
    'logs each change of the table once, in row order, and evaluates it again to the same intents',
    async () => {
      await reader.begin(READING_FILES, () => untilFound('the slot', async () => (await slot()) ?? undefined));
      let begun = 0;
      // The kills are spread over the transactions: nobody runs far ahead.
      const isAhead = (): boolean => reader.count < KILLS && begun > ((reader.count + 1) / KILLS) * TRANSACTIONS;
      const writers = Array.from({ length: CONNECTIONS }, () =>
        writeWhile(database.url, async (transactions) => {
          while (isAhead()) await pause(50);
          begun += transactions;
          return reader.count < KILLS || begun - transactions < TRANSACTIONS;
        }),
      );
      while (reader.count < KILLS) await reader.killOnce();
      const transactions = (await Promise.all(writers)).reduce((sum, count) => sum + count, 0);
      console.info(`${transactions} transactions, kills: ${JSON.stringify(reader.kills)}`);
      const data = await reader.openEvaluated(() =>
        untilFound('everything read', async () => ((await slot())?.left === 0 ? true : undefined), TIMEOUT_MS),
      );
      const client = await connectTo(database.url);
      const history = await readHistory(client);
      await client.end();
      const { changes, repeats } = await readChangesOnLog(data.log);
      expect(changes.differences(history)).toEqual([]);
      expect(repeats).toBe(0);

      const { appended, again } = await evaluateAgain(data.log, data.registry, reader.dataDir, () => database.drop());
      const wrong = await findWrongOutputs(reader.dataDir, data);
      await data.close();
      expect(wrong).toEqual([]);
      expect(appended.size).toBeGreaterThan(0);
      expect(again).toEqual(appended);
      console.info(`${history.count} changes, ${appended.size} intents`);
      if (KILLS >= MIN_KILLS) expect(Object.values(reader.kills)).not.toContain(0);
    },
    TIMEOUT_MS,
  );
});
