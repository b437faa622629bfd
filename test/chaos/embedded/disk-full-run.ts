import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { untilFound, type Product } from '@carillon/testing';
import { PROGRAMS } from '../../support/requirements.ts';
import type { Posters } from '../posters.ts';
import { runCrashes, type CrashOptions, type CrashReport } from './crash-run.ts';

const run = promisify(execFile);
const WITHIN = 120_000;
/** The first page of a file can be written, and nothing behind it: no commit goes through. */
const FULL = '4096';

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

export type DiskFullReport = CrashReport & {
  readonly takenWhileFull: number;
  /** The HTTP status that the management API answered with. */
  readonly statusWhileFull: number;
  /** Everything that posts were answered while it was full. */
  readonly answersWhileFull: ReadonlySet<string>;
};

/** The disk of the running product is full for a while; then it has room, comes to rest, is killed once and judged. */
export async function runDiskFull(options: Pick<CrashOptions, 'seed' | 'env'>): Promise<DiskFullReport> {
  let takenWhileFull = -1;
  let statusWhileFull = 0;
  let answersWhileFull: ReadonlySet<string> = new Set();
  const report = await runCrashes({
    ...options,
    rounds: 1,
    posters: 4,
    smtp: { latency: 20, tempfail: 0, drop: 0 },
    async trouble(product, posters) {
      await untilTaken(posters, 20);
      const from = Date.now();
      await limitFiles(product.pid, FULL);
      // Each poster has been refused since: whatever was under way when it filled up is answered.
      const refused = posters.cut();
      const allRefused = () => posters.cut() >= refused + 8 || undefined;
      await untilFound('posts that are refused', allRefused, WITHIN);
      const taken = posters.taken();
      const answered = posters.refusals().length;
      await untilFound('more of them', () => posters.cut() >= refused + 40 || undefined, WITHIN);
      takenWhileFull = posters.taken() - taken;
      answersWhileFull = new Set(posters.refusals().slice(answered));
      statusWhileFull = await askStatus(product);
      await limitFiles(product.pid, 'unlimited');
      const until = Date.now();
      await untilTaken(posters, posters.taken() + 20);
      return [{ from, until }];
    },
  });
  return { ...report, takenWhileFull, statusWhileFull, answersWhileFull };
}
