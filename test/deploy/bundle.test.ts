import { globSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { ENTRIES } from '../../tools/bundle.ts';

const root = resolve(import.meta.dirname, '../..');
/** The name under which a bundle has a thread, beside the one that a checkout has. */
const THREAD = /'\.\/([\w-]+)\.js'/g;

it('a bundle contains every worker thread of the program, also those only used for long logs', () => {
  const sources = globSync('libs/adapters/{*,*/*}/src/**/*.ts', { cwd: root }).map((file) =>
    readFileSync(resolve(root, file), 'utf8'),
  );
  const started = sources
    .filter((source) => source.includes("from 'node:worker_threads'"))
    .flatMap((source) => [...source.matchAll(THREAD)].map(([, name]) => name));
  expect(started.length).toBeGreaterThanOrEqual(5);
  expect(Object.keys(ENTRIES)).toEqual(expect.arrayContaining(started));
});
