import { Worker } from 'node:worker_threads';
import { execFile } from 'node:child_process';
import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { isCarillonError } from '@carillon/kernel';
import { deliveryOf, logRecord } from '@carillon/testing';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { openEmbedded, WAL_BOUNDS, type Embedded, type EmbeddedOptions } from '../src/index.ts';
import { createWalCopier } from '../src/wal/copier.ts';
import { createCommit } from '../src/writing/commit.ts';
import type { WriterSettings } from '../src/writing/protocol.ts';
import { createWriter } from '../src/writing/writer.ts';
import type { LeaseWrites } from '../src/stores/leases.ts';
import { holdFile, temporaryFolder, wallClock } from './open-embedded.ts';

let folder = temporaryFolder();
let opened: Embedded | undefined;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(async () => {
  await opened?.close();
  opened = undefined;
  folder.remove();
});
const open = async (more: Partial<EmbeddedOptions> = {}): Promise<Embedded> => {
  opened = await openEmbedded({ dataDir: folder.path, clock: wallClock, busyTimeout: 50, ...more });
  return opened;
};
/** The writer alone, over a folder that is there, and the threads that it started. */
async function openWriter() {
  await (await open()).close();
  opened = undefined;
  const settings: WriterSettings = {
    file: join(folder.path, 'carillon.db'),
    logId: 'log_unused',
    topics: [],
    partitions: null,
    createdAt: 1,
    documentTables: [],
    busyTimeout: 50,
    maxFileBytes: null,
    walBounds: WAL_BOUNDS,
  };
  const threads: Worker[] = [];
  const writer = createWriter({
    migrating: () => undefined,
    clock: wallClock,
    maxQueueBytes: 1_000_000,
    joints: {},
    damage: { known: () => null, found: (what) => what },
    copier: createWalCopier({
      bounds: WAL_BOUNDS,
      start: () => expect.unreachable('there is little to copy'),
      found: () => undefined,
    }),
    start() {
      const entry = new URL('../src/writing/thread.ts', import.meta.url);
      const thread = new Worker(entry, { workerData: settings, execArgv: [] });
      threads.push(thread);
      return thread;
    },
  });
  await writer.open();
  return { writer, threads };
}
const codeOf = (error: unknown): string => (isCarillonError(error) ? error.code : `not ours: ${String(error)}`);
const outcome = (write: Promise<unknown>): Promise<string> => write.then(() => 'done', codeOf);

describe('group commit of writes to the data file', () => {
  it('shares one commit among requests that arrive during another commit', async () => {
    const { log, stats } = await open();
    const before = stats().commits;
    await Promise.all(Array.from({ length: 300 }, (_, at) => log.append([logRecord(String(at))])));
    expect(stats().commits - before).toBeLessThan(10);
    expect(stats()).toMatchObject({ waitingBytes: 0, waitingRequests: 0, failing: null });
  });

  it('begins the next commit before it replies to the previous requests, if enough requests are queued', async () => {
    const { writer, threads } = await openWriter();
    const [thread] = threads;
    if (!thread) throw new Error('no thread was started');
    // It passes the call on.
    const post = vi.spyOn(thread, 'postMessage');
    const write = writer.writes<LeaseWrites>();
    const begunWhenTold = ['a', 'b', 'c'].map(async (name) => {
      await write('leases.acquire', { bytes: 1, rows: 1000 }, name, name, 0, 100);
      return post.mock.calls.length;
    });
    expect(await Promise.all(begunWhenTold)).toEqual([2, 3, 3]);
    await writer.close();
  });

  it('rolls back one failed request and commits the others', () => {
    const db = new DatabaseSync(':memory:');
    db.exec('CREATE TABLE t (a INTEGER PRIMARY KEY) STRICT');
    const insert = db.prepare('INSERT INTO t VALUES (?)');
    const commit = createCommit(db, {
      twice: (a: number, b: number): string => {
        insert.run(a);
        insert.run(b);
        return `${a} and ${b}`;
      },
    });
    const request = (...args: number[]) => ({ name: 'twice', args });
    const replies = commit([request(1, 2), request(3, 1), request(4, 5), { name: 'unknown', args: [] }]);
    expect(replies.map((reply) => (reply.ok ? reply.value : 'failed'))).toEqual([
      '1 and 2',
      'failed',
      '4 and 5',
      'failed',
    ]);
    expect(
      db
        .prepare('SELECT a FROM t')
        .all()
        .map((row) => row['a']),
    ).toEqual([1, 2, 4, 5]);
  });

  it('refuses requests that do not fit into the queue, and accepts them when there is room', async () => {
    const { log } = await open({ maxQueueBytes: 100_000 });
    const tries = Array.from({ length: 50 }, () => outcome(log.append([logRecord('x'.repeat(10_000))])));
    const outcomes = await Promise.all(tries);
    expect(outcomes.filter((one) => one === 'overloaded').length).toBeGreaterThan(30);
    expect(outcomes.filter((one) => one === 'done').length).toBeGreaterThan(5);
    expect(await outcome(log.append([logRecord('x'.repeat(10_000))]))).toBe('done');
    // Larger than the queue, but nobody else is in it.
    expect(await outcome(log.append([logRecord('x'.repeat(300_000))]))).toBe('done');
  });

  it('finishes queued requests before it closes, and refuses later ones', async () => {
    const embedded = await open();
    const writes = Array.from({ length: 100 }, () => outcome(embedded.log.append([logRecord('queued')])));
    const closing = embedded.close();
    expect(new Set(await Promise.all(writes))).toEqual(new Set(['done']));
    await closing;
    await embedded.close();
    expect(await outcome(embedded.log.append([logRecord('late')]))).toBe('stopping');
    expect(await outcome(embedded.log.read('carillon.events', 0, 0, 1))).toBe('stopping');
    const again = await open();
    expect((await again.log.bounds('carillon.events', 0)).end).toBe(100);
  });

  it('keeps the process alive only while it writes', async () => {
    const source = new URL('../src/index.ts', import.meta.url).href;
    const program = `
      const { openEmbedded } = await import(${JSON.stringify(source)});
      const { leases } = await openEmbedded({ dataDir: process.argv[1], clock: { now: () => 1 } });
      void leases.acquire('clock', 'a', 0, 1).then((held) => process.stdout.write('held ' + held));`;
    const run = promisify(execFile)(process.execPath, ['--input-type=module', '-e', program, folder.path], {
      timeout: 60_000,
    });
    expect((await run).stdout).toBe('held true');
  });
});

