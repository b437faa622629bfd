import { startKafka, type KafkaOptions, type KafkaService } from '../services/kafka/kafka.ts';
import { startFerretDb, type FerretDbService } from '../services/mongodb/ferretdb.ts';
import { startRegistry, type RegistryService } from '../services/registry/registry.ts';

/** Servers of a test cluster. Each can be killed and started again. */
export type ClusterServices = {
  readonly kafka: KafkaService;
  readonly mongodb: FerretDbService;
  readonly registry: RegistryService;
  /** Ends them and removes their data. They also end, by force, when this process does. */
  stop(): Promise<void>;
};

/** Services with a registry shared by other tests, so that nobody kills it. */
export type ServicesOnSharedRegistry = Omit<ClusterServices, 'registry'> & {
  readonly registry: { readonly url: string };
};

/**
 * Starts empty Kafka, FerretDB and registry servers, by default with one broker. For one cluster, because topics have
 * fixed names.
 */
export async function startClusterServices(options: { readonly kafka?: KafkaOptions } = {}): Promise<ClusterServices> {
  const [kafka, mongodb, registry] = await startAll(startKafka(options.kafka), startFerretDb(), startRegistry());
  return { kafka, mongodb, registry, stop: () => stopAll([kafka, mongodb, registry]) };
}

/** Starts Kafka and FerretDB, both empty, beside a registry that runs already. */
export async function startServicesBeside(registry: { readonly url: string }): Promise<ServicesOnSharedRegistry> {
  const [kafka, mongodb] = await startAll(startKafka(), startFerretDb());
  return { kafka, mongodb, registry, stop: () => stopAll([kafka, mongodb]) };
}

type Stopped = { stop(): Promise<void> };

const stopAll = async (services: readonly Stopped[]): Promise<void> => {
  await Promise.all(services.map((service) => service.stop()));
};

/** Resolves when all have started. If one fails, the others are stopped. */
async function startAll<Services extends readonly Stopped[]>(
  ...starting: { readonly [Index in keyof Services]: Promise<Services[Index]> }
): Promise<Services> {
  const started = await Promise.allSettled<Stopped>(starting);
  const failed = started.find((service) => service.status === 'rejected');
  if (failed === undefined) return Promise.all(starting) as Promise<Services>;
  await stopAll(started.flatMap((service) => (service.status === 'fulfilled' ? [service.value] : [])));
  throw failed.reason;
}
