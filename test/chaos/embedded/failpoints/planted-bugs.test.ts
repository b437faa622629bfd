import { afterEach, describe, expect, it } from 'vitest';
import {
  ACCEPTED_BEFORE_COMMIT,
  ANSWERED_BEFORE_MARKERS,
  OUTCOME_NOT_IN_DOCUMENT,
  plantedLine,
  planting,
  POSITION_BEFORE_CUSTODY,
  type Change,
} from '../../planting.ts';
import type { Finding } from '../../verdict.ts';
import type { FailpointCase } from '../../failpoints/cases.ts';
import { openLaboratory, type Laboratory } from '../../failpoints/laboratory.ts';
import { openEmbeddedPatient } from './patient.ts';

const TAKES = 300_000;
let laboratory: Laboratory | undefined;
afterEach(() => laboratory?.close());

/** What is found where the process fails there; nothing is to be found without the bug. */
async function findings(
  bug: Change | null,
  how: 'run' | 'runAndKill',
  ...cases: readonly FailpointCase[]
): Promise<readonly Finding[]> {
  laboratory = await openLaboratory({
    open: openEmbeddedPatient,
    held: 0,
    waitsForLeases: true,
    // With this bug nobody can publish what the ledger says is to be published: that needs no lease to show, but for
    // longer than a starved process takes to read on.
    patience: { quiet: 3_000, ...(bug === OUTCOME_NOT_IN_DOCUMENT && { standstill: 15_000 }) },
    ...(bug && { env: planting([bug]) }),
  });
  for (const one of cases) await laboratory[how](one);
  const report = await laboratory.finish();
  if (bug) expect(report.stderr).toContain(plantedLine(bug));
  expect(report.ends.every(({ reached }) => reached)).toBe(true);
  return report.findings;
}

describe('A failpoint shows', () => {
  it.each([
    ['that 202 comes before the commit returns: the event is lost', ACCEPTED_BEFORE_COMMIT, 'lost'],
    ['nothing where 202 comes after it', null, null],
  ] as const)(
    '%s',
    async (_name, bug, kind) => {
      const found = await findings(bug, 'runAndKill', { at: 'events.append.before', action: 'delay' });
      expect(found.map((one) => one.kind)).toEqual(kind === null ? [] : [kind]);
    },
    TAKES,
  );

  it(
    'that the position is saved before custody: the intent is lost at the first kill, not by chance',
    async () => {
      const kill = { at: 'delivery.insert.before', action: 'kill' } as const;
      const found = await findings(POSITION_BEFORE_CUSTODY, 'runAndKill', kill);
      // What the clients were promised, and the audit of the same.
      expect(found.map(({ kind }) => kind)).toEqual(['lost', 'gap']);
      expect(found[0]?.what).toContain('nobody has its intent in custody');
      expect(found[1]?.what).toContain('is in no delivery');
    },
    TAKES,
  );

  it.each([
    [
      'that a publication is answered before its markers: what comes next is judged by the one before',
      ANSWERED_BEFORE_MARKERS,
    ],
    ['nothing where it is answered after them', null],
  ] as const)(
    '%s',
    async (_name, bug) => {
      const slow = { at: 'events.append.before', action: 'delay', situation: 'published' } as const;
      // A start repeats markers too: they are over when something has been told.
      const found = await findings(bug, 'run', { at: 'delivery.sent.after', action: 'throw' }, slow);
      expect(found.map(({ kind }) => kind)).toEqual(bug ? ['untrue'] : []);
      if (bug) expect(found[0]?.what).toMatch(/came after \d+ was published/);
    },
    TAKES,
  );

  it.each([
    ['that an outcome is not in the document: nobody learns of the end', OUTCOME_NOT_IN_DOCUMENT],
    ['nothing where it is', null],
  ] as const)(
    '%s',
    async (_name, bug) => {
      const found = await findings(bug, 'run', { at: 'outcomes.append.before', action: 'kill' });
      // Nor does the sweeper ever get it done.
      expect(found.map(({ kind }) => kind)).toEqual(bug ? ['stuck', 'untrue'] : []);
      if (bug) expect(found[1]?.what).toContain('no outcome says so');
    },
    TAKES,
  );
});
