import { ensureCached, isCached, type CacheEntry } from './cache/cache-entry.ts';
import { hasTool, type Tool } from './cache/tools.ts';
import { CONNECT_RELEASE } from './connect/connect-release.ts';
import { kafkaRelease } from './kafka/kafka-release.ts';
import { FERRETDB_RELEASE } from './mongodb/ferretdb-release.ts';
import { givenMongoDbUrl } from './mongodb/mongodb-url.ts';
import { DOCUMENTDB_RELEASE, POSTGRES_15_RELEASE } from './postgres/postgres-release.ts';
import { REGISTRY_RELEASE } from './registry/registry-release.ts';
import type { Say } from './service.ts';

export { cacheFolder } from './cache/cache-folder.ts';
export { findProgram, TOOLS, type Tool } from './cache/tools.ts';

/** Requirements of a service, without the clients that start it, so that each test run can check them quickly. */
type Needs = {
  readonly title: string;
  readonly entries: readonly CacheEntry[];
  readonly toRun: readonly Tool[];
  readonly toFetch: readonly Tool[];
};

const KAFKA_TOOLS = { toRun: ['java'], toFetch: ['mvn', 'flock'] } as const;

const DEBIAN_TOOLS = {
  toRun: [],
  toFetch: ['apt-get', 'dpkg-deb', 'debian-archive-keyring', 'flock'],
} as const;

const NEEDS = {
  kafka: { title: 'Apache Kafka 4.3.1', entries: [kafkaRelease('4.3.1')], ...KAFKA_TOOLS },
  kafka39: { title: 'Apache Kafka 3.9.2', entries: [kafkaRelease('3.9.2')], ...KAFKA_TOOLS },
  mongodb: {
    title: 'FerretDB 2.7.0 on PostgreSQL 18 (the protocol of MongoDB)',
    entries: [DOCUMENTDB_RELEASE, FERRETDB_RELEASE],
    ...DEBIAN_TOOLS,
  },
  postgres: { title: 'PostgreSQL 15', entries: [POSTGRES_15_RELEASE], ...DEBIAN_TOOLS },
  registry: {
    title: 'Apicurio Registry 2.6.13',
    entries: [REGISTRY_RELEASE],
    toRun: ['java'],
    toFetch: ['mvn', 'tar', 'flock'],
  },
  debezium: {
    title: 'Kafka Connect 4.3.1 with Debezium 3.6.1',
    entries: [kafkaRelease('4.3.1'), CONNECT_RELEASE],
    toRun: ['java'],
    toFetch: ['mvn', 'tar', 'flock'],
  },
} as const satisfies Readonly<Record<string, Needs>>;

export type ServiceName = keyof typeof NEEDS;
export const SERVICE_NAMES = Object.keys(NEEDS) as readonly ServiceName[];
export const isServiceName = (name: string): name is ServiceName => Object.hasOwn(NEEDS, name);

const needsOf = (name: ServiceName): Needs => NEEDS[name];

export const titleOf = (name: ServiceName): string => needsOf(name).title;

/** Whether all of it is in the cache. */
export const isFetched = (name: ServiceName): boolean => needsOf(name).entries.every((entry) => isCached(entry));

/** The programs of the machine that are still needed to run it; to fetch it, too, where it is not in the cache. */
export function lackingTools(name: ServiceName): readonly Tool[] {
  const { toRun, toFetch } = needsOf(name);
  return [...toRun, ...(isFetched(name) ? [] : toFetch)].filter((tool) => !hasTool(tool));
}

/** Whether a test can start it without a download; a MongoDB that is given needs none. */
export function canStart(name: ServiceName): boolean {
  if (name === 'mongodb' && givenMongoDbUrl() !== undefined) return true;
  return isFetched(name) && lackingTools(name).length === 0;
}

/** Downloads what is not in the cache yet. */
export async function fetchService(name: ServiceName, say?: Say): Promise<void> {
  for (const entry of needsOf(name).entries) await ensureCached(entry, say);
}
