import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startProduct } from '@carillon/testing';
import { startCluster, type Cluster, type ClusterServices } from '@carillon/testing/cluster';
import { countIds } from '../peers/topic.ts';
import { configure, countEmbedded, processesOf, STREAM_PATH, streamFiles, type Files } from '../product.ts';
import type { HttpTarget } from './target.ts';

/** A mail server on loopback may be sent to. */
const SINK_IS_NEAR = { CARILLON_ALLOWED_PRIVATE_ADDRESSES: '127.0.0.1' };

const scratch = (): Promise<string> => mkdtemp(join(tmpdir(), 'carillon-bench-'));

/** `carillon run gateway` on a cluster. The other roles do not run: control made the configuration and was ended. */
export async function startGatewayOnKafka(services: ClusterServices): Promise<HttpTarget> {
  const dataDir = await scratch();
  const cluster = await startCluster({ services, dataDir, members: { engine: 0, delivery: 0 } });
  const headers = await configure(cluster, streamFiles);
  for (const control of cluster.of('control')) await control.stop();
  return targetOf(cluster, services, headers);
}

/** Environment of the product, beside what it needs. */
type Environment = Readonly<Record<string, string>>;

/** All roles on a cluster, one process each. */
export async function startRolesOnKafka(
  services: ClusterServices,
  files: Files,
  env: Environment = {},
): Promise<HttpTarget> {
  const dataDir = await scratch();
  const cluster = await startCluster({ services, dataDir, env: { ...SINK_IS_NEAR, ...env } });
  return targetOf(cluster, services, await configure(cluster, files));
}

function targetOf(cluster: Cluster, services: ClusterServices, headers: Readonly<Record<string, string>>): HttpTarget {
  return {
    url: `${cluster.gatewayUrl}${STREAM_PATH}`,
    headers,
    processes: processesOf(cluster),
    stored: () => countIds(services.kafka.brokers, 'carillon.events', ({ header }) => header('event_id')),
    async stop() {
      await cluster.stop();
      await rm(cluster.dataDir, { recursive: true, force: true });
    },
  };
}

/** `carillon up` on the embedded backend: all roles in one process, over one file. */
export async function startUpEmbedded(files: Files = streamFiles, env: Environment = {}): Promise<HttpTarget> {
  const dataDir = await scratch();
  const product = await startProduct({ dataDir, cwd: dataDir, env: { ...SINK_IS_NEAR, ...env } });
  const headers = await configure(product, files);
  return {
    url: `${product.gatewayUrl}${STREAM_PATH}`,
    headers,
    processes: { carillon: product.pid },
    async stored() {
      // One process at a time may have the folder.
      await product.kill('SIGTERM');
      return countEmbedded(dataDir);
    },
    async stop() {
      await product.kill('SIGTERM');
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
