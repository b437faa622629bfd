import { startClusterServices } from '@carillon/testing/cluster';
import { expect, it } from 'vitest';
import type { FailpointCase } from '../../failpoints/cases.ts';
import { runFailpoints } from '../../failpoints/run.ts';
import { describeOnCluster } from '../with-services.ts';
import { openClusterPatient } from './patient.ts';

const TAKES = 600_000;
/** Longer than the lease of a mail (30 s) and the session of a consumer (10 s). */
const HELD = 35_000;

/**
 * Before its first byte goes out, with the answer of the mail server in hand, and with a batch that is done but for its position:
 * of that partition the other comes further, since the same position again would be no news.
 */
const STOPS: readonly FailpointCase[] = [
  { at: 'delivery.sending.before', action: 'stop' },
  { at: 'delivery.sent.before', action: 'stop' },
  { at: 'engine.checkpoint.before', action: 'stop', situation: 'followed' },
];

describeOnCluster('Two processes with the same work, one of them paused', startClusterServices, (services) => {
  it(
    'finish the work in the other process, and late writes of the paused process are refused',
    async () => {
      const { ends, findings, stderr } = await runFailpoints({
        open: openClusterPatient({ services: services(), database: 'take-over', twins: true }),
        cases: STOPS,
        lanes: 1,
        held: HELD,
        waitsForLeases: true,
      });
      expect(findings, stderr).toEqual([]);
      expect(ends.map(({ reached, state, messages }) => [reached, state, messages])).toEqual([
        [true, 'SENT accepted', 1],
        [true, 'SENT accepted', 1],
        [true, 'SENT accepted', 1],
      ]);
      expect(stderr).toMatch(/another worker of engine has already read further/);
    },
    TAKES,
  );
});
