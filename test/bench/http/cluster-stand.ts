import { startClusterServices, type ClusterServices } from '@carillon/testing/cluster';
import type { KafkaVersion } from '@carillon/testing/services';
import { canStart, type ServiceName } from '@carillon/testing/services/needs';
import { CannotRun } from '../harness/bench.ts';
import { shared, type Shared } from '../started-once.ts';
import { type HttpLoad, startHttpLoad } from './load.ts';

/** What a Kafka that is not told otherwise forces to disk before it acknowledges. */
export const BROKER = 'nothing: the one broker holds it in the page cache of the machine (acks=all, one replica)';

export type ClusterStand = { readonly services: ClusterServices; readonly load: HttpLoad };

const CACHED: Readonly<Record<KafkaVersion, ServiceName>> = { '4.3.1': 'kafka', '3.9.2': 'kafka39' };

/** One broker, FerretDB, a schema registry, and a process that posts. */
export const clusterStand = ({ version }: { readonly version: KafkaVersion }): Shared<ClusterStand> =>
  shared(
    async () => {
      const missing = [CACHED[version], 'mongodb' as const, 'registry' as const].filter((name) => !canStart(name));
      if (missing.length > 0) throw new CannotRun(`it needs servers; npm run services -- fetch ${missing.join(' ')}`);
      return { services: await startClusterServices({ kafka: { version } }), load: startHttpLoad() };
    },
    async ({ services, load }) => {
      await load.stop();
      await services.stop();
    },
  );

/** The process that works for every side that stands on it. */
export const brokerOf = ({ services }: ClusterStand): Readonly<Record<string, number>> => ({
  broker: services.kafka.nodes[0]?.pid ?? 0,
});

/** The same with the database, where the sides work with that too. */
export const serversOf = (stand: ClusterStand): Readonly<Record<string, number>> => ({
  ...brokerOf(stand),
  FerretDB: stand.services.mongodb.parts.ferretDb.pid,
  PostgreSQL: stand.services.mongodb.parts.postgres.pid,
});
