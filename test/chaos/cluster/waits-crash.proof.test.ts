import { startClusterServices } from '@carillon/testing/cluster';
import { expect, it } from 'vitest';
import { runClusterWaits } from './waits-run.ts';
import { describeOnCluster } from './with-services.ts';

const orders = Number(process.env['WAITS_ORDERS'] ?? 5_000);
const kills = Number(process.env['WAITS_KILLS'] ?? 20);
const seed = Number(process.env['WAITS_SEED'] ?? Math.floor(Math.random() * 1_000_000));

describeOnCluster('Rules that wait and count, on a cluster', startClusterServices, (services) => {
  it(`notify once for each deadline and each count of ${orders} orders, while engines, broker and stores are killed (WAITS_SEED=${seed})`, async () => {
    const report = await runClusterWaits({ services: services(), database: 'waits', seed, orders, kills });
    const { findings, figures, intents, verified, deaths, story, ...counts } = report;
    console.log(`waits on a cluster, seed ${seed}:`, { ...counts, ...figures });
    expect(findings, story).toEqual([]);
    expect(intents.appended.size).toBe(counts.owed);
    expect(intents.again).toEqual(intents.appended);
    expect(verified.wrong).toEqual([]);
    expect(verified.counts).toMatchObject({ same: counts.owed, cold: 0, wouldWait: 0 });
    expect(deaths, story).toEqual([]);
    // A run in which little waited, or nothing was interrupted, would show nothing.
    expect(figures.kills + figures.failpoints).toBeGreaterThanOrEqual(kills);
    expect(figures.holds).toBe(2);
    expect(counts.owed).toBeGreaterThan(orders / 3);
    expect(counts.counted).toBeGreaterThan(orders / 50);
    expect(counts.inDoubt).toBeLessThan(counts.owed / 10);
  }, 1_200_000);
});
