import { expect, it } from 'vitest';
import { maxInDoubt, NOTHING_WRONG, sendingFailpoints } from '../missing-messages.ts';
import { sendUnderKills } from './sending-run.ts';

const ROUNDS = Number(process.env['SENDING_ROUNDS'] ?? 100);
const MESSAGES = 12;
const FAILPOINTS = sendingFailpoints(ROUNDS);

it(`Missing messages of two comparisons, sent at once with a kill at ${ROUNDS} failpoints, reach each person once`, async () => {
  const { rounds, verified, stderr } = await sendUnderKills({
    rounds: FAILPOINTS.map((failpoint) => ({ failpoint })),
    messages: MESSAGES,
    rate: 100,
  });
  for (const [index, round] of rounds.entries()) {
    expect(round, `${FAILPOINTS[index]}: ${stderr}`).toMatchObject({
      missing: MESSAGES,
      twice: [],
      notOne: [],
      lost: [],
      notByJobs: [],
    });
    for (const { done, failed } of round.jobs) expect(done + failed, FAILPOINTS[index]).toBe(MESSAGES);
    expect(Math.max(...round.jobs.map(({ done }) => done)), FAILPOINTS[index]).toBeGreaterThan(0);
  }
  const inDoubt = rounds.reduce((sum, round) => sum + round.inDoubt, 0);
  expect(inDoubt).toBeLessThanOrEqual(maxInDoubt(ROUNDS, ROUNDS * MESSAGES));
  const deaths = rounds.filter(({ died }) => died).length;
  const seconds = rounds.map((round) => round.seconds).toSorted((a, b) => a - b);
  console.log(
    `sending: ${deaths} of ${ROUNDS} rounds died at their failpoint, ${inDoubt} in doubt; seconds a round: ${seconds.join(' ')}`,
  );
  expect(deaths).toBeGreaterThan(ROUNDS * 0.8);
  expect(verified).toMatchObject(NOTHING_WRONG);
}, 1_200_000);
