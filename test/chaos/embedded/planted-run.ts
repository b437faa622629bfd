import { expect } from 'vitest';
import { plantedLine, planting, type Change } from '../../harness/planting.ts';
import { runCrashes, type CrashOptions, type CrashReport } from './crash-run.ts';

export const TAKES = 300_000;
/** On a busy machine a call is not always under way at a kill. */
export const MAX_SEEDS = 10;
/** Mail servers without whims, so that what goes wrong is the product's doing. The slow one is at work at each kill. */
const CALM = { latency: 20, tempfail: 0, drop: 0 };
const SLOW = { latency: 400, tempfail: 0, drop: 0 };
export const FEW = { rounds: 2, posters: 4, rate: 10, smtp: CALM };
export const FEW_AND_SLOW = { ...FEW, smtp: SLOW };
export const MANY = { rounds: 4, posters: 16, rate: 20, smtp: CALM };

/** A crash run of the product with these changes in it. */
export async function crashWith(
  changes: readonly Change[],
  load: Pick<CrashOptions, 'rounds' | 'posters' | 'rate' | 'smtp' | 'mixture'>,
  seed = 1,
): Promise<CrashReport> {
  const report = await runCrashes({
    seed,
    ...load,
    env: planting(changes),
  });
  for (const change of changes) expect(report.stderr).toContain(plantedLine(change));
  console.log(changes.map(({ file }) => file).join(' and '), report.figures, report.findings.slice(0, 3));
  return report;
}

type Kind = CrashReport['findings'][number]['kind'];

/** A run whose moments chance decides gets up to ten seeds to find all of `wanted`; the first that has is answered, or the last. */
export async function crashUntilRed(
  changes: Parameters<typeof crashWith>[0],
  load: Parameters<typeof crashWith>[1],
  ...wanted: readonly Kind[]
): Promise<CrashReport> {
  for (let seed = 1; ; seed += 1) {
    const report = await crashWith(changes, load, seed);
    const found = kindsOf(report);
    if (wanted.every((kind) => found.has(kind)) || seed === MAX_SEEDS) return report;
  }
}

export const kindsOf = ({ findings }: CrashReport): ReadonlySet<string> => new Set(findings.map(({ kind }) => kind));
