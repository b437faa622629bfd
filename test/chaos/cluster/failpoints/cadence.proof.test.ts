import { startClusterServices, type ClusterServices } from '@carillon/testing/cluster';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../../../support/requirements.ts';
import { expectedEnds } from '../../failpoints/cadence-ends.ts';
import { everyCadenceCase, runCadenceFailpoints } from '../../failpoints/cadence.ts';
import { openClusterPatient } from './patient.ts';

const START_TIMEOUT = 120_000;
const TAKES = 2_700_000;

describeWith(
  ['kafka', 'mongodb', 'registry'],
  'Of two that deliver one fails while it counts or makes a digest:',
  () => {
    let services: ClusterServices;
    beforeAll(async () => {
      services = await startClusterServices();
    }, START_TIMEOUT);
    afterAll(() => services?.stop(), START_TIMEOUT);

    it(
      'killed or held still for 20 s, never too many are sent, and each item is told of once',
      async () => {
        const cases = [...everyCadenceCase('kill'), ...everyCadenceCase('stop')];
        const open = openClusterPatient({ services, database: 'cadence', twins: true });
        const ends = await runCadenceFailpoints(open, cases);
        expect(Object.fromEntries(ends)).toEqual(expectedEnds(cases));
      },
      TAKES,
    );
  },
);
