import { expect } from 'vitest';
import { cadenceCaseName, type CadenceCase } from './cadence.ts';

/** The digest stands in the ledger and may be under way to the mail server when its window is emptied. */
const BESIDE_MAIL = /^(SENT|IN_DOUBT) DIGESTED DIGESTED|^DIGESTED DIGESTED (SENT|IN_DOUBT)/;
const MAY_CUT_A_CALL: readonly string[] = ['digest.insert.after', 'digest.empty.before', 'digest.empty.after'];

/** How each case has to end: what is counted is counted once, and what is collected is told once. */
export const expectedEnds = (cases: readonly CadenceCase[]): Readonly<Record<string, unknown>> =>
  Object.fromEntries(cases.map((one) => [cadenceCaseName(one), endOf(one)]));

function endOf({ place, at, action }: CadenceCase): unknown {
  if (place === 'limit.take') return 'SENT, then SUPPRESSED, 1 sent';
  if (place === 'limit.give-back') return 'FAILED, then SENT, 1 sent';
  if (action === 'kill' && MAY_CUT_A_CALL.includes(at)) return expect.stringMatching(BESIDE_MAIL);
  return 'DIGESTED DIGESTED SENT; 2: item item';
}
