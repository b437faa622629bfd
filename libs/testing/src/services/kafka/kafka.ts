import { randomBytes } from 'node:crypto';
import { chmod, cp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Kafka, logLevel } from 'kafkajs';
import { sharedClasses } from '../cache/java-classes.ts';
import { javaProgram } from '../cache/tools.ts';
import { freePorts } from '../process/free-ports.ts';
import { runCommand } from '../process/run-command.ts';
import { createServiceFolder } from '../process/service-folder.ts';
import { ServiceProcess } from '../process/service-process.ts';
import type { Say, Service, ServicePart } from '../service.ts';
import { brokerProperties, type BrokerSettings, type NodeAddress } from './broker-properties.ts';
import { readQuota } from './client-quota.ts';
import { kafkaFiles, kafkaRelease, TEMPLATE_CLUSTER_ID, type KafkaFiles, type KafkaVersion } from './kafka-release.ts';
import { scramPassword, SECURED_HOST, type KafkaSecurity } from './secured-listener.ts';

export type KafkaOptions = {
  /** 4.3.1 unless told. */
  readonly version?: KafkaVersion;
  /** 1 unless told. */
  readonly nodes?: 1 | 3;
  /** Properties to add or override on each node. */
  readonly properties?: Readonly<Record<string, string>>;
  /** Adds a second listener, with TLS and SASL. */
  readonly security?: KafkaSecurity;
  /** Bytes per second that each broker sends to a client, by client id. */
  readonly readQuotas?: Readonly<Record<string, number>>;
  /** Added to those of the tests, such as another heap. */
  readonly javaArguments?: readonly string[];
  /** Hears of a download. */
  readonly say?: Say;
};

export type KafkaNode = ServicePart & { readonly id: number; readonly broker: string };

export type KafkaService = Service & {
  readonly version: KafkaVersion;
  /** `host:port` of each node, in the order of their ids, which begin at 1. */
  readonly brokers: readonly string[];
  /** The same for the listener with TLS and a password; empty without `security`. */
  readonly securedBrokers: readonly string[];
  /** To kill one of three. */
  readonly nodes: readonly KafkaNode[];
};

const HEAP = ['-Xms64m', '-Xmx256m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'];

/** The ids of the brokers that this one knows as alive. */
export async function livingBrokers(broker: string): Promise<readonly number[]> {
  const client = new Kafka({
    clientId: 'carillon-services',
    brokers: [broker],
    logLevel: logLevel.NOTHING,
    connectionTimeout: 1000,
    requestTimeout: 2000,
    retry: { retries: 0 },
  });
  const admin = client.admin();
  try {
    await admin.connect();
    return (await admin.describeCluster()).brokers.map(({ nodeId }) => nodeId);
  } finally {
    await admin.disconnect();
  }
}

/**
 * Waits until each broker knows all others, because before that a client may be directed to an uninitialized broker.
 */
async function untilAllKnowAll(brokers: readonly string[], within = 120_000): Promise<void> {
  for (const deadline = Date.now() + within; ; await pause(50)) {
    const known = await Promise.all(brokers.map((broker) => livingBrokers(broker).catch(() => [])));
    if (known.every(({ length }) => length === brokers.length)) return;
    if (Date.now() > deadline) throw new Error(`not within ${within} ms: all of ${brokers.join(', ')} know each other`);
  }
}

