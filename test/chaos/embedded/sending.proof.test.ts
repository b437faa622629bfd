import { expect, it } from 'vitest';
import { sendUnderKills } from './sending-run.ts';

const ROUNDS = Number(process.env['SENDING_ROUNDS'] ?? 100);
const MESSAGES = 12;
/** Steps from an item of the job to the mail. */
const PLACES = [
  'intents.append',
  'audit.append',
  'job.replace',
  'delivery.insert',
  'delivery.checkpoint',
  'delivery.sending',
  'delivery.sent',
  'outcomes.append',
  'engine.checkpoint',
];

/** Each place before and after it, at its first, second and third time. */
const FAILPOINTS = Array.from({ length: ROUNDS }, (_, round) => {
  const place = PLACES[round % PLACES.length] ?? '';
  const side = Math.floor(round / PLACES.length) % 2 === 0 ? 'before' : 'after';
  return `${place}.${side}:${1 + (Math.floor(round / (2 * PLACES.length)) % 3)}:kill`;
});

it(`Missing messages of two comparisons, sent at once with a kill at ${ROUNDS} failpoints, reach each person once`, async () => {
  const { rounds, stderr } = await sendUnderKills({
    rounds: FAILPOINTS.map((failpoint) => ({ failpoint })),
    messages: MESSAGES,
    rate: 100,
  });
  for (const [index, round] of rounds.entries()) {
    expect(round, `${FAILPOINTS[index]}: ${stderr}`).toMatchObject({
      missing: MESSAGES,
      twice: [],
      lost: [],
      notByJobs: [],
    });
    for (const { done, failed } of round.jobs) expect(done + failed, FAILPOINTS[index]).toBe(MESSAGES);
    expect(Math.max(...round.jobs.map(({ done }) => done)), FAILPOINTS[index]).toBeGreaterThan(0);
  }
  const deaths = rounds.filter(({ died }) => died).length;
  const seconds = rounds.map((round) => round.seconds).toSorted((a, b) => a - b);
  console.log(`sending: ${deaths} of ${ROUNDS} rounds died at their failpoint; seconds a round: ${seconds.join(' ')}`);
  expect(deaths).toBeGreaterThan(ROUNDS * 0.8);
}, 1_200_000);
