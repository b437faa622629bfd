import { execFile } from 'node:child_process';
import { cp, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ensureCached, type CacheEntry, type Workplace } from '../cache/cache-entry.ts';
import { copyJars, verifyChecksums, type Coordinates } from '../cache/maven.ts';
import { javaProgram } from '../cache/tools.ts';
import type { Say } from '../service.ts';
import { brokerProperties } from './broker-properties.ts';

/** The lines that Carillon is tested with: the present one, and the last that still knows ZooKeeper. */
export type KafkaVersion = '4.3.1' | '3.9.2';

/** As many as a cluster of ours may have. */
export const MAX_NODES = 3;

/** Stands in the formatted folders until a cluster gets its own. */
export const TEMPLATE_CLUSTER_ID = 'CarillonTemplateAAAAAA';

type Release = {
  readonly jars: readonly Coordinates[];
  /** The option that names the logging configuration, its file name, and what is in it. */
  readonly logging: { readonly option: string; readonly file: string; readonly text: string };
};

/** Kafka speaks slf4j 1.7 and brings no back end for it; each line has another. */
const RELEASES: Readonly<Record<KafkaVersion, Release>> = {
  '4.3.1': {
    jars: ['org.apache.kafka:kafka_2.13:4.3.1', 'org.apache.logging.log4j:log4j-slf4j-impl:2.25.5'],
    logging: {
      option: '-Dlog4j2.configurationFile=',
      file: 'log4j2.properties',
      text: `appender.out.type=Console
appender.out.name=out
appender.out.layout.type=PatternLayout
appender.out.layout.pattern=%d %p %m (%c)%n
rootLogger.level=warn
rootLogger.appenderRef.out.ref=out
`,
    },
  },
  '3.9.2': {
    jars: ['org.apache.kafka:kafka_2.13:3.9.2', 'org.slf4j:slf4j-reload4j:1.7.36'],
    logging: {
      option: '-Dlog4j.configuration=file:',
      file: 'log4j.properties',
      text: `log4j.rootLogger=WARN, out
log4j.appender.out=org.apache.log4j.ConsoleAppender
log4j.appender.out.layout=org.apache.log4j.PatternLayout
log4j.appender.out.layout.ConversionPattern=%d %p %m (%c)%n
`,
    },
  },
};

/** Logging of the present line, also for Kafka Connect. */
export const KAFKA_LOGGING = RELEASES['4.3.1'].logging;

export type KafkaFiles = {
  /** Arguments of `java` before the main class. */
  readonly javaArguments: readonly string[];
  /** A folder that is formatted for the node with this number, to be copied. */
  formatted(node: number): string;
};

const jarsOf = (folder: string): string => join(folder, 'lib');
const formattedIn = (folder: string, node: number): string => join(folder, `formatted-${node}`);

/** Formatting takes a Java of its own, longer than half of what a broker takes to start. So it is done once, here. */
async function format({ out, downloads }: Workplace, node: number): Promise<void> {
  const properties = join(downloads, `node-${node}.properties`);
  const ports = { broker: 1, controller: 2 };
  const nodes = Array.from({ length: MAX_NODES }, (_, index) => ({ id: index + 1, ...ports }));
  await mkdir(formattedIn(out, node), { recursive: true });
  await writeFile(properties, brokerProperties({ id: node, ...ports }, nodes, formattedIn(out, node)));
  const tool = ['kafka.tools.StorageTool', 'format', '--cluster-id', TEMPLATE_CLUSTER_ID, '--config', properties];
  await promisify(execFile)(javaProgram() ?? 'java', ['-Xshare:auto', '-cp', `${jarsOf(out)}/*`, ...tool]);
}

const pinsOf = (version: KafkaVersion): string => join(import.meta.dirname, `kafka-${version}.sha256`);

/** Apache Kafka of that version: its jars from Maven Central, and formatted folders. */
export const kafkaRelease = (version: KafkaVersion): CacheEntry => ({
  name: `kafka-${version}-1`,
  title: `Kafka ${version}`,
  async build(workplace) {
    const { say, downloads, out } = workplace;
    const { jars, logging } = RELEASES[version];
    say('downloading from Maven Central, about 45 MB');
    const arrived = join(downloads, 'lib');
    await rm(arrived, { recursive: true, force: true });
    await copyJars(workplace, jars, arrived);
    await verifyChecksums(arrived, pinsOf(version));
    await cp(arrived, jarsOf(out), { recursive: true });
    await writeFile(join(out, logging.file), logging.text);
    say('preparing data folders');
    for (let node = 1; node <= MAX_NODES; node += 1) await format(workplace, node);
  },
});

/** Returns the files to start a broker, and downloads missing ones. */
export async function kafkaFiles(version: KafkaVersion, say?: Say): Promise<KafkaFiles> {
  const folder = await ensureCached(kafkaRelease(version), say);
  const { logging } = RELEASES[version];
  const jars = (await readdir(jarsOf(folder))).toSorted().map((name) => join(jarsOf(folder), name));
  return {
    javaArguments: [`${logging.option}${join(folder, logging.file)}`, '-cp', jars.join(':')],
    formatted: (node) => formattedIn(folder, node),
  };
}
