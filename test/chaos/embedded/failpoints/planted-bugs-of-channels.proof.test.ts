import { afterEach, describe, expect, it } from 'vitest';
import { CRASH_BUGS } from '../../../harness/planted-bugs/crash-bugs.ts';
import { plantedLine, type Change } from '../../../harness/planting.ts';
import type { FailpointCase } from '../../failpoints/cases.ts';
import { openLaboratory, type Laboratory } from '../../failpoints/laboratory.ts';
import type { Finding } from '../../../harness/promises.ts';
import { openEmbeddedPatient } from './patient.ts';

const TAKES = 600_000;
let laboratory: Laboratory | undefined;
afterEach(() => laboratory?.close());

/** What is found of it, with the bug and without. */
async function findings(bugs: readonly Change[], ...cases: readonly FailpointCase[]): Promise<readonly Finding[]> {
  laboratory = await openLaboratory({ open: openEmbeddedPatient, held: 0, waitsForLeases: true, bugs });
  for (const one of cases) await laboratory.run(one);
  const report = await laboratory.finish();
  for (const bug of bugs) expect(report.stderr).toContain(plantedLine(bug));
  expect(report.ends.every(({ reached }) => reached)).toBe(true);
  return report.findings;
}

/** Nothing fails: the event only takes its time until it is on the log. */
const CALM = { at: 'events.append.before', action: 'delay' } as const;
const UNANSWERED: FailpointCase = { ...CALM, situation: 'unanswered', channel: 'sms' };
const ASTRAY: FailpointCase = { ...CALM, situation: 'astray', channel: 'push' };
const REPORTED: FailpointCase = {
  at: 'receipts.append.before',
  action: 'delay',
  situation: 'reported',
  channel: 'sms',
};
const UNSUBSCRIBED: FailpointCase = { at: 'consent.write.before', action: 'delay', situation: 'unsubscribed' };
const TWICE_BARRED: FailpointCase = { ...CALM, situation: 'twice-barred', channel: 'sms' };

describe('With these bugs the three channels break a promise:', () => {
  it(
    'another account takes over from one that took the message and did not answer',
    async () => {
      expect((await findings(CRASH_BUGS.failoverAfterAmbiguous.changes, UNANSWERED)).map(({ kind }) => kind)).toContain(
        'twice',
      );
    },
    TAKES,
  );

  it(
    'the library repeats a request that got no answer',
    async () => {
      expect((await findings(CRASH_BUGS.retryByTheLibrary.changes, UNANSWERED)).map(({ kind }) => kind)).toContain(
        'twice',
      );
    },
    TAKES,
  );

  it(
    'a bare 404 kills a token',
    async () => {
      expect((await findings(CRASH_BUGS.purgedOnABare404.changes, ASTRAY))[0]?.what).toContain(
        'it is FAILED (refused_recipient)',
      );
    },
    TAKES,
  );

  it(
    'a receipt lowers a delivery',
    async () => {
      const found = await findings(CRASH_BUGS.receiptsLower.changes, REPORTED);
      expect(found.map(({ what }) => what).join()).toContain('has to be DELIVERED, and is SENT');
    },
    TAKES,
  );

  it(
    'a report that nobody signed counts',
    async () => {
      const found = await findings(CRASH_BUGS.unsignedCallbackTaken.changes, REPORTED);
      expect(found.map(({ what }) => what).join()).toContain('has to be DELIVERED, and is BOUNCED');
    },
    TAKES,
  );

  it(
    'looking at a link unsubscribes',
    async () => {
      const found = await findings(CRASH_BUGS.lookingUnsubscribes.changes, UNSUBSCRIBED);
      expect(found.map(({ what }) => what).join()).toContain('has to be SENT, and is SUPPRESSED');
    },
    TAKES,
  );

  it(
    'an opt-out is answered before the store has it',
    async () => {
      const found = await findings(CRASH_BUGS.answeredBeforeConsent.changes, UNSUBSCRIBED);
      expect(found.map(({ what }) => what).join()).toContain('has to be SUPPRESSED, and is SENT');
    },
    TAKES,
  );

  it(
    'START takes away that the number does not exist',
    async () => {
      const found = await findings(CRASH_BUGS.oneEntryForAllSources.changes, TWICE_BARRED);
      expect(found.map(({ what }) => what).join()).toContain('has to be SUPPRESSED, and is FAILED');
    },
    TAKES,
  );

  it(
    'and none without a bug',
    async () => {
      expect(await findings([], ASTRAY, UNANSWERED, REPORTED, UNSUBSCRIBED, TWICE_BARRED)).toEqual([]);
    },
    TAKES,
  );
});
