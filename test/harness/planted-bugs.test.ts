import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FAILPOINTS_IN_THE_PRODUCT } from '../chaos/failpoints/planted-failpoints.ts';
import { KILLED_READING } from '../chaos/killed-reading.ts';
import { KILLED_WRITES } from '../chaos/killed-writes.ts';
import { PLANTED_BUGS } from './planted-bugs.ts';
import { PROMISES, type PromiseName } from './promises.ts';

const root = resolve(import.meta.dirname, '../..');
const names = Object.keys(PROMISES) as readonly PromiseName[];

const changes = [
  ...PLANTED_BUGS.flatMap(({ name, changes: own }) => own.map((change) => [name, change] as const)),
  ...FAILPOINTS_IN_THE_PRODUCT.map((change) => ['failpoints', change] as const),
  ...[...KILLED_READING, ...KILLED_WRITES].map((change) => ['kills', change] as const),
];

/** The table of `README.md` in this folder. */
const tableOf = (): string =>
  [
    '| promise | section | planted bug | proof that turns red |',
    '|---|---|---|---|',
    ...names.flatMap((name) => {
      const { section, says, proofs } = PROMISES[name];
      const bugs = PLANTED_BUGS.filter(({ breaks }) => breaks === name);
      return [
        `| ${says} | ${section} | | ${proofs.map((proof) => `\`${proof}\``).join(', ')} |`,
        ...bugs.map((bug) => `| | | ${bug.name} | \`${bug.proof}\` |`),
      ];
    }),
  ].join('\n');

describe('the list of planted bugs', () => {
  it.each(changes)('has exactly one place in the source for: %s', (_name, { file, from }) => {
    expect(readFileSync(resolve(root, file), 'utf8').split(from)).toHaveLength(2);
  });

  it('names a proof that exists for every promise and every bug', () => {
    const proofs = [...names.flatMap((name) => PROMISES[name].proofs), ...PLANTED_BUGS.map(({ proof }) => proof)];
    expect(proofs.filter((proof) => !existsSync(resolve(root, proof)))).toEqual([]);
  });

  it('names each bug once', () => {
    expect(new Set(PLANTED_BUGS.map(({ name }) => name)).size).toBe(PLANTED_BUGS.length);
  });

  it('is the table of README.md', () => {
    const page = readFileSync(resolve(import.meta.dirname, 'README.md'), 'utf8');
    expect(page.slice(page.indexOf('| promise |')).trimEnd()).toBe(tableOf());
  });
});
