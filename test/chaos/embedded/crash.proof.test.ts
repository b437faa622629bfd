import { expect, it } from 'vitest';
import type { Posts } from '../posts.ts';
import { runCrashes } from './crash-run.ts';

const rounds = Number(process.env['CRASH_ROUNDS'] ?? 10);
/** More than so many of the 600 leavers have to leave while the run lasts. */
const leavers = Math.min(rounds * 10, 500);
const seed = Number(process.env['CRASH_SEED'] ?? Math.floor(Math.random() * 1_000_000));

/** Whether something of each kind was taken, some orders with the unique id of an earlier one. */
function isEnough({ acknowledged, changes }: Posts): boolean {
  const orders = acknowledged.filter(({ asks }) => !asks);
  return (
    acknowledged.length > rounds * 5 &&
    acknowledged.some(({ asks }) => asks) &&
    // Somebody who had opted out was written to.
    orders.some(({ to }) => to === null) &&
    orders.length > new Set(orders.map(({ subject }) => subject)).size &&
    changes.filter(({ user }) => user.startsWith('club-')).length > leavers
  );
}

it(
  `The product, killed ${rounds} times under load, loses no acknowledged event and notifies nobody twice (CRASH_SEED=${seed})`,
  async () => {
    const report = await runCrashes({ seed, rounds, calm: true, mixture: { leavers: 600, elsewhere: 0.25 }, isEnough });
    const { findings, figures, showsTooLittle, stderr } = report;
    console.log(`crash test, seed ${seed}:`, figures);
    expect(findings, stderr).toEqual([]);
    // A run that interrupted nothing would show nothing.
    expect(figures['acknowledged']).toBeGreaterThan(rounds * 5);
    expect(showsTooLittle).toBeNull();
    // The kills of calm lives meet a call whatever the machine does; most of the others do.
    expect(figures['killsAtWork']).toBeGreaterThanOrEqual(Math.ceil(rounds / 5));
    expect(figures['callsAskedAgain']).toBeGreaterThan(0);
    expect(figures['duplicates']).toBeGreaterThan(0);
    expect(figures['lookups']).toBeGreaterThan(0);
    for (const what of ['texted', 'pushed', 'reported', 'optedOut']) expect(figures[what], what).toBeGreaterThan(0);
    expect(figures['changes']).toBeGreaterThan(0);
    expect(figures['leavers']).toBeGreaterThan(leavers);
  },
  600_000 + rounds * 12_000,
);
