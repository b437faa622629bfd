import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../../../../test/support/requirements.ts';
import { startCluster, startClusterServices, type Cluster, type ClusterServices } from '../../src/cluster/index.ts';
import { cli } from '../../src/product/index.ts';
import { untilFound } from '../../src/smtp/index.ts';

const TIMEOUT = 300_000;

describeWith(['kafka', 'mongodb', 'registry'], 'A cluster for tests', () => {
  let folder: string;
  let services: ClusterServices;
  let cluster: Cluster;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'cluster-'));
    services = await startClusterServices();
    cluster = await startCluster({ services, dataDir: join(folder, 'data'), members: { engine: 2 } });
  }, TIMEOUT);
  afterAll(async () => {
    await cluster?.stop();
    await services?.stop();
    await rm(folder, { recursive: true, force: true });
  }, TIMEOUT);

  /** A busy machine may keep a member from being ready for a moment. */
  const isReady = (url: string): Promise<true> =>
    untilFound(`${url} is ready`, async () => (await fetch(`${url}/readyz`)).ok || undefined);

  it('a cluster has a process for every member, each ready at its address, and obeys commands', async () => {
    expect(cluster.members.map(({ name }) => name)).toEqual([
      'control 1',
      'gateway 1',
      'engine 1',
      'engine 2',
      'delivery 1',
    ]);
    expect(new Set(cluster.members.map(({ pid }) => pid)).size).toBe(5);
    await isReady(cluster.gatewayUrl);
    const answer = await fetch(`${cluster.controlUrl}/v1/status`, {
      headers: { authorization: `Bearer ${cluster.token}` },
    });
    expect(await answer.json()).toMatchObject({ backend: 'cluster', events_url: `${cluster.gatewayUrl}/events` });
    const letters = await cli(['dead-letters', '--json'], { dataDir: cluster.dataDir });
    expect(letters.code).toBe(0);
    expect(JSON.parse(letters.stdout)).toEqual({ items: [], next: null });
  });

  it(
    'a cluster restarts a killed member at the same address, and adds another',
    async () => {
      const [gateway] = cluster.of('gateway');
      await gateway?.kill();
      await expect(fetch(cluster.gatewayUrl)).rejects.toThrow('fetch failed');
      await gateway?.restart();
      await isReady(cluster.gatewayUrl);
      const third = await cluster.join('engine');
      expect(third.name).toBe('engine 3');
      await isReady(third.address);
    },
    TIMEOUT,
  );

  it('a cluster pauses a member without ending it', async () => {
    const [engine] = cluster.of('engine');
    await engine?.kill('SIGSTOP');
    await expect(fetch(`${engine?.address}/livez`, { signal: AbortSignal.timeout(500) })).rejects.toThrow(/timeout/);
    await engine?.kill('SIGCONT');
    expect((await fetch(`${engine?.address}/livez`)).ok).toBe(true);
  });
});
