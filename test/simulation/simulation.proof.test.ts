import { beforeAll, describe, expect, it } from 'vitest';
import { PORT_BUGS } from '../harness/planted-bugs/port-bugs.ts';
import { describeFinding } from '../harness/promises.ts';
import { shownFailure, simulate } from './simulate.ts';
import { openShared, type Shared } from './world.ts';

const SEEDS = 2_000;
/** As many as it may take until a planted bug shows. A change of the product may move the seeds that find a rare one. */
const SEEDS_OF_A_BUG = 5_000;

/** What the seeds have to have been through together, or a green run would say little. */
const FAULTS = ['crash', 'stop', 'freeze', 'expel', 'outage', 'not_reached', 'no_answer', 'partly', 'late', 'again'];
const PATHS = [
  'unreadable record',
  'take-over',
  'duplicate',
  'second lookup record',
  'SENDING to IN_DOUBT',
  'IN_DOUBT to SENT',
];
/** What providers reported in these states. */
const REPORTS = ['SENDING', 'IN_DOUBT', 'SENT', 'DELIVERED', 'BOUNCED', 'COMPLAINED'].map(
  (state) => `receipt in ${state}`,
);
const LIFTS = ['IN_DOUBT to DELIVERED', 'SENDING to DELIVERED', 'SENT to BOUNCED', 'DELIVERED to COMPLAINED'];
const DIGESTS = ['WAITING to COLLECTED', 'COLLECTED to DIGESTED', 'COLLECTED to CANCELLED'];
const ENDS = ['WAITING to SUPPRESSED', 'WAITING to EXPIRED', 'operator_cancel', 'operator_resend', 'operator_dismiss'];
/** What happens to requests of rules that wait. */
const WAITS = [
  'ruleStates.save partly',
  'ruleStates.save no_answer',
  'ruleStates.save refused',
  'ruleStates.due not_reached',
  'ruleStates.due no_answer',
  'ticks no_answer',
  'ticks late',
];
const TO_BE_SEEN = [
  ...FAULTS,
  ...WAITS,
  ...PATHS,
  ...REPORTS,
  ...LIFTS,
  ...DIGESTS,
  ...ENDS,
  'SENDING to WAITING',
  'SENDING to FAILED',
];

let shared: Shared;
beforeAll(async () => {
  shared = await openShared();
});

/** Runs a seed; where it breaks a promise, once more to tell what happened. */
async function mustHold(seed: number) {
  const outcome = await simulate(seed, shared);
  if (outcome.findings.length > 0) {
    throw new Error(shownFailure(await simulate(seed, shared, { keepsHistory: true })));
  }
  return outcome;
}

describe('the roles over ports in memory, in an order that a seed decides', () => {
  it('repeat exactly for the same seed, and differ for another', async () => {
    for (const seed of [1, 2, 3, 4, 5]) {
      const [first, again] = [
        await simulate(seed, shared, { keepsHistory: true }),
        await simulate(seed, shared, { keepsHistory: true }),
      ];
      expect(again).toEqual(first);
      expect(first.history.length).toBeGreaterThan(500);
    }
    const histories = [
      (await simulate(6, shared, { keepsHistory: true })).history,
      (await simulate(7, shared, { keepsHistory: true })).history,
    ];
    expect(histories[0]).not.toEqual(histories[1]);
  });

  it(`keep every promise in ${SEEDS} seeds, and finish once faults stop`, async () => {
    const seen = new Map<string, number>();
    for (let seed = 1; seed <= SEEDS; seed += 1) {
      const outcome = await mustHold(seed);
      for (const [what, times] of Object.entries(outcome.seen)) seen.set(what, (seen.get(what) ?? 0) + times);
    }
    const missing = TO_BE_SEEN.filter((what) => !seen.has(what));
    expect(missing, `seen was ${JSON.stringify([...seen])}`).toEqual([]);
  }, 1_200_000);

  for (const [name, bug] of Object.entries(PORT_BUGS)) {
    it(`break a promise where somebody plants: ${name}`, async () => {
      const first = bug.firstSeed ?? 1;
      for (let seed = first; seed < first + SEEDS_OF_A_BUG; seed += 1) {
        const { findings } = await simulate(seed, shared, { bug });
        if (findings.some((finding) => bug.finds.test(describeFinding(finding)))) return;
      }
      expect.unreachable(`${SEEDS_OF_A_BUG} seeds held every promise that this breaks`);
    }, 1_200_000);
  }
});
