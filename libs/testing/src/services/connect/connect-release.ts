import { cp, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ensureCached, type CacheEntry } from '../cache/cache-entry.ts';
import { copyArtifact, copyJars, verifyChecksums, type Coordinates } from '../cache/maven.ts';
import { KAFKA_LOGGING } from '../kafka/kafka-release.ts';
import { runCommand } from '../process/run-command.ts';
import type { Say } from '../service.ts';

const KAFKA = '4.3.1';
const DEBEZIUM = '3.6.1.Final';
/** The release of the registry of the tests. */
const CONVERTER = '2.6.13.Final';

const pins = (name: string): string => join(import.meta.dirname, `${name}.sha256`);

/** Connect, a logger for it, and the converter to Avro. The converter alone would bring a `jackson-core` that is too old for Connect. */
const JARS: readonly Coordinates[] = [
  `org.apache.kafka:connect-runtime:${KAFKA}`,
  'com.fasterxml.jackson.core:jackson-core:2.21.2',
  'org.apache.logging.log4j:log4j-slf4j-impl:2.25.5',
  `io.apicurio:apicurio-registry-utils-converter:${CONVERTER}`,
];

/** Kafka Connect with Debezium's connector for PostgreSQL, and a converter to Avro. */
export const CONNECT_RELEASE: CacheEntry = {
  name: `connect-${KAFKA}-debezium-${DEBEZIUM}-1`,
  title: `Kafka Connect ${KAFKA} with Debezium ${DEBEZIUM}`,
  async build(workplace) {
    const { downloads, out, log, say } = workplace;
    say('downloading from Maven Central, about 85 MB');
    const jars = join(downloads, 'jars');
    await rm(jars, { recursive: true, force: true });
    await copyJars(workplace, JARS, jars);
    await verifyChecksums(jars, pins(`connect-${KAFKA}`));
    await cp(jars, join(out, 'lib'), { recursive: true });
    await mkdir(join(out, 'plugins'));
    const arrived = join(downloads, 'debezium');
    await rm(arrived, { recursive: true, force: true });
    await copyArtifact(workplace, `io.debezium:debezium-connector-postgres:${DEBEZIUM}:tar.gz:plugin`, arrived);
    await verifyChecksums(arrived, pins(`debezium-${DEBEZIUM}`));
    const archive = join(arrived, `debezium-connector-postgres-${DEBEZIUM}-plugin.tar.gz`);
    await runCommand({
      command: 'tar',
      args: ['-xzf', archive, '--no-same-owner', '-C', join(out, 'plugins')],
      log,
    });
    await writeFile(join(out, KAFKA_LOGGING.file), KAFKA_LOGGING.text);
  },
};

export type ConnectFiles = {
  /** Arguments of `java` before the main class. */
  readonly javaArguments: readonly string[];
  /** Folder of connectors and converters, one folder each. */
  readonly plugins: string;
};

/** Returns the files that Connect is started with. Downloads them first if the cache lacks them. */
export async function connectFiles(say?: Say): Promise<ConnectFiles> {
  const folder = await ensureCached(CONNECT_RELEASE, say);
  const lib = join(folder, 'lib');
  const jars = (await readdir(lib)).toSorted().map((name) => join(lib, name));
  return {
    javaArguments: [`${KAFKA_LOGGING.option}${join(folder, KAFKA_LOGGING.file)}`, '-cp', jars.join(':')],
    plugins: join(folder, 'plugins'),
  };
}
