import { startClusterServices } from '@carillon/testing/cluster';
import { expect, it } from 'vitest';
import { runClusterCrashes } from './crash-run.ts';
import { everything, killLeader } from './faults.ts';
import { describeOnCluster, expectGreen } from './with-services.ts';

const events = Number(process.env['CRASH_EVENTS'] ?? 10_000);
const kills = Number(process.env['CRASH_KILLS'] ?? 30);
const firing = Number(process.env['CRASH_FIRING'] ?? 0.4);
const seed = Number(process.env['CRASH_SEED'] ?? Math.floor(Math.random() * 1_000_000));

const NAME = `crash test on a cluster, seed ${seed}:`;
const EACH_KILL = 6_000;
const EACH_EVENT = 100;

describeOnCluster('Roles as processes on one broker', startClusterServices, (services) => {
  it(
    `lose none of ${events} events and notify nobody twice: ${kills} kills of any process, paused processes, a storm of rebalances (CRASH_SEED=${seed})`,
    async () => {
      const report = await runClusterCrashes({
        services: services(),
        database: 'crash',
        seed,
        events,
        // As the faults last, so that events come all the while.
        rate: events / ((kills * EACH_KILL) / 2_400 + 60),
        mixture: { firing },
        faults: (site) => everything(site, kills),
      });
      expectGreen(report, NAME);
      // A run that interrupted nothing would show nothing.
      const { figures } = report;
      expect(figures['acknowledged']).toBe(events);
      expect(figures['kills']).toBe(kills);
      expect(figures['joinsAndLeaves']).toBe(40);
      expect(figures['requestsCut']).toBeGreaterThan(0);
      expect(report.showsTooLittle).toBeNull();
      expect(figures['duplicates']).toBeGreaterThan(0);
      expect(figures['lookups']).toBeGreaterThan(0);
      expect(figures['changes']).toBeGreaterThan(0);
    },
    300_000 + kills * EACH_KILL + events * EACH_EVENT,
  );
});

describeOnCluster(
  'Roles as processes on three brokers',
  () => startClusterServices({ kafka: { nodes: 3 } }),
  (services) => {
    it('lose no event when a partition leader is killed during intake, and continue without it', async () => {
      let takenWithout = 0;
      const report = await runClusterCrashes({
        services: services(),
        database: 'crash',
        seed,
        events: 1_000,
        rate: 40,
        mixture: { firing },
        members: {},
        faults: async (site) => {
          takenWithout = await killLeader(site, 'carillon.events', 10_000);
        },
      });
      expectGreen(report, NAME);
      expect(report.figures['acknowledged']).toBe(1_000);
      expect(takenWithout).toBeGreaterThan(10);
    }, 600_000);
  },
);
