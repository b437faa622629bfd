import { startClusterServices } from '@carillon/testing/cluster';
import { expect, it } from 'vitest';
import { expectedEnds } from '../../failpoints/cadence-ends.ts';
import { everyCadenceCase, runCadenceFailpoints } from '../../failpoints/cadence.ts';
import { describeOnCluster } from '../with-services.ts';
import { openClusterPatient } from './patient.ts';

const TAKES = 2_700_000;

describeOnCluster(
  'Of two that deliver one fails while it counts or makes a digest:',
  startClusterServices,
  (services) => {
    it(
      'killed or held still for 20 s, never too many are sent, and each item is told of once',
      async () => {
        const cases = [...everyCadenceCase('kill'), ...everyCadenceCase('stop')];
        const open = openClusterPatient({ services: services(), database: 'cadence', twins: true });
        const ends = await runCadenceFailpoints(open, cases);
        expect(Object.fromEntries(ends)).toEqual(expectedEnds(cases));
      },
      TAKES,
    );
  },
);
