import { expect, it } from 'vitest';
import { runWaits } from './waits-run.ts';

const orders = Number(process.env['WAITS_ORDERS'] ?? 5_000);
const seed = Number(process.env['WAITS_SEED'] ?? Math.floor(Math.random() * 1_000_000));
/** A process that comes back after its leases have ended. */
const stops = new Set([2, 5]);

it(`Rules that wait and count for ${orders} orders, killed while events come, notify once for each deadline that passed and each count (WAITS_SEED=${seed})`, async () => {
  const { findings, figures, stderr, intents, verified, ...counts } = await runWaits({ seed, orders, stops });
  console.log(`waits, seed ${seed}:`, { ...counts, ...figures });
  expect(findings, stderr).toEqual([]);
  expect(intents.appended.size).toBe(counts.owed);
  expect(intents.again).toEqual(intents.appended);
  expect(verified.wrong).toEqual([]);
  expect(verified.counts).toMatchObject({ same: counts.owed, cold: 0, wouldWait: 0 });
  // A run in which little waited, or nothing was interrupted, would show nothing.
  expect(figures.kills).toBeGreaterThan(4);
  expect(figures.stops).toBe(stops.size);
  expect(counts.owed).toBeGreaterThan(orders / 3);
  expect(counts.counted).toBeGreaterThan(orders / 50);
  expect(counts.inDoubt).toBeLessThan(counts.owed / 10);
}, 1_200_000);
