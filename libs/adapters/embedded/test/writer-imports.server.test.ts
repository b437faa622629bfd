import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

/** Imports the entry of the thread, which throws outside a thread, and prints which packages of ours that loads. */
const PROGRAM = `
import { registerHooks } from 'node:module';
const loaded = new Set();
registerHooks({
  load(url, context, next) {
    const name = /\\/libs\\/((?:adapters\\/)?[\\w-]+)\\//.exec(url)?.[1];
    if (name && !url.includes('node_modules')) loaded.add(name);
    return next(url, context);
  },
});
await import(process.argv[1]).catch(() => undefined);
console.log(JSON.stringify([...loaded]));
process.exit(0);
`;

it('the writer thread loads no schemas of records and HTTP, so that a data folder opens quickly', async () => {
  const entry = new URL('../src/writing/thread.ts', import.meta.url).href;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', PROGRAM, entry]);
  const loaded = JSON.parse(stdout) as readonly string[];
  expect(loaded).toContain('domain');
  expect(loaded).not.toContain('contracts');
}, 120_000);
