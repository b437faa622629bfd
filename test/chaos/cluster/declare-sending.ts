import { startClusterServices } from '@carillon/testing/cluster';
import { expect, it } from 'vitest';
import { maxInDoubt, NOTHING_WRONG, sendingFailpoints } from '../missing-messages.ts';
import { sendOnCluster, SHORT_SESSIONS_PERMITTED } from './sending-run.ts';
import { describeOnCluster } from './with-services.ts';

const KILLS = Number(process.env['SENDING_KILLS'] ?? 100);
/** Files that share the kills. */
const FILES = 2;
const KILLS_OF_FILE = Math.ceil(KILLS / FILES);
/** A round takes long enough for some twenty kills. */
const MAX_ROUNDS = Math.ceil(KILLS_OF_FILE / 12);
const MESSAGES = 100;
const startServices = () => startClusterServices({ kafka: { properties: SHORT_SESSIONS_PERMITTED } });

/** Declares the kills of a file, which is numbered from 0. */
export function declareSending(file: number): void {
  describeOnCluster('Missing messages of two comparisons, sent at once on a cluster', startServices, (services) => {
    it(`reach each person once under kills of roles at ${KILLS_OF_FILE} failpoints`, async () => {
      const { rounds, reached, deaths, verified } = await sendOnCluster({
        services: services(),
        failpoints: sendingFailpoints(KILLS).slice(file * KILLS_OF_FILE, (file + 1) * KILLS_OF_FILE),
        maxRounds: MAX_ROUNDS,
        messages: MESSAGES,
        rate: 1,
      });
      const seconds = rounds.map((round) => round.seconds.toFixed(0)).join(' ');
      const inDoubt = rounds.reduce((sum, round) => sum + round.inDoubt, 0);
      console.log(
        `sending on a cluster: killed at ${reached.length} of ${KILLS_OF_FILE} failpoints, ${rounds.length * MESSAGES} messages, ` +
          `${inDoubt} in doubt; seconds a round: ${seconds}`,
      );
      for (const [index, round] of rounds.entries()) {
        expect(round, `round ${index}`).toMatchObject({
          missing: MESSAGES,
          twice: [],
          notOne: [],
          lost: [],
          notByJobs: [],
        });
        for (const { done, failed } of round.jobs) expect(done + failed, `round ${index}`).toBe(MESSAGES);
        expect(Math.max(...round.jobs.map(({ done }) => done)), `round ${index}`).toBeGreaterThan(0);
      }
      expect(inDoubt).toBeLessThanOrEqual(maxInDoubt(reached.length, rounds.length * MESSAGES));
      expect(deaths).toEqual([]);
      expect(verified).toMatchObject(NOTHING_WRONG);
      expect(reached.length).toBeGreaterThan(KILLS_OF_FILE * 0.8);
    }, 1_200_000);
  });
}
