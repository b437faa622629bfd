import { startClusterServices } from '@carillon/testing/cluster';
import { expect, it } from 'vitest';
import { runClusterEdges } from './edges-run.ts';
import { describeOnCluster, expectGreen } from './with-services.ts';

const seed = Number(process.env['CRASH_SEED'] ?? Math.floor(Math.random() * 1_000_000));

describeOnCluster('Roles as processes', startClusterServices, (services) => {
  it(`lose nothing and notify nobody twice with every connection cut and delayed (CRASH_SEED=${seed})`, async () => {
    const report = await runClusterEdges(services(), 'edges', seed);
    expectGreen(report, `edges on a cluster, seed ${seed}:`);
    const { figures } = report;
    expect(figures['edges']).toBe(6);
    expect(figures['mailsReset']).toBeGreaterThan(0);
  }, 900_000);
});
