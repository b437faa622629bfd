import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startProduct } from '@carillon/testing';
import { describe, expect, it } from 'vitest';
import { runCrashes, type CrashOptions, type CrashReport } from './crash-run.ts';
import {
  ANSWER_BEFORE_CUSTODY,
  DOUBT_SENT_AGAIN,
  MEMBERS_BEFORE_EVENTS,
  NO_COMPARE_AND_SET,
  plantedLine,
  planting,
  POSITION_BEFORE_CUSTODY,
  SECOND_ANSWER_ACCEPTED,
  TWO_DISPATCHERS,
  type Change,
} from '../planting.ts';

/** Mail servers without whims, so that what goes wrong is the product's doing. The slow one is at work at each kill. */
const CALM = { latency: 20, tempfail: 0, drop: 0 };
const SLOW = { latency: 400, tempfail: 0, drop: 0 };
const FEW = { rounds: 2, posters: 4, rate: 10, smtp: CALM };
const MANY = { rounds: 4, posters: 16, rate: 20, smtp: CALM };
const ASKING = { ...FEW, rounds: 3, mixture: { lookups: 0.8 } };
const CHANGING = { ...FEW, rounds: 3, mixture: { changes: 0.8 } };
const TAKES = 120_000;

async function crashWith(
  changes: readonly Change[],
  load: Pick<CrashOptions, 'rounds' | 'posters' | 'rate' | 'smtp' | 'mixture'>,
  seed = 1,
): Promise<CrashReport> {
  const report = await runCrashes({
    seed,
    ...load,
    dispatchers: changes.includes(TWO_DISPATCHERS) ? 2 : 1,
    env: planting(changes),
  });
  for (const change of changes) expect(report.stderr).toContain(plantedLine(change));
  console.log(changes.map(({ file }) => file).join(' and '), report.figures, report.findings.slice(0, 3));
  return report;
}

const kindsOf = ({ findings }: CrashReport): ReadonlySet<string> => new Set(findings.map(({ kind }) => kind));

describe('The crash test turns red', () => {
  it(
    'when the position is saved before custody: acknowledged events are lost',
    async () => {
      // The moment between the two writes is short: busy partitions are nearly always in it, but chance has its say.
      for (let seed = 1; seed <= 4; seed += 1) {
        const report = await crashWith([POSITION_BEFORE_CUSTODY], MANY, seed);
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
      const report = await crashWith([TWO_DISPATCHERS, NO_COMPARE_AND_SET], FEW);
      expect(kindsOf(report)).toContain('twice');
    },
    TAKES,
  );

  it(
    'when a call that a kill cut off is made again: customers are told twice',
    async () => {
      const report = await crashWith([DOUBT_SENT_AGAIN], { ...FEW, smtp: SLOW });
      expect(kindsOf(report)).toEqual(new Set(['twice']));
    },
    TAKES,
  );

  it(
    'when answers come on the log before they are in custody, and the second one counts too: asked again, told twice',
    async () => {
      const report = await crashWith([ANSWER_BEFORE_CUSTODY, SECOND_ANSWER_ACCEPTED], ASKING);
      expect(kindsOf(report)).toEqual(new Set(['asked', 'twice']));
    },
    TAKES,
  );

  it(
    'when members of a cohort are saved before their events: changes are lost',
    async () => {
      const report = await crashWith([MEMBERS_BEFORE_EVENTS], CHANGING);
      expect(kindsOf(report)).toEqual(new Set(['lost']));
      expect(report.findings.every(({ what }) => what.includes('no event came of it'))).toBe(true);
    },
    TAKES,
  );

  it(
    'but not for two dispatchers whose ledger compares versions',
    async () => {
      const { findings, stderr } = await crashWith([TWO_DISPATCHERS], FEW);
      expect(findings, stderr).toEqual([]);
    },
    TAKES,
  );

  it('and a bug whose place is gone from the source is told, not left out', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'carillon-crash-'));
    const gone = { ...POSITION_BEFORE_CUSTODY, from: 'a text that nobody wrote' };
    await expect(startProduct({ dataDir: join(folder, 'data'), env: planting([gone]) })).rejects.toThrow(
      /stage-consumer.ts has the text to be changed 0 times/,
    );
    await rm(folder, { recursive: true, force: true });
  });
});
