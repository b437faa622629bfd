import { describe, expect, it } from 'vitest';
import { caseName, everyCase, losesAnAnswer } from '../../failpoints/cases.ts';
import { runFailpoints } from '../../failpoints/run.ts';
import { openEmbeddedPatient } from './patient.ts';

const TAKES = 1_800_000;
/** Most of the time is spent waiting: for a repetition, or for what was held. */
const LANES = 3;

describe('A product that fails at every place loses nothing, tells nobody twice, and doubts no more than it has to', () => {
  it(
    'killed',
    async () => {
      const cases = everyCase(['kill']);
      const { ends, findings, stderr } = await runFailpoints({
        open: openEmbeddedPatient,
        cases,
        lanes: 2,
        held: 0,
        waitsForLeases: false,
      });
      expect(findings, stderr).toEqual([]);
      // A failpoint that is never reached shows nothing.
      expect(ends.filter(({ reached }) => !reached).map((end) => caseName(end.case))).toEqual([]);
      expect(ends).toHaveLength(cases.length);
    },
    TAKES,
  );

  it(
    'with an error, or held for a second',
    async () => {
      const cases = [
        ...everyCase(['throw']),
        { at: 'provider.send.after', action: 'stop' } as const,
        { at: 'partner.call.after', action: 'stop' } as const,
      ];
      const { ends, findings, stderr } = await runFailpoints({
        open: openEmbeddedPatient,
        cases,
        lanes: LANES,
        held: 1_000,
        waitsForLeases: true,
      });
      expect(findings, stderr).toEqual([]);
      expect(ends.filter(({ reached }) => !reached).map((end) => caseName(end.case))).toEqual([]);
      // Whether the mail was taken before the error nobody can say: both are doubts, and only these.
      const lost = ends.filter((end) => losesAnAnswer(end.case));
      const told = new Map(lost.map(({ case: { at }, state, messages }) => [at, [state, messages]]));
      expect(Object.fromEntries(told)).toEqual({
        'provider.send.before': ['IN_DOUBT answer_unknown', 0],
        'provider.send.after': ['IN_DOUBT answer_unknown', 1],
      });
    },
    TAKES,
  );
});
