import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { licensesOf } from '../../../tools/bundle.ts';
import { putInPlace } from '../../../tools/built-folder.ts';
import { packagesOfPortal } from '../../../tools/portal.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'carillon-build-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

it('publishes one complete build when several finish at once: a build is always present, and none fails', async () => {
  const place = join(folder, 'dist');
  const builds = Array.from({ length: 40 }, (_, at) => ({ fresh: join(folder, `.dist-${at}`), made: `${at % 2}` }));
  for (const { fresh, made } of builds) {
    await mkdir(fresh);
    for (const name of ['.made-from', 'index.html']) await writeFile(join(fresh, name), made);
  }
  const [first, ...others] = builds;
  const [inTurn, atOnce] = [others.slice(0, 20), others.slice(20)];
  await putInPlace(first!.fresh, place);
  const seen: boolean[] = [];
  // As often as this process gets to it: between any two steps of those that put theirs in place.
  let isOver = false;
  const look = (): void => {
    seen.push(existsSync(join(place, 'index.html')));
    if (!isOver) setImmediate(look);
  };
  look();
  for (const { fresh } of inTurn) await putInPlace(fresh, place);
  await Promise.all(atOnce.map(({ fresh }) => putInPlace(fresh, place)));
  isOver = true;
  expect(seen.length).toBeGreaterThan(inTurn.length);
  expect(seen).not.toContain(false);
  expect(await readFile(join(place, 'index.html'), 'utf8')).toBe(await readFile(join(place, '.made-from'), 'utf8'));
});

it('replaces a plain folder left by an older version', async () => {
  const [place, fresh] = [join(folder, 'old'), join(folder, '.old-1')];
  for (const [at, words] of [
    [place, 'before'],
    [fresh, 'after'],
  ] as const) {
    await mkdir(at);
    await writeFile(join(at, 'index.html'), words);
  }
  await putInPlace(fresh, place);
  expect(await readFile(join(place, 'index.html'), 'utf8')).toBe('after');
  expect((await readdir(folder)).filter((name) => name.includes('old')).toSorted()).toEqual(['.old-1', 'old']);
});

it('lists the authors of all code and fonts of the portal in the licenses of a release', async () => {
  const text = await licensesOf(await packagesOfPortal());
  const heads = text.split(`${'-'.repeat(80)}\n`).map((part) => part.trim().split('\n')[0] ?? '');
  const names = heads.map((head) => head.split(' ')[0]);
  for (const name of ['react', 'react-dom', 'react-aria-components', '@tanstack/react-router', 'lucide-react'])
    expect(names).toContain(name);
  const fonts = text
    .split(`${'-'.repeat(80)}\n`)
    .map((part) => part.trim())
    .filter((part) => part.startsWith('@fontsource-variable/geist'));
  expect(fonts).toHaveLength(2);
  for (const font of fonts) expect(font).toContain('SIL OPEN FONT LICENSE');
  // Each package brings the words of its license along, or at least the name of it.
  for (const head of heads) expect(head).toMatch(/^\S+ \d\S* \([^)]+\)$/);
});
