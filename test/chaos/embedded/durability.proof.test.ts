import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { launchProduct, startProduct, untilFound, type Product } from '@carillon/testing';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { describeWith, PROGRAMS } from '../../support/requirements.ts';
import { CRASH_BUGS } from '../../harness/planted-bugs/crash-bugs.ts';
import { planting } from '../../harness/planting.ts';
import { STREAM } from '../../harness/shop.ts';
import { openShop, SHOP_ENVIRONMENT } from '../shop.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'carillon-trace-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const CALLS = 'trace=read,write,writev,pwrite64,fsync,fdatasync';
/** Named in the body of the event, so that the write that holds it is found. */
const MARK = 'the-order-that-is-traced';

/** Posts one order to a product whose system calls are written down; answers these, in their order. */
async function traceOrder(env: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const dataDir = join(folder, 'data');
  const first = await startProduct({ dataDir, env: SHOP_ENVIRONMENT });
  const { stream } = await openShop(folder, dataDir, { smtpPort: 9, partnerUrl: 'http://127.0.0.1:9' });
  await first.kill('SIGTERM');

  const file = join(folder, 'trace');
  // As a grandchild (-D), so that a signal reaches the product, and the trace ends when it does. Text in full, paths for numbers.
  const under = [PROGRAMS.strace.path, '-D', '-f', '-y', '-s', '20000', '-e', CALLS, '-o', file];
  const life = launchProduct({ dataDir, env: { ...SHOP_ENVIRONMENT, ...env }, under });
  try {
    const { gatewayUrl }: Product = await life.ready;
    // It fires nothing: nobody else writes because of it before the answer.
    const post = async (order: string): Promise<number> => {
      const answer = await fetch(`${gatewayUrl}/events/${STREAM}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${stream}`, 'content-type': 'application/json' },
        body: JSON.stringify({ order_id: order, status: 'open' }),
      });
      return answer.status;
    };
    // Traced it is slow, and may not have read its configuration for a moment: then another is posted first.
    await untilFound('an order is taken', async () => (await post('an-order-before')) === 202 || undefined);
    expect(await post(MARK)).toBe(202);
  } finally {
    await life.kill('SIGTERM');
  }
  const traced = () => readFile(file, 'utf8').then((text) => (text.includes(`+++ exited`) ? text : undefined));
  return wholeCalls((await untilFound('the end of the trace', traced)).split('\n'));
}

/** A call during which another thread made one is written in two halves: `… <unfinished ...>` and `<... fsync resumed>…`. */
function wholeCalls(lines: readonly string[]): readonly string[] {
  const begun = new Map<string, string>();
  return lines.flatMap((line) => {
    const thread = /^\d+/.exec(line)?.[0] ?? '';
    if (line.endsWith('<unfinished ...>')) {
      begun.set(thread, line.slice(0, -'<unfinished ...>'.length).trimEnd());
      return [];
    }
    const [resumed] = /<\.\.\. \w+ resumed>/.exec(line) ?? [];
    if (resumed === undefined) return [line];
    return [`${begun.get(thread) ?? ''}${line.slice(line.indexOf(resumed) + resumed.length)}`];
  });
}

/** Where the request came in, its bytes were written to the database, and the 202 went out. */
const placesIn = (calls: readonly string[]) => ({
  read: calls.findIndex((call) => call.includes(`POST /events/${STREAM}`) && call.includes(MARK)),
  written: calls.findIndex((call) => /pwrite64\(\d+<[^>]*carillon\.db(-wal)?>/.test(call) && call.includes(MARK)),
  answered: calls.findLastIndex((call) => call.includes('HTTP/1.1 202 Accepted')),
});

/** Waits for the disk that ended well, of the database or its journal. */
const isSync = (call: string): boolean => /f(data)?sync\(\d+<[^>]*carillon\.db(-wal)?>\)\s+= 0/.test(call);

describeWith('strace', 'What was answered with 202 survives a loss of power', () => {
  it('between request and 202 the event is written to the database, and the disk is waited for', async () => {
    const calls = await traceOrder({});
    const { read, written, answered } = placesIn(calls);
    expect(read).toBeGreaterThan(0);
    expect(written).toBeGreaterThan(read);
    expect(answered).toBeGreaterThan(written);
    expect(calls.slice(written, answered).some(isSync)).toBe(true);
  });

  it('and this turns red where commits do not wait for the disk', async () => {
    const calls = await traceOrder(planting(CRASH_BUGS.commitInMemory.changes));
    const { written, answered } = placesIn(calls);
    expect(written).toBeGreaterThan(0);
    expect(answered).toBeGreaterThan(written);
    expect(calls.slice(written, answered).some(isSync)).toBe(false);
  });
});
