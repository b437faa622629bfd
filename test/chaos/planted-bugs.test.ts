import { describe, expect, it } from 'vitest';
import { runCrashes, type CrashReport } from './crash-run.ts';
import {
  NO_COMPARE_AND_SET,
  plantedLine,
  planting,
  POSITION_BEFORE_CUSTODY,
  TWO_DISPATCHERS,
  type Change,
} from './planting.ts';

/** A mail server without whims, so that what goes wrong is the product's doing. */
const CALM = { latency: 20, tempfail: 0, drop: 0 };
const TAKES = 120_000;

async function crashWith(
  seed: number,
  changes: readonly Change[],
  load: { posters: number; rate: number },
): Promise<CrashReport> {
  const report = await runCrashes({
    seed,
    rounds: 2,
    smtp: CALM,
    ...load,
    dispatchers: changes.includes(TWO_DISPATCHERS) ? 2 : 1,
    env: planting(changes),
  });
  for (const change of changes) expect(report.stderr).toContain(plantedLine(change));
  return report;
}

const kindsOf = ({ findings }: CrashReport): ReadonlySet<string> => new Set(findings.map(({ kind }) => kind));

describe('The crash test turns red', () => {
  it(
    'when the position is saved before custody: acknowledged events are lost',
    async () => {
      // The moment between the two writes is short: busy partitions are nearly always in it, but chance has its say.
      for (let seed = 1; seed <= 4; seed += 1) {
        const report = await crashWith(seed, [POSITION_BEFORE_CUSTODY], { posters: 16, rate: 20 });
        console.log(`position before custody, seed ${seed}:`, report.figures, report.findings.slice(0, 3));
        if (report.findings.length === 0) continue;
        expect(kindsOf(report)).toEqual(new Set(['lost']));
        expect(report.findings.every(({ what }) => what.includes('nobody has its intent in custody'))).toBe(true);
        return;
      }
      expect.unreachable('nothing was lost');
    },
    TAKES,
  );

  it(
    'when two dispatchers send and nothing compares versions: customers are told twice',
    async () => {
      const report = await crashWith(1, [TWO_DISPATCHERS, NO_COMPARE_AND_SET], { posters: 4, rate: 10 });
      console.log('no compare-and-set:', report.figures, report.findings.slice(0, 3));
      expect(kindsOf(report)).toContain('twice');
    },
    TAKES,
  );

  it(
    'but not for two dispatchers whose ledger compares versions',
    async () => {
      const { findings, stderr } = await crashWith(1, [TWO_DISPATCHERS], { posters: 4, rate: 10 });
      expect(findings, stderr).toEqual([]);
    },
    TAKES,
  );
});
