import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

/** Imports what every process starts with, and prints which packages of others that loads. */
const PROGRAM = `
import { registerHooks } from 'node:module';
const loaded = new Set();
registerHooks({
  load(url, context, next) {
    const name = /node_modules\\/((?:@[^/]+\\/)?[^/]+)\\/(?!.*node_modules\\/)/.exec(url)?.[1];
    if (name) loaded.add(name);
    return next(url, context);
  },
});
await import(process.argv[1]);
console.log(JSON.stringify([...loaded]));
process.exit(0);
`;

it('A process starts without the libraries of Twilio, Google, PostgreSQL and MJML; they are loaded on first use', async () => {
  const foundation = new URL('./foundation.ts', import.meta.url).href;
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--input-type=module',
    '--eval',
    PROGRAM,
    foundation,
  ]);
  const loaded = JSON.parse(stdout) as readonly string[];
  expect(loaded).toContain('handlebars');
  expect(
    loaded.filter((name) =>
      [
        'twilio',
        'google-auth-library',
        'firebase-admin',
        'mjml',
        'mjml-core',
        'juice',
        'pg',
        'pg-logical-replication',
      ].includes(name),
    ),
  ).toEqual([]);
}, 120_000);
