import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readFolder, writeFolder } from './configuration.ts';

let place = '';
let folder = '';
beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), 'carillon-links-'));
  folder = join(place, 'conf');
  mkdirSync(join(folder, 'workspaces/shop'), { recursive: true });
  mkdirSync(join(place, 'elsewhere'));
  writeFileSync(join(folder, 'carillon.yaml'), 'backend: embedded\n');
  writeFileSync(join(place, 'secret'), 'word: hunter2\n');
});
afterEach(() => rmSync(place, { recursive: true }));

const UNIX = process.platform !== 'win32';

describe.runIf(UNIX)('a link that leaves the folder', () => {
  it.each([
    ['a file', 'secret', 'workspaces/shop/workspace.yaml'],
    ['a folder', 'elsewhere', 'workspaces/lab'],
    ['the folder above', '.', 'workspaces/up'],
    ['nothing', 'gone', 'workspaces/shop/gone.yaml'],
  ])('to %s is refused by name when the folder is read', (_what, target, link) => {
    symlinkSync(join(place, target), join(folder, link));
    expect(() => readFolder(folder)).toThrow(`${link} is a symbolic link to a file outside ${folder}`);
  });

  it('is not written through', () => {
    symlinkSync(join(place, 'secret'), join(folder, 'workspaces/shop/workspace.yaml'));
    symlinkSync(join(place, 'elsewhere'), join(folder, 'workspaces/lab'));
    symlinkSync(join(place, 'made'), join(folder, 'workspaces/shop/new.yaml'));
    for (const path of ['shop/workspace.yaml', 'lab/workspace.yaml', 'shop/new.yaml'].map(
      (one) => `workspaces/${one}`,
    )) {
      expect(() => writeFolder(folder, { [path]: 'name: X\n' })).toThrow(/is a symbolic link/);
    }
    expect(readFileSync(join(place, 'secret'), 'utf8')).toBe('word: hunter2\n');
    expect(existsSync(join(place, 'made'))).toBe(false);
    expect(existsSync(join(place, 'elsewhere/workspace.yaml'))).toBe(false);
  });
});

describe.runIf(UNIX)('a link that stays in the folder', () => {
  it('is read and written as its target', () => {
    writeFileSync(join(folder, 'workspaces/shop/workspace.yaml'), 'name: Shop\n');
    symlinkSync('shop', join(folder, 'workspaces/copy'));
    expect(Object.keys(readFolder(folder))).toEqual([
      'carillon.yaml',
      'workspaces/copy/workspace.yaml',
      'workspaces/shop/workspace.yaml',
    ]);
    writeFolder(folder, { 'workspaces/copy/workspace.yaml': 'name: Both\n' });
    expect(readFolder(folder)['workspaces/shop/workspace.yaml']).toBe('name: Both\n');
  });

  it('that forms a loop is refused with the number of files', () => {
    symlinkSync('.', join(folder, 'workspaces/round'));
    expect(() => readFolder(folder)).toThrow(/holds more than 5000 files|round/);
  });
});

it('a folder that is itself a link is read, and a new one is written', () => {
  if (UNIX) symlinkSync(folder, join(place, 'link'));
  expect(Object.keys(readFolder(UNIX ? join(place, 'link') : folder))).toEqual(['carillon.yaml']);
  writeFolder(join(place, 'new/one'), { 'workspaces/shop/workspace.yaml': 'name: X\n' });
  expect(Object.keys(readFolder(join(place, 'new/one')))).toEqual(['workspaces/shop/workspace.yaml']);
});

it('writing a folder keeps files that it does not write, such as cases', () => {
  const kept = join(place, 'with-cases');
  writeFolder(kept, { 'workspaces/shop/tests/paid.yaml': 'rule: n.paid\n' });
  writeFolder(kept, { 'workspaces/shop/workspace.yaml': 'name: X\n' });
  expect(Object.keys(readFolder(kept))).toEqual(['workspaces/shop/tests/paid.yaml', 'workspaces/shop/workspace.yaml']);
});
