import { startKafka, type KafkaOptions, type KafkaService } from '../services/kafka/kafka.ts';
import { startFerretDb, type FerretDbService } from '../services/mongodb/ferretdb.ts';
import { startRegistry, type RegistryService } from '../services/registry/registry.ts';

/** What the roles of a cluster stand on: real servers, each of which can be killed and started again. */
export type ClusterServices = {
  readonly kafka: KafkaService;
  readonly mongodb: FerretDbService;
  readonly registry: RegistryService;
  /** Ends them and removes their data. They also end, by force, when this process does. */
  stop(): Promise<void>;
};

/** Starts Kafka, FerretDB and a registry, all empty; one broker unless told. For one cluster: topics have fixed names. */
export async function startClusterServices(options: { readonly kafka?: KafkaOptions } = {}): Promise<ClusterServices> {
  const started = await Promise.allSettled([startKafka(options.kafka), startFerretDb(), startRegistry()]);
  const [kafka, mongodb, registry] = started;
  const stop = async (): Promise<void> => {
    await Promise.all(started.map(async (one) => one.status === 'fulfilled' && one.value.stop()));
  };
  if (kafka.status === 'fulfilled' && mongodb.status === 'fulfilled' && registry.status === 'fulfilled') {
    return { kafka: kafka.value, mongodb: mongodb.value, registry: registry.value, stop };
  }
  await stop();
  throw started.find((one) => one.status === 'rejected')?.reason;
}
