import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, statSync } from 'node:fs';
import { copyFile, cp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { isCarillonError } from '@carillon/kernel';
import { createWitness, type Witness } from '@carillon/testing';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openEmbedded, type Embedded } from '../src/index.ts';
import { temporaryFolder, wallClock } from './open-embedded.ts';

let folder = temporaryFolder();
let child: ChildProcess | undefined;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(async () => {
  await kill();
  folder.remove();
});

/** Ends it as a power button would: it gets no word in. */
async function kill(): Promise<void> {
  if (!child || child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

/** Starts a process that writes, and keeps each line that it acknowledged. */
function start(program: 'append-forever.ts' | 'move-forever.ts'): Witness<string> {
  const lines = createWitness<string>();
  child = spawn(process.execPath, [join(import.meta.dirname, program), folder.path], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const output = child.stdout;
  if (!output) throw new Error('the child has no stdout');
  createInterface({ input: output }).on('line', (line) => lines.saw(line));
  return lines;
}

const startAppending = (): Witness<string> => start('append-forever.ts');

/** `partition offset text` of each record that was acknowledged; the last line may be half of one. */
const acknowledgedIn = (lines: readonly string[]): readonly string[] =>
  lines.filter((line) => line !== 'open' && line.split(' ').length === 3);

async function holdsAll(embedded: Embedded, acknowledged: readonly string[]): Promise<void> {
  for (const line of acknowledged) {
    const [partition, offset, text] = line.split(' ');
    const [record] = await embedded.log.read('carillon.events', Number(partition), Number(offset), 1);
    expect(`${record?.offset} ${new TextDecoder().decode(record?.value)}`).toBe(`${offset} ${text}`);
  }
}

describe('a process killed while it appends', () => {
  it('keeps every acknowledged record at its offset', async () => {
    for (const enough of [20, 200]) {
      const lines = startAppending();
      await lines.until('it has acknowledged some', (seen) => seen.length > enough);
      await kill();
      const embedded = await openEmbedded({ dataDir: folder.path, clock: wallClock });
      const acknowledged = acknowledgedIn(lines.seen);
      expect(acknowledged.length).toBeGreaterThanOrEqual(enough);
      await holdsAll(embedded, acknowledged);
      await embedded.close();
    }
  }, 300_000);
});

describe('a process killed while it changes states of deliveries', () => {
  it('leaves exactly one log record per change that it stored', async () => {
    const acknowledged = new Set<string>();
    for (const enough of [5, 60, 150]) {
      const lines = start('move-forever.ts');
      await lines.until('it has moved some', (seen) => seen.length > enough);
      await kill();
      for (const line of lines.seen.slice(0, enough)) acknowledged.add(line);
      const embedded = await openEmbedded({ dataDir: folder.path, clock: wallClock });
      const { ledger, log } = embedded;
      const told: string[] = [];
      for (let partition = 0; partition < log.partitions('carillon.outcomes'); partition += 1) {
        const records = await log.read('carillon.outcomes', partition, 0, 100_000);
        told.push(...records.map(({ value }) => new TextDecoder().decode(value)));
      }
      const moved: string[] = [];
      for (let page = await ledger.list({ states: ['SENT'] }, 500); ;) {
        moved.push(...page.items.map(({ id }) => id));
        expect(page.items.every(({ unpublished }) => unpublished.length === 0)).toBe(true);
        if (page.next === null) break;
        page = await ledger.list({ states: ['SENT'] }, 500, page.next);
      }
      expect(told.toSorted()).toEqual(moved.toSorted());
      expect([...acknowledged].filter((id) => !moved.includes(id))).toEqual([]);
      expect(await ledger.unpublished(Number.MAX_SAFE_INTEGER, 10)).toEqual([]);
      await embedded.close();
    }
  }, 300_000);
});

describe('the lock of a data folder', () => {
  const refusal = async (): Promise<string> => {
    const error: unknown = await openEmbedded({ dataDir: folder.path, clock: wallClock }).then(
      async (embedded) => embedded.close(),
      (refused: unknown) => refused,
    );
    return isCarillonError(error) && error.code === 'data_locked' ? error.detail : 'not refused';
  };

  it('refuses a second process, names the first, and is free once the first ends', async () => {
    const lines = startAppending();
    await lines.until('it is open', (seen) => seen.length > 0);
    const detail = await refusal();
    expect(detail).toContain(`carillon up (test), pid ${child?.pid} on ${hostname()}`);
    expect(detail).toContain(`kill ${child?.pid}`);
    expect(detail).toContain('--data-dir');
    await kill();
    expect(await refusal()).toBe('not refused');
  });

  it('refuses a second lock in the same process until it is released', async () => {
    const first = await openEmbedded({ dataDir: folder.path, clock: wallClock });
    expect(await refusal()).toContain(`this process (pid ${process.pid})`);
    // Being refused must not have let go of the lock of the one that has it.
    expect(await refusal()).toContain(`this process (pid ${process.pid})`);
    await first.close();
    expect(await refusal()).toBe('not refused');
  });
});

describe('a copy of a data folder', () => {
  const copies = temporaryFolder();
  afterAll(() => copies.remove());
  const copyTo = async (name: string): Promise<string> => {
    const copy = join(copies.path, name);
    await cp(folder.path, copy, { recursive: true });
    return copy;
  };
  const opening = (dataDir: string): Promise<string> =>
    openEmbedded({ dataDir, clock: wallClock }).then(
      async (embedded) => {
        await embedded.close();
        return 'opened';
      },
      (error: unknown) => (isCarillonError(error) ? `${error.code}: ${error.detail}` : String(error)),
    );

  it('is refused if a process wrote during the copy, with instructions', async () => {
    const lines = startAppending();
    await lines.until('it writes', (seen) => seen.length > 20);
    for (const name of ['one', 'two', 'three']) {
      const before = lines.seen.length;
      const copy = await copyTo(name);
      for (let time = 1; time <= 2; time += 1) {
        const answer = await opening(copy);
        expect(answer).toMatch(/^data_copied: .*carillon up \(test\).*carillon backup.*carillon restore/s);
        expect(answer).toContain(join(copy, 'carillon.lock.json'));
      }
      await lines.until('it goes on', (seen) => seen.length > before);
    }
    await kill();
    expect(await opening(folder.path)).toBe('opened');
  }, 120_000);

  it('starts if the folder was not in use, and after a crash only once a person confirms it', async () => {
    const lines = startAppending();
    await lines.until('it writes', (seen) => seen.length > 20);
    await kill();
    const crashed = await copyTo('crashed');
    expect(await opening(crashed)).toMatch(/^data_copied/);
    await rm(join(crashed, 'carillon.lock.json'));
    const embedded = await openEmbedded({ dataDir: crashed, clock: wallClock });
    await holdsAll(embedded, acknowledgedIn(lines.seen));
    await embedded.close();

    expect(await opening(folder.path)).toBe('opened');
    expect(await opening(await copyTo('stopped'))).toBe('opened');
  }, 120_000);

  it('is refused at the path of its original', async () => {
    const lines = startAppending();
    await lines.until('it writes', (seen) => seen.length > 20);
    const copy = await copyTo('in-its-place');
    await kill();
    await rm(folder.path, { recursive: true });
    await cp(copy, folder.path, { recursive: true });
    expect(await opening(folder.path)).toMatch(/^data_copied/);
  }, 120_000);

  it('is refused if it has the inode number of its original and was made within the same moment', async () => {
    const dataFile = join(folder.path, 'carillon.db');
    const holder = join(folder.path, 'carillon.lock.json');
    const lines = startAppending();
    await lines.until('it writes', (seen) => seen.length > 20);
    const told = JSON.parse(await readFile(holder, 'utf8')) as { dataFile: { inode: string; bornNs: string } };
    await kill();
    await rm(dataFile);
    // Made and changed within one tick of the clock of the file system.
    closeSync(openSync(dataFile, 'a', 0o600));
    told.dataFile.inode = String(statSync(dataFile, { bigint: true }).ino);
    await writeFile(holder, JSON.stringify(told));
    expect(await opening(folder.path)).toMatch(/^data_copied/);
  }, 120_000);

  /** Lays the files of a copy over those of the folder. */
  async function copyFiles(from: string): Promise<void> {
    for (const name of await readdir(folder.path)) {
      if (/^carillon\.db-(?:wal|shm)$/.test(name)) await rm(join(folder.path, name));
    }
    const names = (await readdir(from)).filter((name) => name.startsWith('carillon.'));
    for (const name of names) await copyFile(join(from, name), join(folder.path, name));
  }

  it('is refused if it is copied over its original files after another process used them', async () => {
    const lines = startAppending();
    await lines.until('it writes', (seen) => seen.length > 20);
    const copy = await copyTo('over-them');
    await kill();
    const whole = await copyTo('whole');
    for (const end of ['after an order to stop', 'after a kill']) {
      if (end === 'after a kill') {
        // A copy made during writes may be torn, so nothing starts on it.
        await copyFiles(whole);
        await rm(join(folder.path, 'carillon.lock.json'));
        const again = startAppending();
        await again.until('it writes', (seen) => seen.length > 20);
        await kill();
      } else expect(await opening(folder.path)).toBe('opened');
      await copyFiles(copy);
      expect(await opening(folder.path), end).toMatch(/^data_copied/);
      // As if a person had said that nobody had it.
      await rm(join(folder.path, 'carillon.lock.json'));
    }
  }, 120_000);

  it('is accepted if the data was only moved to another path after a crash', async () => {
    const lines = startAppending();
    await lines.until('it writes', (seen) => seen.length > 20);
    await kill();
    for (const name of await readdir(folder.path)) {
      if (name.startsWith('carillon.db')) await rename(join(folder.path, name), join(folder.path, `old-${name}`));
    }
    expect(await opening(folder.path)).toBe('opened');
  }, 120_000);
});
