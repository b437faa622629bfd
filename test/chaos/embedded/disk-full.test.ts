import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { untilFound, type Product } from '@carillon/testing';
import { expect, it } from 'vitest';
import { describeWith, PROGRAMS } from '../../support/requirements.ts';
import type { Posters } from '../posters.ts';
import { runCrashes } from './crash-run.ts';

const run = promisify(execFile);
const WITHIN = 120_000;
/** The first page of a file can be written, and nothing behind it: no commit goes through. */
const FULL = '4096';

/** An answer of the partner that came so near to it may not have been written down. */
const NEAR = 10_000;

/** As on a full disk, every write that makes a file longer fails for this process (EFBIG in place of ENOSPC). */
const limitFiles = (pid: number, bytes: string) =>
  run(PROGRAMS.prlimit.path, ['--pid', String(pid), `--fsize=${bytes}:unlimited`]);

const untilTaken = (posters: Posters, count: number): Promise<true> =>
  untilFound(`${count} are acknowledged`, () => posters.taken() >= count || undefined, WITHIN);

/** Whether it still answers operators. */
async function askStatus({ controlUrl, token }: Product): Promise<number> {
  const answer = await fetch(`${controlUrl}/v1/status`, { headers: { authorization: `Bearer ${token}` } });
  return answer.status;
}

describeWith('prlimit', 'A disk that is full', () => {
  it('takes nothing and loses nothing: 503 while it is full, and on it goes by itself when there is room', async () => {
    let takenWhileFull = -1;
    let statusWhileFull = 0;
    const { findings, figures, stderr } = await runCrashes({
      seed: 1,
      rounds: 1,
      posters: 4,
      smtp: { latency: 20, tempfail: 0, drop: 0 },
      async trouble(product, posters) {
        await untilTaken(posters, 20);
        const from = Date.now() - NEAR;
        await limitFiles(product.pid, FULL);
        // Each poster has been refused since: whatever was under way when it filled up is answered.
        const refused = posters.cut();
        const allRefused = () => posters.cut() >= refused + 8 || undefined;
        await untilFound('posts that are refused', allRefused, WITHIN);
        const taken = posters.taken();
        await untilFound('more of them', () => posters.cut() >= refused + 40 || undefined, WITHIN);
        takenWhileFull = posters.taken() - taken;
        statusWhileFull = await askStatus(product);
        await limitFiles(product.pid, 'unlimited');
        const until = Date.now() + NEAR;
        await untilTaken(posters, posters.taken() + 20);
        return { from, until };
      },
    });
    expect(findings, stderr).toEqual([]);
    expect(takenWhileFull).toBe(0);
    expect(statusWhileFull).toBe(200);
    expect(stderr).toContain('"code":"log_unavailable"');
    expect(stderr).toContain('writing to the data file failed');
    expect(figures['requestsCut']).toBeGreaterThanOrEqual(40);
  }, 600_000);
});
