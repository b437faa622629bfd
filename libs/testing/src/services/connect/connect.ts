import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { javaProgram } from '../cache/tools.ts';
import { freePorts } from '../process/free-ports.ts';
import { createServiceFolder } from '../process/service-folder.ts';
import { ServiceProcess } from '../process/service-process.ts';
import type { Say, Service } from '../service.ts';
import { connectFiles } from './connect-release.ts';

type Properties = Readonly<Record<string, string>>;

export type ConnectOptions = {
  /** `host:port` of each broker. */
  readonly brokers: readonly string[];
  /** Properties of each connector, by its name. */
  readonly connectors?: Readonly<Record<string, Properties>>;
  /** Added to those of the tests, such as another heap. */
  readonly javaArguments?: readonly string[];
  /** Hears of a download. */
  readonly say?: Say;
};

export type ConnectService = Service & {
  /** The address of Connect's REST interface, without a slash at the end. */
  readonly url: string;
  readonly pid: number;
  /** The file with the offsets of all connectors, which Connect reads at its start. */
  readonly offsets: string;
  /** Connect's log. */
  readonly log: string;
};

const HEAP = ['-Xms64m', '-Xmx256m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'];

const JSON_CONVERTER = 'org.apache.kafka.connect.json.JsonConverter';

const textOf = (properties: Properties): string =>
  Object.entries(properties)
    .map(([key, value]) => `${key}=${value.replaceAll('\\', '\\\\')}\n`)
    .join('');

const workerOf = (brokers: readonly string[], plugins: string, offsets: string, url: string): Properties => ({
  'bootstrap.servers': brokers.join(','),
  listeners: url,
  'plugin.path': plugins,
  'plugin.discovery': 'service_load',
  'offset.storage.file.filename': offsets,
  'offset.flush.interval.ms': '500',
  'key.converter': JSON_CONVERTER,
  'value.converter': JSON_CONVERTER,
});

type Status = {
  readonly connector: { readonly state: string };
  readonly tasks: readonly { readonly state: string; readonly trace?: string }[];
};

/** Whether the connector and its task run. */
async function runs(url: string, name: string): Promise<boolean> {
  const answer = await fetch(`${url}/connectors/${encodeURIComponent(name)}/status`);
  if (!answer.ok) return false;
  const { connector, tasks } = (await answer.json()) as Status;
  return connector.state === 'RUNNING' && tasks.length > 0 && tasks.every(({ state }) => state === 'RUNNING');
}

/**
 * Kafka Connect, standalone, on a free port of the loopback interface, with Debezium's connector for PostgreSQL and a converter to Avro
 * by the registry of the tests. Ready when each connector and its task run.
 */
export async function startConnect({
  brokers,
  connectors = {},
  javaArguments = [],
  say,
}: ConnectOptions): Promise<ConnectService> {
  const files = await connectFiles(say);
  const dataDir = await createServiceFolder('connect');
  const [port = 0] = await freePorts(1);
  const url = `http://127.0.0.1:${port}`;
  const offsets = join(dataDir, 'offsets');
  const log = join(dataDir, 'connect.log');
  const worker = join(dataDir, 'worker.properties');
  await writeFile(worker, textOf(workerOf(brokers, files.plugins, offsets, url)));
  const names = Object.keys(connectors);
  const ofConnectors: string[] = [];
  for (const [name, properties] of Object.entries(connectors)) {
    const file = join(dataDir, `${name}.properties`);
    await writeFile(file, textOf({ name, 'tasks.max': '1', ...properties }), { mode: 0o600 });
    ofConnectors.push(file);
  }
  const main = ['org.apache.kafka.connect.cli.ConnectStandalone', worker, ...ofConnectors];
  const connect = new ServiceProcess({
    name: 'Kafka Connect',
    launch: {
      command: javaProgram() ?? 'java',
      args: [...HEAP, ...javaArguments, ...files.javaArguments, ...main],
      log,
      cwd: dataDir,
    },
    isReady: async () => {
      if (!(await fetch(url)).ok) return false;
      const running = await Promise.all(names.map((name) => runs(url, name)));
      return running.every(Boolean);
    },
  });
  const stop = async (): Promise<void> => {
    await connect.stop();
    await rm(dataDir, { recursive: true, force: true });
  };
  try {
    await connect.start();
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    url,
    dataDir,
    offsets,
    log,
    get pid() {
      return connect.pid;
    },
    stop,
    kill: (signal) => connect.kill(signal),
    restart: () => connect.restart(),
  };
}
