import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { openKafkaLog } from '@carillon/adapter-kafka';
import { openMongo } from '@carillon/adapter-mongodb';
import { createSchemaRegistry } from '@carillon/adapter-schema-registry';
import { systemClock } from '@carillon/adapter-system';
import { COLLECTIONS } from '@carillon/stores';
import { cli, untilFound } from '@carillon/testing';
import {
  startCluster,
  startClusterServices,
  type Cluster,
  type ClusterServices,
  type Member,
} from '@carillon/testing/cluster';
import { createPostgresDatabase, type PostgresDatabase } from '@carillon/testing/services';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { scratch } from '../../integration/product/shop.ts';
import { describeWith } from '../../support/requirements.ts';
import { sharedServer } from '../../support/shared-servers.ts';
import { READING_FILES, readChangesOnLog } from '../changes-on-log.ts';
import { evaluateAgain, isEvaluated } from '../evaluate-again.ts';
import { connectTo, createHistoryTables, readHistory, writeUntil } from '../table-history.ts';

/*
 * Of two engines the one that reads the database is killed at random while four connections write. CARILLON_SOURCE_KILLS and
 * CARILLON_SOURCE_TRANSACTIONS make the run shorter, CARILLON_TAKEOVER_SECONDS allows a busy machine more time.
 */

const KILLS = Number(process.env['CARILLON_SOURCE_KILLS'] ?? 20);
const TRANSACTIONS = Number(process.env['CARILLON_SOURCE_TRANSACTIONS'] ?? 20_000);
const TAKEOVER_SECONDS = Number(process.env['CARILLON_TAKEOVER_SECONDS'] ?? 15);
const CONNECTIONS = 4;
const MINUTES = 60_000;
/** A machine that does nothing else needs twenty. */
const TIMEOUT_MS = 60 * MINUTES;

describeWith(
  ['kafka', 'mongodb', 'registry', 'postgres'],
  'Engines of a cluster that are killed while they read',
  () => {
    let services: ClusterServices;
    let cluster: Cluster;
    let place: Awaited<ReturnType<typeof scratch>>;
    let database: PostgresDatabase;
    const dataDir = (): string => join(place.folder, 'data');

    beforeAll(async () => {
      place = await scratch();
      [services, database] = await Promise.all([
        startClusterServices(),
        createPostgresDatabase((await sharedServer('postgres')).url),
      ]);
      const client = await connectTo(database.url);
      await createHistoryTables(client);
      await client.end();
      const env = { CARILLON_SECRET_SHOP__SHOP_DB: database.url, CARILLON_ALLOWED_PRIVATE_ADDRESSES: '127.0.0.1' };
      cluster = await startCluster({ services, dataDir: dataDir(), members: { engine: 2 }, env });
      const folder = join(place.folder, 'configuration');
      for (const [path, text] of Object.entries(READING_FILES)) {
        await mkdir(dirname(join(folder, path)), { recursive: true });
        await writeFile(join(folder, path), text);
      }
      const applied = await cli(['apply', '-f', folder], { dataDir: dataDir(), env: cluster.env });
      expect(applied).toMatchObject({ code: 0 });
      await untilFound('the slot', async () => ((await slot())?.isActive ? true : undefined), TIMEOUT_MS);
    }, TIMEOUT_MS);
    afterAll(async () => {
      await cluster?.stop();
      await services?.stop();
      await place?.remove();
    }, TIMEOUT_MS);

    async function slot(): Promise<{ readonly isActive: boolean; readonly left: number } | null> {
      const [row] = await database.run(
        `SELECT active, (pg_current_wal_flush_lsn() - confirmed_flush_lsn)::bigint::text AS left FROM pg_replication_slots
       WHERE database = current_database() AND confirmed_flush_lsn IS NOT NULL`,
      );
      return row === undefined ? null : { isActive: row['active'] === true, left: Number(row['left']) };
    }

    /** The engine whose metrics have the source. */
    async function readingEngine(): Promise<Member | undefined> {
      for (const engine of cluster.of('engine')) {
        const metrics = await fetch(`${engine.health}/metrics`).then(
          (answer) => answer.text(),
          () => '',
        );
        if (/^carillon_source_state\{.*state="running".*\} 1$/m.test(metrics)) return engine;
      }
      return undefined;
    }

    /** Kills the engine that reads. Resolves to the seconds until another one reads. */
    async function killOnce(): Promise<number> {
      const engine = await untilFound('the engine that reads', readingEngine, 120_000);
      const began = performance.now();
      await engine.kill('SIGKILL');
      const other = await untilFound('another engine', readingEngine, 120_000);
      const seconds = (performance.now() - began) / 1000;
      expect(other.name).not.toBe(engine.name);
      await engine.restart();
      await pause(Math.random() * 3_000);
      return seconds;
    }

    it(
      'miss no change of the table’s own history, repeat it with the same id only, and go on within 15 s',
      async () => {
        let begun = 0;
        const takeovers: number[] = [];
        // The kills are spread over the transactions: nobody runs far ahead.
        const isAhead = (): boolean =>
          begun > ((takeovers.length + 1) / KILLS) * TRANSACTIONS && takeovers.length < KILLS;
        const writers = Array.from({ length: CONNECTIONS }, () =>
          writeUntil(database.url, async () => {
            while (isAhead()) await pause(50);
            begun += 1;
            return takeovers.length >= KILLS && begun >= TRANSACTIONS;
          }),
        );
        while (takeovers.length < KILLS) takeovers.push(await killOnce());
        const transactions = (await Promise.all(writers)).reduce((sum, count) => sum + count, 0);
        await untilFound('everything read', async () => ((await slot())?.left === 0 ? true : undefined), TIMEOUT_MS);
        const client = await connectTo(database.url);
        const history = await readHistory(client);
        await client.end();

        const log = await openKafkaLog({ connection: { brokers: services.kafka.brokers, clientId: 'proof' } });
        const stores = await openMongo({
          url: services.mongodb.url,
          database: 'carillon',
          clock: systemClock,
          collections: COLLECTIONS,
        });
        const registry = createSchemaRegistry({ url: services.registry.url });
        const evaluated = async () => ((await isEvaluated(log, stores.checkpoints)) ? true : undefined);
        await untilFound('everything evaluated', evaluated, TIMEOUT_MS);
        await cluster.stop();
        const { changes, repeats } = await readChangesOnLog(log);
        console.info(
          `${transactions} transactions, ${KILLS} kills, ${history.count} changes, ${repeats} repeats, ` +
            `taken over after ${takeovers.map((seconds) => seconds.toFixed(1)).join(', ')} s`,
        );
        expect(changes.differences(history)).toEqual([]);
        expect(Math.max(...takeovers)).toBeLessThan(TAKEOVER_SECONDS);

        const { appended, again } = await evaluateAgain(log, registry, dataDir(), async () => {
          registry.close();
          await stores.close();
          await Promise.all([database.drop(), services.registry.stop(), services.mongodb.stop()]);
        });
        await log.close();
        expect(appended.size).toBeGreaterThan(0);
        expect(again).toEqual(appended);
      },
      TIMEOUT_MS,
    );
  },
);
