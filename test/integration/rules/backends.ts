import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEmbedded } from '@carillon/adapter-embedded';
import { ensureTopics, openKafkaLog } from '@carillon/adapter-kafka';
import { openMongo } from '@carillon/adapter-mongodb';
import { TOPIC_DEFINITIONS } from '@carillon/contracts';
import type { LogId } from '@carillon/kernel';
import { COLLECTIONS, createSourceStore, createStores } from '@carillon/stores';
import { createDirectWire, createMemoryBackend } from '@carillon/testing/memory';
import { dropDatabase, forgetTopics } from '@carillon/testing/services';
import type { TopologyOptions } from '@carillon/testing/topology';
import { sharedServer, takeTurn } from '../../support/shared-servers.ts';

/** Log and stores that a process opens, and that another process opens after it. */
export type RealBackend = { readonly backing: NonNullable<TopologyOptions['backing']>; close(): Promise<void> };

const PARTITIONS = 2;

export async function openDataFolder(): Promise<RealBackend> {
  const dataDir = await mkdtemp(join(tmpdir(), 'carillon-waits-'));
  return {
    async backing(clock) {
      const data = await openEmbedded({ dataDir, clock, partitions: PARTITIONS, collections: COLLECTIONS });
      const sources = createSourceStore(data.documents, data.writeWithRecords);
      return { data: { ...data, ...createStores(data.documents), sources }, close: () => data.close() };
    },
    close: () => rm(dataDir, { recursive: true, force: true }),
  };
}

/** Topics and a database on the shared servers. Schemas and what rules do not use are in memory. */
export async function openCluster(): Promise<RealBackend> {
  const [{ brokers }, { url }] = await Promise.all([sharedServer('kafka'), sharedServer('mongodb')]);
  const giveBack = await takeTurn('topics');
  await forgetTopics(brokers, 'carillon.');
  const connection = { brokers, clientId: 'carillon-waits' };
  const freshLogId = () => 'log_0000000000000000000000000W' as LogId;
  await ensureTopics(connection, TOPIC_DEFINITIONS, { singleBroker: true, freshLogId });
  const database = `waits-${randomBytes(6).toString('hex')}`;
  let memory: ReturnType<typeof createMemoryBackend> | undefined;
  return {
    async backing(clock) {
      memory ??= createMemoryBackend({ clock, partitions: PARTITIONS });
      const stores = await openMongo({ url, database, clock, collections: COLLECTIONS });
      const log = await openKafkaLog({ connection });
      return {
        data: { ...memory.connect(createDirectWire()), ...stores, log },
        async close() {
          await log.close();
          await stores.close();
        },
      };
    },
    async close() {
      await dropDatabase(url, database);
      giveBack();
    },
  };
}
