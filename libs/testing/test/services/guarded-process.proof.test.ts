import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { describeWith } from '../../../../test/support/requirements.ts';
import { startGuarded } from '../../src/services/process/guarded-process.ts';
import { runCommand } from '../../src/services/process/run-command.ts';
import { createServiceFolder, isAlive } from '../../src/services/process/service-folder.ts';

let folder = '';
let log = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'carillon-guard-'));
  log = join(folder, 'log');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

type Held = { readonly pids: readonly number[]; readonly dataDir: string };

/** Another process that starts something and says its pids. */
async function holder(what: string): Promise<{ readonly child: ChildProcess; readonly held: Held }> {
  const program = join(import.meta.dirname, 'hold-process.ts');
  const child = spawn(process.execPath, [program, what, log], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  return { child, held: JSON.parse(line.toString()) as Held };
}

const untilGone = (pids: readonly number[]): Promise<void> =>
  vi.waitFor(() => expect(pids.filter(isAlive)).toEqual([]), { timeout: 60_000, interval: 20 });

describe('a guarded process', () => {
  test('reports how it ended, and has its output in its log', async () => {
    const said = startGuarded({
      command: 'sh',
      args: ['-c', 'echo "$GREETING"; exit 3'],
      log,
      env: { GREETING: 'hello' },
    });
    expect(await said.ended).toEqual({ code: 3, signal: null });
    expect(said.running).toBe(false);
    expect(await readFile(log, 'utf8')).toBe('hello\n');
  });

  test('has the reported pid, and receives signals itself', async () => {
    const sleeping = startGuarded({ command: 'sleep', args: ['600'], log });
    expect(isAlive(sleeping.pid)).toBe(true);
    sleeping.signal('SIGKILL');
    expect(await sleeping.ended).toEqual({ code: null, signal: 'SIGKILL' });
    expect(isAlive(sleeping.pid)).toBe(false);
  });

  test('a failing command shows the end of its log', async () => {
    const failing = runCommand({ command: 'sh', args: ['-c', 'echo what is wrong >&2; exit 1'], log });
    await expect(failing).rejects.toThrow(/failed with code 1.*what is wrong/s);
    await expect(runCommand({ command: 'no-such-program', args: [], log })).rejects.toThrow('code 127');
  });

  test('ends if its parent process is killed', async () => {
    const { child, held } = await holder('stay');
    expect(held.pids.every(isAlive)).toBe(true);
    child.kill('SIGKILL');
    await untilGone(held.pids);
  });

  test('ends with its parent process, and does not keep the parent from ending', async () => {
    const { child, held } = await holder('leave');
    if (child.exitCode === null) await once(child, 'exit');
    await untilGone(held.pids);
  });
});

describeWith('mongodb', 'a service whose test run is killed', () => {
  test('is ended, and its data is removed with the next start', async () => {
    const { child, held } = await holder('ferretdb');
    // While it runs, a start of another test run leaves its data alone.
    await rm(await createServiceFolder('next'), { recursive: true });
    expect(existsSync(held.dataDir)).toBe(true);
    child.kill('SIGKILL');
    await untilGone(held.pids);
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    await rm(await createServiceFolder('next'), { recursive: true });
    expect(existsSync(held.dataDir)).toBe(false);
  });
});
