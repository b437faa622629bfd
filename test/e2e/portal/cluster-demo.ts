import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startCluster, startClusterServices, type Cluster, type ClusterServices } from '@carillon/testing/cluster';
import { demoFiles } from './demo-files.ts';
import { demoAt, type RestartedDemo } from './support.ts';

/** The same product as roles of their own on Kafka and MongoDB, with the demo; what is killed is the role that serves the portal. */
export async function startClusterDemo(): Promise<RestartedDemo> {
  const folder = await mkdtemp(join(tmpdir(), 'carillon-portal-cluster-'));
  let services: ClusterServices | undefined;
  let cluster: Cluster | undefined;
  const stop = async (): Promise<void> => {
    await cluster?.stop();
    await services?.stop();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    services = await startClusterServices();
    const env = { CARILLON_ALLOWED_PRIVATE_ADDRESSES: '127.0.0.1' };
    cluster = await startCluster({ services, dataDir: join(folder, 'carillon-data'), env });
    const { controlUrl: control, gatewayUrl: gateway, token } = cluster;
    const [member] = cluster.of('control');
    if (!member) throw new Error('a cluster has a control role');
    const demo = demoAt({ control, gateway }, token);
    await demo.makeKey('shop', 'backend');
    await demo.apply(demoFiles());
    const { word } = await demo.ask<{ word: string }>('/v1/owner-links', {});
    return {
      ...demo,
      welcome: word,
      stop,
      kill: () => member.kill(),
      comeBack: () => member.restart(),
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
