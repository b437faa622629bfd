import { expect, it } from 'vitest';
import { runCrashes } from './crash-run.ts';

const rounds = Number(process.env['CRASH_ROUNDS'] ?? 10);
const seed = Number(process.env['CRASH_SEED'] ?? Math.floor(Math.random() * 1_000_000));

it(
  `The product, killed ${rounds} times under load, loses nothing it acknowledged and tells nobody twice (CRASH_SEED=${seed})`,
  async () => {
    const { findings, figures, stderr } = await runCrashes({ seed, rounds, mixture: { leavers: 600 } });
    console.log(`crash test, seed ${seed}:`, figures);
    expect(findings, stderr).toEqual([]);
    // A run that interrupted nothing would show nothing.
    expect(figures['acknowledged']).toBeGreaterThan(rounds * 5);
    expect((figures['doubtsByKill'] ?? 0) + (figures['requestsCut'] ?? 0)).toBeGreaterThan(0);
    expect(figures['duplicates']).toBeGreaterThan(0);
    expect(figures['lookups']).toBeGreaterThan(0);
    expect(figures['changes']).toBeGreaterThan(0);
    expect(figures['leavers']).toBeGreaterThan(rounds * 10);
  },
  60_000 + rounds * 6_000,
);
