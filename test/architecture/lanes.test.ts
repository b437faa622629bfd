import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { matchesGlob, join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import config from '../../vitest.config.ts';
import { laneFiles, laneOf, LANES, LONGEST, longestFirst } from '../../tools/lanes.ts';
import { LongestFirst } from '../../tools/longest-first.ts';

const root = resolve(import.meta.dirname, '../..');
const committed = execFileSync('git', ['-c', 'safe.directory=*', 'ls-files'], { cwd: root, encoding: 'utf8' })
  .split('\n')
  .filter((file) => /\.test\.tsx?$/.test(file) && existsSync(join(root, file)));

describe('every test', () => {
  test('is in one lane', () => {
    const chosenBy = (file: string): string[] =>
      LANES.filter((lane) => {
        const { include, exclude } = laneFiles(lane);
        return matchesGlob(file, include) && !exclude.some((pattern) => matchesGlob(file, pattern));
      });
    expect(committed.filter((file) => chosenBy(file).join() !== laneOf(file))).toEqual([]);
    expect(new Set(committed.map(laneOf))).toEqual(new Set(LANES));
  });

  test('has a suffix that names a lane, or none but `.test`', () => {
    const odd = committed.filter((file) => /\.\w+\.test\.tsx?$/.test(file) && laneOf(file) === 'fast');
    expect(odd).toEqual([]);
  });

  /** Which lane it takes to use something. */
  const NOT_FAST =
    /describeWith\(|@carillon\/testing\/(services|cluster)'|\b(startProduct|startCarillon|openEmbedded|chromium\.launch)\(/;
  const NOT_DAILY = /\b(planting\(|PLANTED_BUGS)/;

  const using = (pattern: RegExp, lanes: readonly string[]): string[] =>
    committed.filter((file) => lanes.includes(laneOf(file)) && pattern.test(readFileSync(join(root, file), 'utf8')));

  test('of the fast lane starts no server, no browser and nothing of the product', () => {
    expect(using(NOT_FAST, ['fast']).filter((file) => !file.endsWith('architecture/lanes.test.ts'))).toEqual([]);
  });

  test('of the proof lane is run by a line of the table of proofs', () => {
    const document = readFileSync(join(root, 'docs/internals/tests.md'), 'utf8');
    const named = [...document.matchAll(/\| proof \| `npm run proof -- ([^`]+)`/g)].flatMap(([, names = '']) =>
      names.split(' '),
    );
    expect(named.length).toBeGreaterThan(20);
    const proofs = committed.filter((file) => laneOf(file) === 'proof');
    expect(proofs.filter((file) => !named.some((name) => file.includes(name)))).toEqual([]);
    expect(named.filter((name) => !proofs.some((file) => file.includes(name)))).toEqual([]);
  });

  test('that takes long begins before the others of its lane, in this order', () => {
    expect(LONGEST.filter((file) => !committed.includes(file))).toEqual([]);
    const others = committed.filter((file) => !LONGEST.includes(file));
    expect(longestFirst(committed, (file) => file)).toEqual([...LONGEST, ...others]);
    expect(config.test?.sequence?.sequencer).toBe(LongestFirst);
  });

  test('with a bug planted into the product is a proof', () => {
    expect(using(NOT_DAILY, ['server', 'product'])).toEqual([]);
  });
});
