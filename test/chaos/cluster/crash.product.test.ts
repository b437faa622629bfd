import { startServicesBeside, type ServicesOnSharedRegistry } from '@carillon/testing/cluster';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../../support/requirements.ts';
import { sharedServer } from '../../support/shared-servers.ts';
import { runClusterCrashes } from './crash-run.ts';
import { killAtRandom } from './faults.ts';

const EVENTS = 160;
const KILLS = 5;
const seed = Number(process.env['CRASH_SEED'] ?? Math.floor(Math.random() * 1_000_000));
const START_TIMEOUT = 300_000;

/** The same at size, with rebalances, processes held still and three brokers: crash.proof.test.ts. */
describeWith(['kafka', 'mongodb', 'registry'], 'Roles as processes on one broker', () => {
  let services: ServicesOnSharedRegistry;
  beforeAll(async () => {
    services = await startServicesBeside(await sharedServer('registry'));
  }, START_TIMEOUT);
  afterAll(() => services?.stop(), START_TIMEOUT);

  it(`lose nothing of ${EVENTS} events and tell nobody twice: ${KILLS} kills of roles, broker and database (CRASH_SEED=${seed})`, async () => {
    const report = await runClusterCrashes({
      services,
      database: 'crash',
      seed,
      events: EVENTS,
      // As long as the kills last, so that most of them meet work.
      rate: 8,
      mixture: { firing: 0.4 },
      members: {},
      faults: (site) => killAtRandom(site, KILLS),
    });
    const { findings, deaths, faults, figures, logs } = report;
    console.log(`crash test on a cluster, seed ${seed}:`, figures);
    const story = faults.map(({ at, what }) => `${new Date(at).toISOString()} ${what}`).join('\n');
    expect(findings, `${story}\n${logs}`).toEqual([]);
    expect(deaths, story).toEqual([]);
    expect(figures['acknowledged']).toBe(EVENTS);
    expect(figures['kills']).toBe(KILLS);
    expect(figures['lookups']).toBeGreaterThan(0);
    expect(figures['changes']).toBeGreaterThan(0);
  }, 600_000);
});