async function prepareNode(
  files: KafkaFiles,
  node: NodeAddress,
  given: { readonly all: readonly NodeAddress[]; readonly dataDir: string; readonly clusterId: string },
  settings: BrokerSettings,
  javaArguments: readonly string[],
): Promise<ServiceProcess> {
  const folder = join(given.dataDir, `node-${node.id}`);
  await cp(files.formatted(node.id), folder, { recursive: true });
  const identity = join(folder, 'meta.properties');
  await chmod(identity, 0o644);
  const template = await readFile(identity, 'utf8');
  await writeFile(identity, template.replace(TEMPLATE_CLUSTER_ID, given.clusterId));
  const configuration = join(given.dataDir, `node-${node.id}.properties`);
  await writeFile(configuration, brokerProperties(node, given.all, folder, settings));
  return new ServiceProcess({
    name: `Kafka node ${node.id}`,
    launch: {
      command: javaProgram() ?? 'java',
      args: [...HEAP, ...javaArguments, ...files.javaArguments, 'kafka.Kafka', configuration],
      log: join(given.dataDir, `node-${node.id}.log`),
    },
    isReady: async () => (await livingBrokers(`127.0.0.1:${node.broker}`)).includes(node.id),
  });
}

const partOf = (process: ServiceProcess, address: NodeAddress): KafkaNode => ({
  id: address.id,
  broker: `127.0.0.1:${address.broker}`,
  name: process.name,
  get pid() {
    return process.pid;
  },
  get running() {
    return process.running;
  },
  kill: (signal) => process.kill(signal),
  restart: () => process.restart(),
});

/** As `startKafka`, with further arguments for Java. */
export async function launchKafka(options: KafkaOptions, javaArguments: readonly string[]): Promise<KafkaService> {
  const { version = '4.3.1', nodes = 1 } = options;
  const files = await kafkaFiles(version, options.say);
  const dataDir = await createServiceFolder('kafka');
  const ports = await freePorts(nodes * 3);
  const all = Array.from({ length: nodes }, (_, index) => ({
    id: index + 1,
    broker: ports[index * 3] ?? 0,
    controller: ports[index * 3 + 1] ?? 0,
    secured: ports[index * 3 + 2] ?? 0,
  }));
  // 22 characters; the last may carry only what fits into 128 bits.
  const clusterId = randomBytes(16).toString('base64url').replace(/^-/, 'A');
  const processes = await Promise.all(
    all.map((node) => prepareNode(files, node, { all, dataDir, clusterId }, options, javaArguments)),
  );
  const brokers = all.map(({ broker }) => `127.0.0.1:${broker}`);
  const each = async (act: (process: ServiceProcess) => Promise<void>): Promise<void> => {
    const outcomes = await Promise.allSettled(processes.map(act));
    const failed = outcomes.find((outcome) => outcome.status === 'rejected');
    if (failed) throw failed.reason;
  };
  const stop = async (): Promise<void> => {
    await each((process) => process.stop());
    await rm(dataDir, { recursive: true, force: true });
  };
  try {
    await each((process) => process.start());
    await untilAllKnowAll(brokers);
    const [broker = ''] = brokers;
    const users = Object.entries(options.security?.users ?? {});
    const quotas = Object.entries(options.readQuotas ?? {});
    for (const command of [
      ...users.map(([user, password]) => scramPassword(broker, user, password)),
      ...quotas.map(([clientId, bytesPerSecond]) => readQuota(broker, clientId, bytesPerSecond)),
    ]) {
      await runCommand({
        command: javaProgram() ?? 'java',
        args: [...HEAP, ...files.javaArguments, ...command],
        log: join(dataDir, 'commands.log'),
      });
    }
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    version,
    dataDir,
    brokers,
    securedBrokers: options.security ? all.map(({ secured }) => `${SECURED_HOST}:${secured}`) : [],
    nodes: processes.flatMap((process, index) => (all[index] ? [partOf(process, all[index])] : [])),
    stop,
    kill: (signal) => each((process) => process.kill(signal)),
    async restart() {
      await each((process) => process.restart());
      await untilAllKnowAll(brokers);
    },
  };
}

/** Apache Kafka on free ports of the loopback interface, one node or three; ready when each answers and knows itself. */
export const startKafka = (options: KafkaOptions = {}): Promise<KafkaService> =>
  launchKafka(options, [...sharedClasses(kafkaRelease(options.version ?? '4.3.1')), ...(options.javaArguments ?? [])]);
