import { once } from 'node:events';
import { rm, writeFile } from 'node:fs/promises';
import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import { join } from 'node:path';
import { ensureCached } from '../cache/cache-entry.ts';
import { sharedClasses } from '../cache/java-classes.ts';
import { javaProgram } from '../cache/tools.ts';
import { freePorts } from '../process/free-ports.ts';
import { createServiceFolder } from '../process/service-folder.ts';
import { ServiceProcess } from '../process/service-process.ts';
import type { Say, Service } from '../service.ts';
import { REGISTRY_RELEASE, registryJar } from './registry-release.ts';

export type RegistryOptions = {
  /** It is reached by TLS alone, with this certificate (PEM, for `localhost`). */
  readonly security?: { readonly cert: string; readonly key: string };
  /** Hears of a download. */
  readonly say?: Say;
};

export type RegistryService = Service & {
  /** The address of the interface that Confluent's clients speak, without a slash at the end. */
  readonly url: string;
  readonly pid: number;
};

const HEAP = ['-Xms64m', '-Xmx256m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'];

async function securedBy(
  { cert, key }: { readonly cert: string; readonly key: string },
  port: number,
  folder: string,
): Promise<readonly string[]> {
  await writeFile(join(folder, 'cert.pem'), cert);
  await writeFile(join(folder, 'key.pem'), key, { mode: 0o600 });
  return [
    '-Dquarkus.http.insecure-requests=disabled',
    `-Dquarkus.http.ssl-port=${port}`,
    `-Dquarkus.http.ssl.certificate.files=${join(folder, 'cert.pem')}`,
    `-Dquarkus.http.ssl.certificate.key-files=${join(folder, 'key.pem')}`,
  ];
}

/** Whether that address answers 200. `fetch` trusts no certificate that is given to it. */
export async function answersWell(url: string, ca?: string): Promise<boolean> {
  const asked = ca ? https.get(url, { ca, timeout: 2000 }) : http.get(url, { timeout: 2000 });
  asked.once('timeout', () => asked.destroy(new Error('no answer')));
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  answer.resume();
  return answer.statusCode === 200;
}

/** As `startRegistry`, with further arguments for Java. */
export async function launchRegistry(
  { say, security }: RegistryOptions,
  javaArguments: readonly string[],
): Promise<RegistryService> {
  const folder = await ensureCached(REGISTRY_RELEASE, say);
  const dataDir = await createServiceFolder('registry');
  const [port = 0] = await freePorts(1);
  const url = `${security ? 'https://localhost' : 'http://127.0.0.1'}:${port}/apis/ccompat/v7`;
  const settings = [
    '-Dquarkus.http.host=127.0.0.1',
    ...(security ? await securedBy(security, port, dataDir) : [`-Dquarkus.http.port=${port}`]),
    // In memory it would forget its schemas when it is killed; and each write is on disk before its answer.
    `-Dquarkus.datasource.jdbc.url=jdbc:h2:file:${join(dataDir, 'schemas')};WRITE_DELAY=0`,
    '-Dquarkus.datasource.jdbc.initial-size=2',
    '-Dquarkus.datasource.jdbc.min-size=2',
  ];
  const registry = new ServiceProcess({
    name: 'Apicurio Registry',
    launch: {
      command: javaProgram() ?? 'java',
      args: [...HEAP, ...javaArguments, ...settings, '-jar', registryJar(folder)],
      log: join(dataDir, 'registry.log'),
      cwd: dataDir,
    },
    isReady: () => answersWell(`${url}/subjects`, security?.cert),
  });
  const stop = async (): Promise<void> => {
    await registry.stop();
    await rm(dataDir, { recursive: true, force: true });
  };
  try {
    await registry.start();
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    url,
    dataDir,
    get pid() {
      return registry.pid;
    },
    stop,
    kill: (signal) => registry.kill(signal),
    restart: () => registry.restart(),
  };
}

/** Apicurio Registry on a free port of the loopback interface. It has no rule of its own: clients say what is compatible. */
export const startRegistry = (options: RegistryOptions = {}): Promise<RegistryService> =>
  launchRegistry(options, sharedClasses(REGISTRY_RELEASE));
