import { afterEach, describe, expect, it } from 'vitest';
import { CRASH_BUGS } from '../../../harness/planted-bugs/crash-bugs.ts';
import { plantedLine, type Change } from '../../../harness/planting.ts';
import type { Finding } from '../../../harness/promises.ts';
import type { FailpointCase } from '../../failpoints/cases.ts';
import { openLaboratory, type Laboratory } from '../../failpoints/laboratory.ts';
import { openEmbeddedPatient } from './patient.ts';

const TAKES = 300_000;
let laboratory: Laboratory | undefined;
afterEach(() => laboratory?.close());

type How = 'run' | 'runAndKill';
type Failing = readonly [How, FailpointCase];

/** What is found where the process fails there. */
async function findings(bug: Change | null, ...cases: readonly Failing[]): Promise<readonly Finding[]> {
  laboratory = await openLaboratory({
    open: openEmbeddedPatient,
    held: 0,
    waitsForLeases: true,
    patience: { quiet: 3_000 },
    ...(bug && { bugs: [bug] }),
  });
  for (const [how, one] of cases) await laboratory[how](one);
  const report = await laboratory.finish();
  if (bug) expect(report.stderr).toContain(plantedLine(bug));
  expect(report.ends.every(({ reached }) => reached)).toBe(true);
  return report.findings;
}

const LATE_EVENT: Failing = ['runAndKill', { at: 'events.append.before', action: 'delay' }];
const NO_CUSTODY: Failing = ['runAndKill', { at: 'delivery.insert.before', action: 'kill' }];
/** A start repeats markers too: they are over when something has been told. */
const LATE_MARKERS: readonly Failing[] = [
  ['run', { at: 'delivery.sent.after', action: 'throw' }],
  ['run', { at: 'events.append.before', action: 'delay', situation: 'published' }],
];
const NO_OUTCOME: Failing = ['run', { at: 'delivery.sent.after', action: 'kill' }];

describe('A failpoint shows', () => {
  it(
    'that 202 comes before the commit returns: the event is lost',
    async () => {
      const found = await findings(CRASH_BUGS.acceptedBeforeCommit.changes[0], LATE_EVENT);
      expect(found.map(({ kind }) => kind)).toEqual(['lost']);
    },
    TAKES,
  );

  it(
    'that the position is saved before custody: the intent is lost at the first kill, not by chance',
    async () => {
      const found = await findings(CRASH_BUGS.positionBeforeCustody.changes[0], NO_CUSTODY);
      // What the clients were promised, and the audit of the same.
      expect(found.map(({ kind }) => kind)).toEqual(['lost', 'gap']);
      expect(found[0]?.what).toContain('nobody has its intent in custody');
      expect(found[1]?.what).toContain('is in no delivery');
    },
    TAKES,
  );

  it(
    'that a publication is answered before its markers: what comes next is judged by the one before',
    async () => {
      const found = await findings(CRASH_BUGS.answeredBeforeMarkers.changes[0], ...LATE_MARKERS);
      expect(found.map(({ kind }) => kind)).toEqual(['untrue']);
      expect(found[0]?.what).toMatch(/came after \d+ was published/);
    },
    TAKES,
  );

  it(
    'that an outcome is not in the commit of its move: nobody learns of the end',
    async () => {
      const found = await findings(CRASH_BUGS.outcomeNotInCommit.changes[0], NO_OUTCOME);
      expect(found.map(({ kind }) => kind)).toEqual(['untrue']);
      expect(found[0]?.what).toContain('no outcome says so');
    },
    TAKES,
  );

  it(
    'nothing at any of these places without a bug',
    async () => {
      expect(await findings(null, ...LATE_MARKERS, NO_OUTCOME, LATE_EVENT)).toEqual([]);
    },
    TAKES,
  );
});
