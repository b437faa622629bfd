import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { openSync, readSync, closeSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { isCarillonError } from '@carillon/kernel';
import type { TopicName } from '@carillon/ports';
import { createWitness, logRecord, type Witness } from '@carillon/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { INDEX_BYTES, readIndex } from '../src/damage/wal-frames.ts';
import { openEmbedded, type Embedded, type EmbeddedOptions, type WalBounds } from '../src/index.ts';
import { createWalCopier } from '../src/wal/copier.ts';
import { temporaryFolder, wallClock } from './open-embedded.ts';

const KIB = 1024;
const MIB = 1024 * KIB;
const SMALL: WalBounds = { copyFrom: 256 * KIB, waitFrom: MIB, most: 4 * MIB };
/** What one append of the tests takes of the log at most, with the pages of its indexes. */
const ONE_APPEND = 150 * KIB;

let folder = temporaryFolder();
let opened: Embedded | undefined;
let child: ChildProcess | undefined;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(async () => {
  await kill();
  await opened?.close();
  opened = undefined;
  folder.remove();
});

async function open(more: Partial<EmbeddedOptions> = {}): Promise<Embedded> {
  opened = await openEmbedded({ dataDir: folder.path, clock: wallClock, busyTimeout: 50, walBounds: SMALL, ...more });
  return opened;
}
const close = async (): Promise<void> => {
  await opened?.close();
  opened = undefined;
};
const inFolder = (name: string): string => join(folder.path, name);
const sizeOfLog = (): number => statSync(inFolder('carillon.db-wal'), { throwIfNoEntry: false })?.size ?? 0;

/** Another program that reads an old state until it is told to end. */
function reader(): DatabaseSync {
  const db = new DatabaseSync(inFolder('carillon.db'), { readOnly: true });
  db.exec('BEGIN');
  db.prepare('SELECT count(*) FROM records').get();
  return db;
}

async function kill(): Promise<void> {
  if (!child || child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

/** Starts a process that fills the file, and keeps each line of it. */
function fill({ copyFrom, waitFrom, most }: WalBounds, ...held: readonly 'held'[]): Witness<string> {
  const lines = createWitness<string>();
  const words = [folder.path, copyFrom, waitFrom, most, ...held].map(String);
  child = spawn(process.execPath, [join(import.meta.dirname, 'fill-forever.ts'), ...words], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (!child.stdout) throw new Error('the child has no stdout');
  createInterface({ input: child.stdout }).on('line', (line) => lines.saw(line));
  return lines;
}

async function holdsAll({ log }: Embedded, lines: readonly string[]): Promise<number> {
  const acknowledged = lines.filter((line) => /^\d+ \d+ \d+:\d+$/.test(line));
  for (const line of acknowledged) {
    const [partition, offset, text] = line.split(' ');
    const [record] = await log.read('carillon.intents', Number(partition), Number(offset), 1);
    expect(new TextDecoder().decode(record?.value).startsWith(`${text}:`)).toBe(true);
  }
  return acknowledged.length;
}

describe('the write-ahead log of the data file', () => {
  it('is copied into the data file in the background and then reused, so that it never exceeds its bound', async () => {
    // Making the tables is one write, of whatever length.
    await open();
    await close();
    const { log, stats } = await open();
    for (let at = 0; at < 400; at += 1) {
      await log.append([logRecord('x'.repeat(50_000))]);
      // A commit that is just under way may hold a copying, which is then tried again after the next.
      expect(sizeOfLog()).toBeLessThan(SMALL.waitFrom + 4 * ONE_APPEND);
    }
    expect(stats().copyings).toBeGreaterThan(5);
    expect(stats().notCopied).toBeNull();
    expect(stats().fileBytes).toBeGreaterThan(400 * 50_000 - SMALL.waitFrom);
  });

  it('stays within its bound while another program reads an old state: writes are refused, and resume later without a restart', async () => {
    const embedded = await open();
    const { log, stats } = embedded;
    await log.append([logRecord('first')]);
    const other = reader();
    const refusal = async (topic: TopicName): Promise<string> => {
      for (let at = 0; at < 200; at += 1) {
        const refused: unknown = await log.append([logRecord('x'.repeat(50_000), { topic })]).then(
          () => null,
          (error: unknown) => error,
        );
        if (isCarillonError(refused)) return `${refused.code}: ${refused.detail}`;
        if (refused instanceof Error) throw refused;
      }
      return 'never refused';
    };
    // What comes in is refused first: the rest is for the ends of what is under way.
    expect(await refusal('carillon.events')).toMatch(
      /^log_unavailable: the write-ahead log .* has grown to 3 MiB .*backup.*carillon\.db open/s,
    );
    expect(embedded.health().failing).toContain('write-ahead log');
    expect(stats().failing).toBeNull();
    expect(await refusal('carillon.intents')).toContain('has grown to 4 MiB');
    expect(sizeOfLog()).toBeGreaterThanOrEqual(SMALL.most);
    expect(sizeOfLog()).toBeLessThan(SMALL.most + ONE_APPEND);
    expect(stats().failing).toContain('write-ahead log');
    expect(await refusal('carillon.intents')).toMatch(/^log_unavailable/);
    const end = (await log.bounds('carillon.events', 0)).end;
    other.close();
    const again = (): Promise<readonly number[]> => log.append([logRecord('again')]).catch(() => []);
    await expect.poll(again, { timeout: 60_000, interval: 5 }).toEqual([end]);
    expect(embedded.health().failing).toBeNull();
    for (let at = 0; at < 20; at += 1) await log.append([logRecord('x'.repeat(50_000))]);
    expect(sizeOfLog()).toBeLessThan(SMALL.most);
  });

  it('is copied later if no thread could be started, without delaying writes, and a log line says so', async () => {
    let starts = 0;
    const copier = createWalCopier({
      bounds: SMALL,
      start() {
        starts += 1;
        throw new Error('no more threads');
      },
      found: expect.unreachable,
    });
    const log = { bytes: SMALL.waitFrom, left: SMALL.waitFrom };
    copier.grew(log);
    await copier.room();
    expect(copier.stats()).toMatchObject({ notCopied: 'no more threads', copyings: 1 });
    expect(copier.room()).toBeNull();
    copier.grew({ bytes: 2 * log.bytes, left: 2 * log.bytes });
    await copier.room();
    expect(starts).toBe(2);
    await copier.close();
  });

  it('is completely in the data file after a clean stop, and the next start reports nothing', async () => {
    const { log } = await open({ walBounds: { ...SMALL, copyFrom: 64 * MIB } });
    for (let at = 0; at < 20; at += 1) await log.append([logRecord('x'.repeat(50_000))]);
    await close();
    expect(statSync(inFolder('carillon.db-wal'), { throwIfNoEntry: false })).toBeUndefined();
    expect((await open()).foundWal).toBeNull();
  });
});

describe('a process that is killed while it writes the data file', () => {
  it('keeps every acknowledged write even if the log is at its bound; the next start reports how long the copy took', async () => {
    const most = 16 * MIB;
    const lines = fill({ ...SMALL, most }, 'held');
    await lines.until('it was refused', (seen) => seen.some((line) => line.startsWith('refused: ')));
    await kill();
    const left = sizeOfLog();
    expect(left).toBeGreaterThanOrEqual(most);
    const embedded = await open();
    expect(embedded.foundWal?.bytes).toBe(left);
    expect(embedded.foundWal?.tookMs).toBeGreaterThan(0);
    expect(await holdsAll(embedded, lines.seen)).toBeGreaterThan(100);
    // It was copied before anybody could read: who reads from now on, as the look at the pages does, keeps nobody from writing.
    expect(embedded.stats().walLeft).toBe(0);
    const other = reader();
    for (let at = 0; at < 3; at += 1) await embedded.log.append([logRecord('later')]);
    other.close();
    expect(sizeOfLog()).toBeLessThan(most);
  }, 300_000);

  it('keeps every acknowledged write, and an intact file, if the log is being copied', async () => {
    const interrupted = (): boolean => {
      const file = openSync(inFolder('carillon.db-shm'), 'r');
      const bytes = new Uint8Array(INDEX_BYTES);
      readSync(file, bytes, 0, INDEX_BYTES, 0);
      closeSync(file);
      const index = readIndex(bytes);
      return index !== null && index.attempted > index.copied;
    };
    let seen = 0;
    // The index of the log tells whether the kill fell into a copying.
    for (let time = 0; time < 100 && seen === 0; time += 1) {
      const lines = fill({ copyFrom: 128 * KIB, waitFrom: 256 * KIB, most: 4 * MIB });
      await lines.until('it writes', ({ length }) => length > 30 + time);
      await kill();
      if (interrupted()) seen += 1;
      const embedded = await open({ walBounds: SMALL });
      expect(await holdsAll(embedded, lines.seen)).toBeGreaterThan(20);
      expect(await embedded.lookAtPages(120_000)).toMatchObject({ kind: 'whole' });
      await close();
      folder.remove();
      folder = temporaryFolder();
    }
    expect(seen).toBe(1);
  }, 600_000);
});
