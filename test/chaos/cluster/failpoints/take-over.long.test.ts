import { startClusterServices, type ClusterServices } from '@carillon/testing/cluster';
import { startKafka } from '@carillon/testing/services';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../../../support/requirements.ts';
import type { FailpointCase } from '../../failpoints/cases.ts';
import type { LabReport } from '../../failpoints/laboratory.ts';
import { runFailpoints } from '../../failpoints/run.ts';
import { FENCE_IGNORED, plantedLine, planting } from '../../planting.ts';
import { openClusterPatient } from './patient.ts';

const START_TIMEOUT = 120_000;
const TAKES = 600_000;
/** Longer than the lease of a mail (30 s) and the session of a consumer (10 s). */
const HELD = 35_000;

/** Before its first byte goes out, with the answer of the mail server in hand, and with a batch that is done but for its position. */
const STOPS: readonly FailpointCase[] = [
  { at: 'delivery.sending.before', action: 'stop' },
  { at: 'delivery.sent.before', action: 'stop' },
  { at: 'engine.checkpoint.before', action: 'stop' },
];

describeWith(['kafka', 'mongodb', 'registry'], 'Of two that do the same work one is held still, and', () => {
  let services: ClusterServices;
  beforeAll(async () => {
    services = await startClusterServices();
  }, START_TIMEOUT);
  afterAll(() => services?.stop(), START_TIMEOUT);

  const stopAt = (
    cases: readonly FailpointCase[],
    own: ClusterServices,
    database: string,
    env = {},
  ): Promise<LabReport> =>
    runFailpoints({
      open: openClusterPatient({ services: own, database, twins: true }),
      cases,
      lanes: 1,
      held: HELD,
      waitsForLeases: true,
      env,
    });

  it(
    'the other finishes what it had begun; what it writes when it wakes is refused',
    async () => {
      const { ends, findings, stderr } = await stopAt(STOPS, services, 'take-over');
      expect(findings, stderr).toEqual([]);
      expect(ends.map(({ reached, state, messages }) => [reached, state, messages])).toEqual([
        [true, 'SENT accepted', 1],
        [true, 'SENT accepted', 1],
        [true, 'SENT accepted', 1],
      ]);
      expect(stderr).toMatch(/another worker of engine is further on/);
    },
    TAKES,
  );

  it(
    'somebody is told twice where refusals are taken for done',
    async () => {
      const kafka = await startKafka();
      try {
        const [first] = STOPS;
        const own = { ...services, kafka };
        const { findings, stderr } = await stopAt(first ? [first] : [], own, 'twice', planting([FENCE_IGNORED]));
        expect(stderr).toContain(plantedLine(FENCE_IGNORED));
        expect(findings.map(({ kind }) => kind)).toContain('twice');
      } finally {
        await kafka.stop();
      }
    },
    TAKES,
  );
});
