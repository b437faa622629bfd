import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commentsIn, excesses, lowered, marksOf, packageOf } from '../../tools/comment-marks.ts';
import { areasOf, faultOfSubject } from '../../tools/commit-subjects.ts';

const areas = areasOf(resolve(import.meta.dirname, '../..'));

describe('the check of commit subjects', () => {
  it.each([
    'portal: load the question with the frame',
    'mongodb: retry a lost answer',
    'docs: add a table',
    'build: pin oxlint',
  ])('accepts %s', (subject) => {
    expect(faultOfSubject(subject, areas)).toBeNull();
  });

  it('accepts 72 characters and rejects 73', () => {
    expect(faultOfSubject(`docs: ${'x'.repeat(66)}`, areas)).toBeNull();
    expect(faultOfSubject(`docs: ${'x'.repeat(67)}`, areas)).toContain('73 characters');
  });

  it.each([
    ['A test waits for the editor', 'does not begin with "area: "'],
    ['docs:add a table', 'does not begin with "area: "'],
    ['weather: add rain', '"weather"'],
  ])('rejects %s', (subject, fault) => {
    expect(faultOfSubject(subject, areas)).toContain(fault);
  });
});

describe('the count of unclear comments', () => {
  it('joins line comments on adjacent lines and drops the stars of a block', () => {
    const source =
      "// It stands\n// here.\nconst a = '// no comment';\n\n// Alone.\n/**\n * What somebody\n * told.\n */\n";
    expect(commentsIn('a.ts', source).map(({ line, text }) => [line, text])).toEqual([
      [1, 'It stands here.'],
      [5, 'Alone.'],
      [6, 'What somebody told.'],
    ]);
  });

  it('finds the marks of a riddle and none in a plain sentence', () => {
    expect(marksOf('What nobody finished stands here.')).toEqual(['starts with what', 'somebody', 'stands']);
    expect(marksOf('Returns the unfinished attempts.')).toEqual([]);
  });

  it.each([
    ['apps/portal/src/a.tsx', 'apps/portal'],
    ['libs/adapters/mongodb/src/a.ts', 'libs/adapters/mongodb'],
    ['test/chaos/a.ts', 'test'],
    ['vitest.config.ts', '.'],
  ])('counts %s for %s', (file, name) => {
    expect(packageOf(file)).toBe(name);
  });

  it('refuses a count above its bound and a package without a bound', () => {
    expect(excesses({ 'libs/kernel': 3, 'libs/new': 1, test: 5 }, { 'libs/kernel': 2, test: 5 })).toEqual([
      'libs/kernel has 3 unclear comments, at most 2 are allowed.',
      'libs/new has 1 unclear comments, at most 0 are allowed.',
    ]);
  });

  it('lowers bounds and never raises them', () => {
    expect(lowered({ a: 1, b: 9 }, { a: 4, b: 2, c: 3 })).toEqual({ a: 1, b: 2 });
  });
});