describe('a consumer in the process that appends to the log', () => {
  it('is notified of records when they are committed, without waiting for its poll', async () => {
    const { log } = await open();
    // Looking again, which a timer does, is left out.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const handled: (() => void)[] = [];
    const consumption = await log.consume({
      group: 'pushed',
      topic: 'carillon.events',
      maxRecords: 10,
      maxBytes: 1000,
      assigned: async () => ({
        from: 0,
        handle: async (records) => records.forEach(() => handled.shift()?.()),
        lost: async () => undefined,
      }),
      failed: (_partition, error) => expect.unreachable(String(error)),
    });
    for (let at = 0; at < 20; at += 1) {
      const told = new Promise<void>((resolve) => handled.push(resolve));
      await log.append([logRecord(String(at))]);
      await told;
    }
    await consumption.stop();
  });
});

describe('a writer thread that cannot write', () => {
  it('refuses writes if the file is full, keeps acknowledged ones, and resumes when there is room', async () => {
    const { log, ledger, stats } = await open({ maxFileBytes: 2_000_000 });
    const record = logRecord('x'.repeat(50_000));
    let taken = 0;
    let refused = '';
    while (refused === '' && taken < 100) {
      const one = await outcome(log.append([record]));
      if (one === 'done') taken += 1;
      else refused = one;
    }
    expect(refused).toBe('log_unavailable');
    expect(taken).toBeGreaterThan(10);
    expect(stats().failing).toContain('full');
    expect(await log.bounds('carillon.events', 0)).toEqual({ start: 0, end: taken });
    expect(await log.read('carillon.events', 0, 0, 1000, 100_000_000)).toHaveLength(taken);
    expect(await log.trim('carillon.events', Date.now() + 1000)).toBe(taken);
    expect(await outcome(log.append([record]))).toBe('done');
    expect(await outcome(ledger.insert([deliveryOf()]))).toBe('done');
    expect(stats().failing).toBeNull();
    expect(await log.bounds('carillon.events', 0)).toEqual({ start: taken, end: taken + 1 });
  });

  it('refuses every request of a batch while another program locks the file, and reports the lock', async () => {
    const { log, stats } = await open();
    const other = holdFile(folder.path);
    await other.breakWrites();
    const tries = Array.from({ length: 5 }, () => outcome(log.append([logRecord('refused')])));
    expect(await Promise.all(tries)).toEqual(Array.from({ length: 5 }, () => 'log_unavailable'));
    expect(stats().failing).toContain('locked');
    await other.mendWrites();
    expect(await log.append([logRecord('taken')])).toEqual([0]);
  });

  it('is replaced by another thread if it dies', async () => {
    const { writer, threads } = await openWriter();
    const write = writer.writes<LeaseWrites>();
    const acquire = (holder: string) => write('leases.acquire', { bytes: 1 }, 'clock', holder, 0, 100);
    expect(await acquire('a')).toBe(true);
    const waiting = outcome(acquire('a'));
    await threads[0]?.terminate();
    expect(['done', 'log_unavailable']).toContain(await waiting);
    expect(await acquire('a')).toBe(true);
    expect(threads).toHaveLength(2);
    await writer.close();
  });
});
