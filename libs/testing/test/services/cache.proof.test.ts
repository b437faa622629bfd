import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, truncate, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ensureCached, isCached, type CacheEntry } from '../../src/services/cache/cache-entry.ts';
import { cacheFolder } from '../../src/services/cache/cache-folder.ts';
import { verifyChecksums } from '../../src/services/cache/maven.ts';

let cache = '';
beforeEach(async () => {
  cache = await mkdtemp(join(tmpdir(), 'carillon-cache-'));
});
afterEach(() => rm(cache, { recursive: true, force: true }));

const fetchInCache = (entry: CacheEntry, say = (_line: string): void => undefined): Promise<string> =>
  ensureCached(entry, say, cache);

/** An entry that counts how often it is built. */
function countingEntry(): CacheEntry & { readonly built: () => number } {
  let built = 0;
  return {
    name: 'made-up-1',
    title: 'Made up',
    built: () => built,
    async build({ out }) {
      built += 1;
      await writeFile(join(out, 'file'), 'whole');
    },
  };
}

describe('the cache of downloads', () => {
  test('is at CARILLON_CACHE, or else in the home folder, or for root in a shared folder', () => {
    expect(cacheFolder({ env: { CARILLON_CACHE: '/somewhere' }, isRoot: true, home: '/h' })).toBe('/somewhere');
    expect(cacheFolder({ env: { CARILLON_CACHE: '' }, isRoot: false, home: '/h' })).toBe('/h/.cache/carillon');
    expect(cacheFolder({ env: {}, isRoot: true, home: '/root' })).toBe('/var/cache/carillon');
  });

  test('builds an entry once, and then returns it', async () => {
    const entry = countingEntry();
    const lines: string[] = [];
    const folder = await fetchInCache(entry, (line) => lines.push(line));
    expect(await readFile(join(folder, 'file'), 'utf8')).toBe('whole');
    expect(await fetchInCache(entry)).toBe(folder);
    expect(entry.built()).toBe(1);
    expect(lines.at(-1)).toMatch(/^Made up: fetched in \d+ s$/);
    expect(await readdir(join(cache, 'partial'))).toEqual([]);
  });

  test('keeps a download if the build fails, and never shows half an entry', async () => {
    const seen: boolean[] = [];
    const entry: CacheEntry = {
      name: 'broken-1',
      title: 'Broken',
      async build({ downloads, out }) {
        seen.push(existsSync(join(downloads, 'half')));
        await writeFile(join(downloads, 'half'), 'so far');
        await writeFile(join(out, 'file'), 'x');
        if (seen.length === 1) throw new Error('the network is gone');
        expect(await readdir(out)).toEqual(['file']);
      },
    };
    await expect(fetchInCache(entry)).rejects.toThrow('the network is gone');
    expect(isCached(entry, cache)).toBe(false);
    await fetchInCache(entry);
    expect(isCached(entry, cache)).toBe(true);
    expect(seen).toEqual([false, true]);
  });

  test.each([
    ['cut short', (file: string) => truncate(file, 2)],
    ['missing', (file: string) => unlink(file)],
  ])('downloads again what is %s', async (_what, damage) => {
    const entry = countingEntry();
    const folder = await fetchInCache(entry);
    await damage(join(folder, 'file'));
    expect(isCached(entry, cache)).toBe(false);
    const lines: string[] = [];
    await fetchInCache(entry, (line) => lines.push(line));
    expect(entry.built()).toBe(2);
    expect(lines[0]).toContain('missing or cut short');
    expect(await readFile(join(folder, 'file'), 'utf8')).toBe('whole');
  });

  const program = join(import.meta.dirname, 'fetch-in-process.ts');

  test('is filled once by concurrent processes', async () => {
    const count = join(cache, 'count');
    const runs = [1, 2, 3].map(() => promisify(execFile)(process.execPath, [program, cache, count]));
    const places = (await Promise.all(runs)).map(({ stdout }) => stdout.trim().split('\n').at(-1));
    expect(places).toEqual([1, 2, 3].map(() => join(cache, 'made-up-1')));
    expect(await readFile(count, 'utf8')).toBe('x');
  });

  test('continues at once where a killed process stopped', async () => {
    const count = join(cache, 'count');
    const first = spawn(process.execPath, [program, cache, count, 'stall'], { stdio: ['ignore', 'pipe', 'inherit'] });
    await once(first.stdout, 'data');
    first.kill('SIGKILL');
    await once(first, 'exit');
    expect(existsSync(join(cache, 'made-up-1'))).toBe(false);
    expect(await readFile(join(cache, 'partial/made-up-1/downloads/half'), 'utf8')).toBe('downloaded so far');
    await promisify(execFile)(process.execPath, [program, cache, count], { timeout: 60_000 });
    expect(await readFile(count, 'utf8')).toBe('xx');
  });
});

describe('pinned checksums', () => {
  // sha256 of "a" and of "b".
  const ofA = 'ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb';
  const ofB = '3e23e8160039594a33894f6564e1b1348bbd7a0088d42c4acb73eeaed59c009d';

  test.each([
    ['the same files', `${ofA}  a.jar\n`, undefined],
    ['another content', `${ofB}  a.jar\n`, 'came'],
    ['a file too many', '\n', 'came'],
    ['a file too few', `${ofA}  a.jar\n${ofB}  b.jar\n`, 'awaited'],
  ])('%s', async (_what, pins, complaint) => {
    const jars = await mkdtemp(join(cache, 'jars-'));
    await writeFile(join(jars, 'a.jar'), 'a');
    await writeFile(join(cache, 'pins'), pins);
    const verdict = verifyChecksums(jars, join(cache, 'pins'));
    if (complaint === undefined) await verdict;
    else await expect(verdict).rejects.toThrow(complaint);
  });
});
