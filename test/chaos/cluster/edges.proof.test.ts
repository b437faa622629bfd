import { startClusterServices, type ClusterServices } from '@carillon/testing/cluster';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../../support/requirements.ts';
import { runClusterEdges } from './edges-run.ts';

const START_TIMEOUT = 120_000;
const seed = Number(process.env['CRASH_SEED'] ?? Math.floor(Math.random() * 1_000_000));

describeWith(['kafka', 'mongodb', 'registry'], 'Roles as processes', () => {
  let services: ClusterServices;
  beforeAll(async () => {
    services = await startClusterServices();
  }, START_TIMEOUT);
  afterAll(() => services?.stop(), START_TIMEOUT);

  it(`whose every edge is cut and late lose nothing and tell nobody twice (CRASH_SEED=${seed})`, async () => {
    const { findings, deaths, figures, logs } = await runClusterEdges(services, 'edges', seed);
    console.log(`edges on a cluster, seed ${seed}:`, figures);
    expect(findings, logs).toEqual([]);
    expect(deaths).toEqual([]);
    expect(figures['edges']).toBe(6);
    expect(figures['mailsReset']).toBeGreaterThan(0);
  }, 900_000);
});
