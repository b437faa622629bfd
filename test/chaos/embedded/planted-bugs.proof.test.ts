import { describe, expect, it } from 'vitest';
import { CRASH_BUGS } from '../../harness/planted-bugs/crash-bugs.ts';
import { plantedLine, planting, type Change } from '../../harness/planting.ts';
import type { Finding } from '../../harness/promises.ts';
import { describeWith } from '../../support/requirements.ts';
import type { Posts } from '../posts.ts';
import { runCrashes, type CrashOptions, type CrashReport } from './crash-run.ts';
import { runDiskFull } from './disk-full-run.ts';

const TAKES = 1_200_000;
/** On a busy machine a call is not always under way at a kill. */
const MAX_SEEDS = 10;
/** Mail servers that fail nothing, so that what goes wrong is the product's doing. The slow one is at work at each kill. */
const FEW = {
  rounds: 2,
  posters: 4,
  smtp: { latency: 20 },
  // On a slow machine the kills alone would be over before there is anything to find.
  isEnough: ({ acknowledged }: Posts) => acknowledged.length > 40,
};
const FEW_AND_SLOW = { ...FEW, smtp: { latency: 400 } };
const ASKING = { ...FEW, rounds: 3, mixture: { lookups: 0.8 } };
const CHANGING = { ...FEW, rounds: 3, mixture: { changes: 0.8 } };

type Load = Pick<CrashOptions, 'rounds' | 'posters' | 'smtp' | 'mixture' | 'isEnough'>;
type Kind = Finding['kind'];
const kindsOf = ({ findings }: CrashReport): ReadonlySet<Kind> => new Set(findings.map(({ kind }) => kind));

/** Runs with one seed after the other until all wanted kinds of findings are there. Returns the last report. */
async function untilRed(
  changes: readonly Change[],
  wanted: readonly Kind[],
  run: (options: Pick<CrashOptions, 'seed' | 'env'>) => Promise<CrashReport>,
): Promise<CrashReport> {
  for (let seed = 1; ; seed += 1) {
    const report = await run({ seed, env: planting(changes) });
    for (const change of changes) expect(report.stderr).toContain(plantedLine(change));
    console.log(changes.map(({ file }) => file).join(' and '), report.figures, report.findings.slice(0, 3));
    if (wanted.every((kind) => kindsOf(report).has(kind)) || seed === MAX_SEEDS) return report;
  }
}

describe('the crash test', () => {
  it.each<readonly [keyof typeof CRASH_BUGS, Load, readonly Kind[]]>([
    ['twoDispatchersWithoutCompareAndSet', FEW, ['twice']],
    ['doubtSentAgain', FEW_AND_SLOW, ['twice']],
    ['secondLookupCounts', ASKING, ['asked', 'twice']],
    ['membersBeforeEvents', CHANGING, ['lost']],
  ])(
    'finds the planted bug %s',
    async (name, load, wanted) => {
      const report = await untilRed(CRASH_BUGS[name].changes, wanted, (own) => runCrashes({ ...load, ...own }));
      expect([...kindsOf(report)]).toEqual(expect.arrayContaining([...wanted]));
    },
    TAKES,
  );

  it(
    'finds nothing if two dispatchers send from a ledger that compares versions',
    async () => {
      const [dispatchers] = CRASH_BUGS.twoDispatchersWithoutCompareAndSet.changes;
      const { findings, stderr } = await runCrashes({ seed: 1, ...FEW, env: planting([dispatchers]) });
      expect(stderr).toContain(plantedLine(dispatchers));
      expect(findings, stderr).toEqual([]);
    },
    TAKES,
  );
});

describeWith('prlimit', 'the test of a full disk', () => {
  it(
    'finds a partition that stands still until the next start',
    async () => {
      const report = await untilRed(CRASH_BUGS.partitionStandsStill.changes, ['stuck'], runDiskFull);
      expect(kindsOf(report)).toEqual(new Set(['stuck']));
      // The restart afterwards hides nothing.
      expect(report.findings.every(({ what }) => what.includes('does not go on in this life'))).toBe(true);
    },
    TAKES,
  );
});
