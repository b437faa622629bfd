import { startClusterServices } from '@carillon/testing/cluster';
import { expect, it } from 'vitest';
import { expectedEnds } from '../../failpoints/cadence-ends.ts';
import { everyCadenceCase, runCadenceFailpoints } from '../../failpoints/cadence.ts';
import { describeOnCluster } from '../with-services.ts';
import { openClusterPatient } from './patient.ts';

const TAKES = 2_700_000;

describeOnCluster(
  'Two delivery processes, one failing while it counts or builds a digest',
  startClusterServices,
  (services) => {
    it(
      'never send too many messages after a kill or a pause of 20 s, and send each item once',
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
