import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { describeWith } from '../../support/requirements.ts';

const TIMEOUT = 300_000;
const root = resolve(import.meta.dirname, '../../..');
let state = '';
beforeAll(async () => {
  state = await mkdtemp(join(tmpdir(), 'carillon-services-command-'));
});
afterAll(() => rm(state, { recursive: true, force: true }));

type Outcome = { readonly code: number; readonly stdout: string; readonly stderr: string };

const run = (args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Outcome> =>
  new Promise((settle) => {
    execFile(
      process.execPath,
      [join(root, 'tools/services.ts'), ...args],
      { cwd: root, env: { ...process.env, CARILLON_SERVICES_STATE: state, ...env } },
      (error, stdout, stderr) => settle({ code: typeof error?.code === 'number' ? error.code : 0, stdout, stderr }),
    );
  });

describe('npm run services', () => {
  test('explains itself', async () => {
    const { code, stdout } = await run(['--help']);
    expect(code).toBe(0);
    for (const word of ['fetch', 'start', 'stop', 'status', 'kafka39', 'CARILLON_CACHE', 'MONGODB_URL']) {
      expect(stdout).toContain(word);
    }
  });

  test.each([
    [['begin'], 'There is no command begin.'],
    [['start', 'oracle'], 'There is no service oracle.'],
    [['start', '--nodes', '2'], '--nodes is 1 or 3.'],
    [['status', '--fast'], "Unknown option '--fast'"],
  ])('refuses %j', async (args, message) => {
    const { code, stderr } = await run(args);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });

  test('lists missing tools with the command that installs them', async () => {
    const { code, stdout } = await run(['fetch'], { PATH: state, JAVA_HOME: '', CARILLON_CACHE: join(state, 'cache') });
    expect(code).toBe(1);
    expect(stdout).toContain('kafka lacks Java 17 or newer, Maven, flock');
    expect(stdout).toContain('apt-get install --no-install-recommends default-jre-headless maven');
  });
});

describeWith('mongodb', 'npm run services with a service', () => {
  test(
    'is started once with its address printed, and stopped',
    async () => {
      const both = await Promise.all([run(['start', 'mongodb']), run(['start', 'mongodb'])]);
      const addresses = both.map(({ stdout }) => /export MONGODB_URL=(\S+)/.exec(stdout)?.[1]);
      expect(both.map(({ code }) => code)).toEqual([0, 0]);
      expect(addresses[0]).toBe(addresses[1]);
      const client = new MongoClient(addresses[0] ?? '');
      expect(await client.db('admin').command({ ping: 1 })).toMatchObject({ ok: 1 });
      await client.close();
      expect((await run(['env'])).stdout).toBe(`export CARILLON_MONGODB_URL=${addresses[0]}\n`);
      expect((await run(['status', 'mongodb'])).stdout).toMatch(/mongodb +runs at mongodb:\S+, \d+ MB/);
      expect((await run(['stop'])).stdout).toMatch(/mongodb: stopped in/);
      expect((await run(['status', 'mongodb'])).stdout).toContain('does not run');
      expect(await run(['env'])).toMatchObject({ code: 1, stderr: 'Nothing runs: npm run services -- start\n' });
    },
    TIMEOUT,
  );
});
