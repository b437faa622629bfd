import { archiveClasses } from './cache/java-classes.ts';
import { launchKafka } from './kafka/kafka.ts';
import { kafkaRelease, type KafkaVersion } from './kafka/kafka-release.ts';
import { fetchService, type ServiceName } from './needs.ts';
import { launchRegistry } from './registry/registry.ts';
import { REGISTRY_RELEASE } from './registry/registry-release.ts';
import type { Say } from './service.ts';

const prepareKafka = (version: KafkaVersion, say: Say): Promise<void> =>
  archiveClasses(kafkaRelease(version), (javaArguments) => launchKafka({ version }, javaArguments), say);

/** Downloads what is not in the cache yet, and does what makes later starts quick. */
export async function prepareService(name: ServiceName, say: Say = () => undefined): Promise<void> {
  await fetchService(name, say);
  switch (name) {
    case 'kafka':
      return prepareKafka('4.3.1', say);
    case 'kafka39':
      return prepareKafka('3.9.2', say);
    case 'registry':
      return archiveClasses(REGISTRY_RELEASE, (javaArguments) => launchRegistry({}, javaArguments), say);
    case 'debezium':
    case 'mongodb':
    case 'postgres':
      return;
  }
}
