import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { isCarillonError } from '@carillon/kernel';
import { createWitness, type Witness } from '@carillon/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openEmbedded } from '../src/index.ts';
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

describe('a process that is killed while it appends', () => {
  it('leaves everything that was acknowledged, at the offset that was answered', async () => {
    for (const enough of [20, 200]) {
      const lines = startAppending();
      await lines.until('it has acknowledged some', (seen) => seen.length > enough);
      await kill();
      const embedded = await openEmbedded({ dataDir: folder.path, clock: wallClock });
      const acknowledged = lines.seen.filter((line) => line !== 'open' && line.split(' ').length === 3);
      expect(acknowledged.length).toBeGreaterThanOrEqual(enough);
      for (const line of acknowledged) {
        const [partition, offset, text] = line.split(' ');
        const [record] = await embedded.log.read('carillon.events', Number(partition), Number(offset), 1);
        expect(`${record?.offset} ${new TextDecoder().decode(record?.value)}`).toBe(`${offset} ${text}`);
      }
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
