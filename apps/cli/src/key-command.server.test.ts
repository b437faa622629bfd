import { readFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { untilFound } from '@carillon/testing';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { keyFromCommand } from './key-command.ts';

const KEY = 'a1'.repeat(32);
let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carillon-key-command-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const refused = (command: string, within?: number): Promise<string> =>
  keyFromCommand('SETTING', command, within).then(
    () => 'taken',
    (error: unknown) => (error as Error).message,
  );

it('A key command provides its output as the key', async () => {
  expect(await keyFromCommand('SETTING', `printf '%s\\n' ${KEY} | cat`)).toBe(KEY);
});

it('A key command that fails, prints nothing or prints too much is refused by its setting name, and its output is not shown', async () => {
  expect(await refused(`echo ${KEY}; echo secret >&2; exit 3`)).toMatch(/SETTING: the command ended with code 3\./);
  expect(await refused('true')).toContain('printed nothing');
  expect(await refused('yes canary')).toContain('printed more than a key');
  expect(await refused('/no/such/program')).toContain('ended with code 127');
  for (const command of [`echo ${KEY}; exit 3`, 'yes canary', 'echo canary >&2; exit 1']) {
    expect(await refused(command)).not.toMatch(/canary|a1a1/);
  }
});

it('A key command that takes too long is killed with its child processes', async () => {
  const pids = join(folder, 'pids');
  expect(await refused(`sleep 60 & echo $! > ${pids}; sleep 60`, 500)).toContain('took longer than 0.5 s');
  const pid = Number(readFileSync(pids, 'utf8'));
  await untilFound('the end of what it started', () => {
    try {
      process.kill(pid, 0);
      // A zombie of a machine whose first process does not wait for its children has ended too.
      return /^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8')) || undefined;
    } catch {
      return true;
    }
  });
});
