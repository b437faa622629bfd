import { expect, it } from 'vitest';
import { runCrashes } from './crash-run.ts';

const ROUNDS = 3;
const seed = Number(process.env['CRASH_SEED'] ?? Math.floor(Math.random() * 1_000_000));

/** With more kills, and what they have to meet: crash.proof.test.ts. */
it(`The product, killed ${ROUNDS} times under load, loses no acknowledged event and notifies nobody twice (CRASH_SEED=${seed})`, async () => {
  const { findings, figures, stderr } = await runCrashes({
    seed,
    rounds: ROUNDS,
    mixture: { leavers: 60 },
    isEnough: ({ acknowledged }) => acknowledged.length > 20 && acknowledged.some(({ asks }) => asks),
  });
  console.log(`crash test, seed ${seed}:`, figures);
  expect(findings, stderr).toEqual([]);
  expect(figures['acknowledged']).toBeGreaterThan(20);
  expect(figures['kills']).toBe(ROUNDS);
  expect(figures['lookups']).toBeGreaterThan(0);
}, 600_000);
