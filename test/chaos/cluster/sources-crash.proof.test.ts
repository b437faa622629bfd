import { setTimeout as pause } from 'node:timers/promises';
import { untilFound } from '@carillon/testing';
import { createPostgresDatabase, type PostgresDatabase } from '@carillon/testing/services';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { scratch } from '../../integration/product/shop.ts';
import { describeWith } from '../../support/requirements.ts';
import { sharedServer } from '../../support/shared-servers.ts';
import { READING_FILES, readChangesOnLog } from '../changes-on-log.ts';
import { READING_STEPS } from '../killed-reading.ts';
import { connectTo, createHistoryTables, readHistory, writeWhile } from '../table-history.ts';
import { ReadingCluster, secondsUntilRead, type TakeOver } from './reading-cluster.ts';

/*
 * The engine that reads the database is killed at each step of the reader, and from outside, while four connections write. Another
 * engine is ready. CARILLON_SOURCE_KILLS and CARILLON_SOURCE_TRANSACTIONS make the run shorter, CARILLON_TAKEOVER_SECONDS allows a
 * busy machine more time.
 */

const KILLS = Number(process.env['CARILLON_SOURCE_KILLS'] ?? 20);
const TRANSACTIONS = Number(process.env['CARILLON_SOURCE_TRANSACTIONS'] ?? 20_000);
const TAKEOVER_SECONDS = Number(process.env['CARILLON_TAKEOVER_SECONDS'] ?? 15);
const TIMEOUT_MS = Number(process.env['CARILLON_SOURCE_MINUTES'] ?? 20) * 60_000;
const CONNECTIONS = 4;
const MAX_NTH_BATCH = 10;
/** Between two calls of a writer that is ahead. Some changes always wait for the engine that takes over. */
const AHEAD_MS = 2_000;
const AIMS = [...READING_STEPS, null] as const;

describeWith(
  ['kafka', 'mongodb', 'registry', 'postgres'],
  `An engine of a cluster that is killed ${KILLS} times while it reads ${TRANSACTIONS} transactions`,
  () => {
    let cluster: ReadingCluster;
    let place: Awaited<ReturnType<typeof scratch>>;
    let database: PostgresDatabase;

    beforeAll(async () => {
      place = await scratch();
      database = await createPostgresDatabase((await sharedServer('postgres')).url);
      const client = await connectTo(database.url);
      await createHistoryTables(client);
      await client.end();
      const env = { CARILLON_SECRET_SHOP__SHOP_DB: database.url, CARILLON_ALLOWED_PRIVATE_ADDRESSES: '127.0.0.1' };
      cluster = await ReadingCluster.create({ folder: place.folder, source: 'shop/shop-db', env });
      await cluster.begin(READING_FILES);
    }, TIMEOUT_MS);
    afterAll(async () => {
      await cluster?.stop();
      await place?.remove();
    }, TIMEOUT_MS);

    /** Resolves to true once the slot holds nothing. */
    async function isRead(): Promise<true | undefined> {
      const [row] = await database.run(
        `SELECT pg_current_wal_flush_lsn() = confirmed_flush_lsn AS read FROM pg_replication_slots
         WHERE database = current_database() AND confirmed_flush_lsn IS NOT NULL`,
      );
      return row?.['read'] === true || undefined;
    }

    it(
      `reads every change of the table, repeats a change under the same id only, and is taken over within ${TAKEOVER_SECONDS} s by another engine`,
      async () => {
        let begun = 0;
        const takeOvers: TakeOver[] = [];
        const isAhead = (): boolean =>
          takeOvers.length < KILLS && begun > ((takeOvers.length + 1) / KILLS) * TRANSACTIONS;
        const writers = Array.from({ length: CONNECTIONS }, () =>
          writeWhile(database.url, async (transactions) => {
            if (isAhead()) await pause(AHEAD_MS);
            begun += transactions;
            return takeOvers.length < KILLS || begun - transactions < TRANSACTIONS;
          }),
        );
        while (takeOvers.length < KILLS) {
          const aim = AIMS[takeOvers.length % AIMS.length] ?? null;
          const nth = 1 + Math.floor(Math.random() * MAX_NTH_BATCH);
          takeOvers.push(await cluster.kill(aim && { step: aim, nth }));
        }
        const transactions = (await Promise.all(writers)).reduce((sum, count) => sum + count, 0);
        await untilFound('everything read', isRead, TIMEOUT_MS);
        await cluster.end();
        const client = await connectTo(database.url);
        const history = await readHistory(client);
        await client.end();
        const { changes, repeats, times } = await readChangesOnLog(cluster.log);
        const seconds = takeOvers.map((takeOver) => secondsUntilRead(takeOver, times));
        console.info(
          `${transactions} transactions, ${KILLS} kills, ${history.count} changes, ${repeats} repeats, ` +
            `taken over after ${seconds.map((time) => time.toFixed(1)).join(', ')} s`,
        );
        expect(changes.differences(history)).toEqual([]);
        expect(Math.max(...seconds)).toBeLessThan(TAKEOVER_SECONDS);

        const { appended, again } = await cluster.evaluateAgain(() => database.drop());
        expect(appended.size).toBeGreaterThan(0);
        expect(again).toEqual(appended);
      },
      TIMEOUT_MS,
    );
  },
);
