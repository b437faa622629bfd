import { describe, expect, it } from 'vitest';
import { everyCadenceCase, runCadenceFailpoints } from '../../failpoints/cadence.ts';
import { expectedEnds } from '../../failpoints/cadence-ends.ts';
import { openEmbeddedPatient } from './patient.ts';

const TAKES = 1_800_000;

describe('A process that fails while it counts messages or builds a digest never sends too many, and sends each item once', () => {
  it.each(['kill', 'stop'] as const)(
    '%s',
    async (action) => {
      const cases = everyCadenceCase(action);
      const ends = await runCadenceFailpoints(openEmbeddedPatient, cases);
      expect(Object.fromEntries(ends)).toEqual(expectedEnds(cases));
    },
    TAKES,
  );
});
