import { openKafkaLog, type KafkaConnection } from '@carillon/adapter-kafka';
import { openMongo } from '@carillon/adapter-mongodb';
import { createSchemaRegistry } from '@carillon/adapter-schema-registry';
import { systemClock } from '@carillon/adapter-system';
import type { ServicesOnSharedRegistry } from '@carillon/testing/cluster';
import type { Stores } from '../../harness/evidence.ts';

/** Log, ledger and positions of a cluster, read as one of its processes would. */
export type ClusterStores = Stores & { close(): Promise<void> };

export async function openClusterStores(
  { kafka, mongodb, registry }: Omit<ServicesOnSharedRegistry, 'stop'>,
  database: string,
): Promise<ClusterStores> {
  const connection: KafkaConnection = { brokers: kafka.brokers, clientId: 'crash-test' };
  const log = await openKafkaLog({ connection });
  const mongo = await openMongo({ url: mongodb.url, database, clock: systemClock });
  const schemas = createSchemaRegistry({ url: registry.url });
  return {
    log,
    ledger: mongo.ledger,
    checkpoints: mongo.checkpoints,
    tasks: mongo.tasks,
    registry: schemas,
    async close() {
      schemas.close();
      await mongo.close();
      await log.close();
    },
  };
}
