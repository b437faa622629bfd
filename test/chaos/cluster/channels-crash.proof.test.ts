import { startClusterServices } from '@carillon/testing/cluster';
import { expect, it } from 'vitest';
import { runClusterCrashes } from './crash-run.ts';
import { killAtRandom } from './faults.ts';
import { describeOnCluster, expectGreen } from './with-services.ts';

const EVENTS = 400;
const KILLS = 8;
/** Events in a second: so many that clients post until the last kill. */
const RATE = 10;
const seed = Number(process.env['CRASH_SEED'] ?? Math.floor(Math.random() * 1_000_000));

describeOnCluster('Roles as processes, sending email, SMS and push', startClusterServices, (services) => {
  it(`lose none of ${EVENTS} events and notify nobody twice on any channel: ${KILLS} kills (CRASH_SEED=${seed})`, async () => {
    const report = await runClusterCrashes({
      services: services(),
      database: 'crash-on-channels',
      seed,
      events: EVENTS,
      rate: RATE,
      mixture: { firing: 0.6, elsewhere: 0.3 },
      faults: (site) => killAtRandom(site, KILLS),
    });
    expectGreen(report, `crash test on a cluster, three channels, seed ${seed}:`);
    const { figures } = report;
    // A run that interrupted nothing, or left a channel out, would show nothing.
    expect(figures['acknowledged']).toBe(EVENTS);
    expect(figures['kills']).toBe(KILLS);
    expect(report.showsTooLittle).toBeNull();
    for (const what of ['texted', 'pushed', 'reported', 'killsAtWork']) {
      expect(figures[what], what).toBeGreaterThan(0);
    }
    const { messages = 0, texted = 0, pushed = 0 } = figures;
    expect(messages - texted - pushed, 'mailed').toBeGreaterThan(0);
  }, 900_000);
});
