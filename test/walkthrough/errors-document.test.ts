import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ERRORS } from '@carillon/kernel';
import { expect, it } from 'vitest';

/* docs/errors.md says of every code what to do. It lists all of them, in the order of the program, and no others. */

const page = readFileSync(join(import.meta.dirname, '../../docs/errors.md'), 'utf8');
const rows = [...page.matchAll(/^\| `([a-z_]+)` \| (\d+) \| ([^|]+) \| ([^|]+) \|$/gm)];

it('lists every code with the status and the title that the program answers', () => {
  const listed = rows.map(([, code, status, title]) => ({ code, status: Number(status), title }));
  expect(listed).toEqual(Object.entries(ERRORS).map(([code, { status, title }]) => ({ code, status, title })));
});

it('says for each what to do', () => {
  for (const [, code, , , advice = ''] of rows) expect(advice.trim().length, code).toBeGreaterThan(10);
});
