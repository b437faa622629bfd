import { setTimeout as pause } from 'node:timers/promises';
import { untilFound } from '@carillon/testing';
import { createPostgresDatabase, type PostgresDatabase } from '@carillon/testing/services';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { planting } from '../../harness/planting.ts';
import { scratch } from '../../integration/product/shop.ts';
import { describeWith } from '../../support/requirements.ts';
import { sharedServer } from '../../support/shared-servers.ts';
import { READING_FILES, readChangesOnLog } from '../changes-on-log.ts';
import { evaluateAgain } from '../evaluate-again.ts';
import { connectTo, createHistoryTables, readHistory, writeUntil } from '../table-history.ts';
import { KilledReader } from './killed-reader.ts';

/*
 * The product is killed at random while four connections write: from outside, and from inside before and after append and
 * position, and after the acknowledgement. CARILLON_SOURCE_KILLS and CARILLON_SOURCE_TRANSACTIONS make the run shorter.
 */

const KILLS = Number(process.env['CARILLON_SOURCE_KILLS'] ?? 60);
const TRANSACTIONS = Number(process.env['CARILLON_SOURCE_TRANSACTIONS'] ?? 100_000);
const CONNECTIONS = 4;
const MINUTES = 60_000;
/** A machine that does nothing else needs twenty. */
const TIMEOUT_MS = 60 * MINUTES;

const HELPER = JSON.stringify(new URL('../killed-reading.ts', import.meta.url).href);
const KILLABLE = planting([
  {
    file: 'apps/cli/src/process/foundation.ts',
    from: 'return createPostgresSources({ guard });',
    to: `const { killedReading } = await import(${HELPER});
      return killedReading(createPostgresSources({ guard }), env['KILL_READING']);`,
  },
]);

describeWith('postgres', 'An embedded engine that is killed while it reads', () => {
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
    reader = new KilledReader({ folder: place.folder, env, killable: KILLABLE });
  }, 120_000);
  afterAll(async () => {
    await place.remove();
  });

  async function slot(): Promise<{ readonly left: number } | null> {
    const [row] = await database.run(
      `SELECT (pg_current_wal_flush_lsn() - confirmed_flush_lsn)::bigint::int AS left FROM pg_replication_slots
       WHERE database = current_database() AND confirmed_flush_lsn IS NOT NULL`,
    );
    return row === undefined ? null : { left: Number(row['left']) };
  }

  it(
    'has each change of the table’s own history on the log once, in the order of its row, and evaluates it again to the same intents',
    async () => {
      await reader.begin(READING_FILES, () => untilFound('the slot', async () => (await slot()) ?? undefined));
      let kills = 0;
      let begun = 0;
      const isOver = (): boolean => kills >= KILLS && begun >= TRANSACTIONS;
      // The kills are spread over the transactions: nobody runs far ahead.
      const isAhead = (): boolean => begun > ((kills + 1) / KILLS) * TRANSACTIONS && kills < KILLS;
      const writers = Array.from({ length: CONNECTIONS }, () =>
        writeUntil(database.url, async () => {
          while (isAhead()) await pause(50);
          begun += 1;
          return isOver();
        }),
      );
      for (; kills < KILLS; kills += 1) await reader.killOnce();
      const transactions = (await Promise.all(writers)).reduce((sum, count) => sum + count, 0);
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
      await data.close();
      expect(appended.size).toBeGreaterThan(0);
      expect(again).toEqual(appended);
      console.info(`${transactions} transactions, ${kills} kills, ${history.count} changes`);
    },
    TIMEOUT_MS,
  );
});
