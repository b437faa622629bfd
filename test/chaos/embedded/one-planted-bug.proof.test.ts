import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startProduct } from '@carillon/testing';
import { describe, expect, it } from 'vitest';
import { CRASH_BUGS } from '../../harness/planted-bugs/crash-bugs.ts';
import { planting } from '../../harness/planting.ts';
import { crashUntilRed, FEW_AND_SLOW, kindsOf, TAKES } from './planted-run.ts';

/** One bug, in a minute. The others: planted-bugs.proof.test.ts. */
describe('The crash test turns red', () => {
  it(
    'when a call that a kill cut off is made again: customers are told twice',
    async () => {
      const report = await crashUntilRed(CRASH_BUGS.doubtSentAgain.changes, FEW_AND_SLOW, 'twice');
      expect(kindsOf(report)).toContain('twice');
    },
    4 * TAKES,
  );

  it('and a bug whose place is gone from the source is told, not left out', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'carillon-crash-'));
    const gone = { ...CRASH_BUGS.positionBeforeCustody.changes[0], from: 'a text that nobody wrote' };
    await expect(startProduct({ dataDir: join(folder, 'data'), env: planting([gone]) })).rejects.toThrow(
      /stage-consumer.ts has the text to be changed 0 times/,
    );
    await rm(folder, { recursive: true, force: true });
  });
});
