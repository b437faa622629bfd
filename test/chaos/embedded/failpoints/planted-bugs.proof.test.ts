import { afterEach, describe, expect, it } from 'vitest';
import { CRASH_BUGS } from '../../../harness/planted-bugs/crash-bugs.ts';
import { plantedLine, type Change } from '../../../harness/planting.ts';
import { describeFinding } from '../../../harness/promises.ts';
import type { FailpointCase } from '../../failpoints/cases.ts';
import { openLaboratory, type Laboratory } from '../../failpoints/laboratory.ts';
import { openEmbeddedPatient } from './patient.ts';

const TAKES = 600_000;
let laboratory: Laboratory | undefined;
afterEach(() => laboratory?.close());

type Failing = readonly [how: 'run' | 'runAndKill', FailpointCase];

/** Returns the findings of these cases, each in one line. */
async function findings(bugs: readonly Change[], cases: readonly Failing[]): Promise<readonly string[]> {
  laboratory = await openLaboratory({
    open: openEmbeddedPatient,
    held: 0,
    waitsForLeases: true,
    patience: { quiet: 3_000 },
    bugs,
  });
  for (const [how, one] of cases) await laboratory[how](one);
  const report = await laboratory.finish();
  for (const bug of bugs) expect(report.stderr).toContain(plantedLine(bug));
  expect(report.ends.every(({ reached }) => reached)).toBe(true);
  return report.findings.map(describeFinding);
}

/** Nothing fails: the event only takes its time until it is on the log. */
const CALM = { at: 'events.append.before', action: 'delay' } as const;
const LATE_EVENT: Failing = ['runAndKill', CALM];
const NO_CUSTODY: Failing = ['runAndKill', { at: 'delivery.insert.before', action: 'kill' }];
/** A start repeats markers too: they are over when a message has been sent. */
const SENT: Failing = ['run', { at: 'delivery.sent.after', action: 'throw' }];
const LATE_MARKERS: Failing = ['run', { ...CALM, situation: 'published' }];
const NO_OUTCOME: Failing = ['run', { at: 'delivery.sent.after', action: 'kill' }];
const UNANSWERED: Failing = ['run', { ...CALM, situation: 'unanswered', channel: 'sms' }];
const ASTRAY: Failing = ['run', { ...CALM, situation: 'astray', channel: 'push' }];
const REPORTED: Failing = [
  'run',
  { at: 'receipts.append.before', action: 'delay', situation: 'reported', channel: 'sms' },
];
const UNSUBSCRIBED: Failing = ['run', { at: 'consent.write.before', action: 'delay', situation: 'unsubscribed' }];
const TWICE_BARRED: Failing = ['run', { ...CALM, situation: 'twice-barred', channel: 'sms' }];

/** What the product does wrong, in which cases, and the findings of it. */
const BUGS: readonly (readonly [keyof typeof CRASH_BUGS, readonly Failing[], readonly RegExp[]])[] = [
  ['acceptedBeforeCommit', [LATE_EVENT], [/^lost/]],
  ['positionBeforeCustody', [NO_CUSTODY], [/^lost.*nobody has its intent in custody/, /^gap.*is in no delivery/]],
  ['answeredBeforeMarkers', [SENT, LATE_MARKERS], [/^untrue.*came after \d+ was published/]],
  ['outcomeNotInCommit', [NO_OUTCOME], [/^untrue.*no outcome says so/]],
  ['failoverAfterAmbiguous', [UNANSWERED], [/^twice/]],
  ['retryByTheLibrary', [UNANSWERED], [/^twice/]],
  ['purgedOnABare404', [ASTRAY], [/it is FAILED \(refused_recipient\)/]],
  ['receiptsLower', [REPORTED], [/has to be DELIVERED, and is SENT/]],
  ['unsignedCallbackTaken', [REPORTED], [/has to be DELIVERED, and is BOUNCED/]],
  ['lookingUnsubscribes', [UNSUBSCRIBED], [/has to be SENT, and is SUPPRESSED/]],
  ['answeredBeforeConsent', [UNSUBSCRIBED], [/has to be SUPPRESSED, and is SENT/]],
  ['oneEntryForAllSources', [TWICE_BARRED], [/has to be SUPPRESSED, and is FAILED/]],
];

describe('a failpoint', () => {
  it.each(BUGS)(
    'finds the planted bug %s',
    async (name, cases, wanted) => {
      const found = await findings(CRASH_BUGS[name].changes, cases);
      for (const finding of wanted) expect(found).toContainEqual(expect.stringMatching(finding));
    },
    TAKES,
  );

  it(
    'finds nothing in these cases without a bug',
    async () => {
      const cases = [SENT, LATE_MARKERS, NO_OUTCOME, ASTRAY, UNANSWERED, REPORTED, UNSUBSCRIBED, TWICE_BARRED];
      expect(await findings([], [...cases, LATE_EVENT])).toEqual([]);
    },
    TAKES,
  );
});
