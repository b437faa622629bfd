import { startServicesBeside } from '@carillon/testing/cluster';
import { expect, it } from 'vitest';
import { sharedServer } from '../../support/shared-servers.ts';
import { runClusterCrashes } from './crash-run.ts';
import { killAtRandom } from './faults.ts';
import { describeOnCluster, expectGreen } from './with-services.ts';

const EVENTS = 96;
const KILLS = 3;
const seed = Number(process.env['CRASH_SEED'] ?? Math.floor(Math.random() * 1_000_000));

/** The same at size, with rebalances, processes held still and three brokers: crash.proof.test.ts. */
describeOnCluster(
  'Roles as processes on one broker',
  async () => startServicesBeside(await sharedServer('registry')),
  (services) => {
    it(`lose none of ${EVENTS} events and notify nobody twice: ${KILLS} kills of roles, broker and database (CRASH_SEED=${seed})`, async () => {
      const report = await runClusterCrashes({
        services: services(),
        database: 'crash',
        seed,
        events: EVENTS,
        // As long as the kills last, so that most of them meet work.
        rate: 8,
        mixture: { firing: 0.4 },
        members: {},
        faults: (site) => killAtRandom(site, KILLS),
      });
      expectGreen(report, `crash test on a cluster, seed ${seed}:`);
      const { figures } = report;
      expect(figures['acknowledged']).toBe(EVENTS);
      expect(figures['kills']).toBe(KILLS);
      expect(figures['lookups']).toBeGreaterThan(0);
      expect(figures['changes']).toBeGreaterThan(0);
    }, 600_000);
  },
);
