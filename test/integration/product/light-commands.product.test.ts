import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';

const MAIN = resolve(import.meta.dirname, '../../../apps/cli/src/main.ts');
/** Notes every file that Node loads into the file that LOADED names. */
const WITNESS = `
  import { appendFileSync } from 'node:fs';
  import { registerHooks } from 'node:module';
  registerHooks({ load: (url, context, next) => (appendFileSync(process.env.LOADED, url + '\\n'), next(url, context)) });
`;

/** What a command loads until it finds that there is nobody to ask. */
async function loadedBy(command: readonly string[]): Promise<readonly string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'carillon-light-'));
  const loaded = join(folder, 'loaded');
  const env = { LOADED: loaded, NO_COLOR: '1', CARILLON_URL: 'http://127.0.0.1:1', CARILLON_TOKEN: 'own_nobody' };
  const args = ['--import', `data:text/javascript,${encodeURIComponent(WITNESS)}`, MAIN, ...command];
  const stderr = await new Promise<string>((settle) => {
    execFile(process.execPath, args, { env, cwd: folder }, (_error, _stdout, said) => settle(said));
  });
  expect(stderr).toContain('no server answers at http://127.0.0.1:1');
  const files = (await readFile(loaded, 'utf8')).split('\n').filter((url) => url.startsWith('file:'));
  await rm(folder, { recursive: true, force: true });
  return files;
}

it.each([
  [['deliveries']],
  [['events']],
  [['trace', 'evt_1']],
  [['doctor']],
  [['suppressions', 'list']],
  [['api-key', 'list']],
])('%j loads only packages of the command line, no roles, adapters or configuration readers', async (command) => {
  const packages = new Set(
    (await loadedBy(command)).map((url) =>
      /node_modules\/(@[^/]+\/[^/]+|[^/]+)|\/((?:apps|libs\/adapters|libs)\/[^/]+)\//.exec(url)?.slice(1).find(Boolean),
    ),
  );
  expect([...packages].toSorted((a = '', b = '') => a.localeCompare(b))).toEqual([
    'apps/cli',
    'commander',
    'libs/kernel',
  ]);
});
