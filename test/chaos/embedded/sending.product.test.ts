import { expect, it } from 'vitest';
import { maxInDoubt, NOTHING_WRONG } from '../missing-messages.ts';
import { sendUnderKills } from './sending-run.ts';

const MESSAGES = 30;
/** Milliseconds from the start of sending, and then from each restart, to the next kill. */
const KILLS = [100, 300, 500];

/** With kills at failpoints: sending.proof.test.ts. */
it(`Missing messages of two comparisons, sent at once under ${KILLS.length} kills while the live rule fires, reach each person once`, async () => {
  const { rounds, verified, stderr } = await sendUnderKills({
    rounds: [{ afterMs: KILLS }],
    messages: MESSAGES,
    rate: 20,
  });
  expect(rounds, stderr).toMatchObject([
    { missing: MESSAGES, twice: [], notOne: [], lost: [], notByJobs: [], died: true },
  ]);
  for (const { jobs, inDoubt } of rounds) {
    expect(inDoubt).toBeLessThanOrEqual(maxInDoubt(KILLS.length, MESSAGES));
    for (const { done, failed } of jobs) expect(done + failed).toBe(MESSAGES);
    expect(Math.max(...jobs.map(({ done }) => done))).toBeGreaterThan(0);
  }
  expect(verified).toMatchObject(NOTHING_WRONG);
}, 600_000);
