import { describe, expect, it } from 'vitest';
import { CRASH_BUGS } from '../../harness/planted-bugs/crash-bugs.ts';
import { plantedLine, planting } from '../../harness/planting.ts';
import { describeWith } from '../../support/requirements.ts';
import { runDiskFull } from './disk-full-run.ts';
import { crashUntilRed, crashWith, FEW, kindsOf, MANY, MAX_SEEDS, TAKES } from './planted-run.ts';

const ASKING = { ...FEW, rounds: 3, mixture: { lookups: 0.8 } };
const CHANGING = { ...FEW, rounds: 3, mixture: { changes: 0.8 } };

describe('The crash test turns red', () => {
  it(
    'when the position is saved before custody: acknowledged events are lost',
    async () => {
      // The moment between the two writes is short: busy partitions are nearly always in it, but chance has its say.
      const report = await crashUntilRed(CRASH_BUGS.positionBeforeCustody.changes, MANY, 'lost', 'gap');
      // What the clients were promised, and the audit of the same.
      expect(kindsOf(report)).toEqual(new Set(['lost', 'gap']));
      const seen = ['nobody has its intent in custody', 'is in no delivery'];
      expect(report.findings.every(({ what }) => seen.some((one) => what.includes(one)))).toBe(true);
    },
    4 * TAKES,
  );

  it(
    'when two dispatchers send and nothing compares versions: customers are told twice',
    async () => {
      const report = await crashUntilRed(CRASH_BUGS.twoDispatchersWithoutCompareAndSet.changes, FEW, 'twice');
      expect(kindsOf(report)).toContain('twice');
    },
    4 * TAKES,
  );

  it(
    'when answers come on the log before they are in custody, and the second one counts too: asked again, told twice',
    async () => {
      const report = await crashUntilRed(CRASH_BUGS.secondLookupCounts.changes, ASKING, 'asked', 'twice');
      expect(kindsOf(report)).toEqual(new Set(['asked', 'twice']));
    },
    4 * TAKES,
  );

  it(
    'when members of a cohort are saved before their events: changes are lost',
    async () => {
      const report = await crashUntilRed(CRASH_BUGS.membersBeforeEvents.changes, CHANGING, 'lost');
      expect(kindsOf(report)).toEqual(new Set(['lost']));
      expect(report.findings.every(({ what }) => what.includes('no event came of it'))).toBe(true);
    },
    4 * TAKES,
  );

  it(
    'but not for two dispatchers whose ledger compares versions',
    async () => {
      const { findings, stderr } = await crashWith(
        CRASH_BUGS.twoDispatchersWithoutCompareAndSet.changes.slice(0, 1),
        FEW,
      );
      expect(findings, stderr).toEqual([]);
    },
    4 * TAKES,
  );
});

describeWith('prlimit', 'The full disk turns red', () => {
  it(
    'when a partition is not tried again once a batch of it has failed: a restart mends it, and does not hide it',
    async () => {
      const bug = CRASH_BUGS.partitionStandsStill.changes[0];
      let report = await runDiskFull({ seed: 1, env: planting([bug]) });
      // Whether a batch is under way when the disk fills up is chance.
      for (let seed = 2; seed <= MAX_SEEDS && !kindsOf(report).has('stuck'); seed += 1) {
        report = await runDiskFull({ seed, env: planting([bug]) });
      }
      expect(report.stderr).toContain(plantedLine(bug));
      expect(kindsOf(report)).toEqual(new Set(['stuck']));
      expect(report.findings.every(({ what }) => what.includes('does not go on in this life'))).toBe(true);
    },
    4 * TAKES,
  );
});
