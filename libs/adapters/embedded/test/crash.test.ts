import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cp, rm } from 'node:fs/promises';
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

/** Starts a process that appends, and keeps each line that it acknowledged. */
function startAppending(): Witness<string> {
  const lines = createWitness<string>();
  child = spawn(process.execPath, [join(import.meta.dirname, 'append-forever.ts'), folder.path], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const output = child.stdout;
  if (!output) throw new Error('the child has no stdout');
  createInterface({ input: output }).on('line', (line) => lines.saw(line));
  return lines;
}

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

describe('a process that is killed while it appends', () => {
  it('leaves everything that was acknowledged, at the offset that was answered', async () => {
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

describe('the lock of a data folder', () => {
  const refusal = async (): Promise<string> => {
    const error: unknown = await openEmbedded({ dataDir: folder.path, clock: wallClock }).then(
      async (embedded) => embedded.close(),
      (refused: unknown) => refused,
    );
    return isCarillonError(error) && error.code === 'data_locked' ? error.detail : 'not refused';
  };

  it('refuses a second process and names the first, and dies with it', async () => {
    const lines = startAppending();
    await lines.until('it is open', (seen) => seen.length > 0);
    const detail = await refusal();
    expect(detail).toContain(`carillon up (test), pid ${child?.pid} on ${hostname()}`);
    expect(detail).toContain(`kill ${child?.pid}`);
    expect(detail).toContain('--data-dir');
    await kill();
    expect(await refusal()).toBe('not refused');
  });

  it('refuses the same process twice, until it has closed', async () => {
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

  it('is refused where a process wrote meanwhile, however often it is tried, and says what to do instead', async () => {
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

  it('starts where nobody had the folder, and after a crash once a person has said that nobody did', async () => {
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

  it('is refused in the place of the one that it was made of, too', async () => {
    const lines = startAppending();
    await lines.until('it writes', (seen) => seen.length > 20);
    const copy = await copyTo('in-its-place');
    await kill();
    await rm(folder.path, { recursive: true });
    await cp(copy, folder.path, { recursive: true });
    expect(await opening(folder.path)).toMatch(/^data_copied/);
  }, 120_000);
});
