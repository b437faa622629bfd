import { describe, expect, test } from 'vitest';
import { askedFor, closingLine, countTests, failedTests, sumOf, type Report } from '../../tools/test-results.ts';

const report = (...files: [status: string, ...tests: string[]][]): Report => ({
  testResults: files.map(([status, ...tests]) => ({
    name: 'a.test.ts',
    status,
    assertionResults: tests.map((each) => ({ status: each })),
  })),
});
const plain = { exitCode: 0, filtered: false, whole: false, strict: false };
const line = (...args: Parameters<typeof countTests>): string => closingLine(countTests(...args));

describe('the closing line', () => {
  test('counts tests over all files', () => {
    const all = report(['passed', 'passed', 'passed'], ['failed', 'failed', 'passed']);
    expect(line(all, { ...plain, exitCode: 1 })).toBe('3 passed, 1 failed');
  });

  test('mentions skipped tests only if there are any', () => {
    expect(line(report(['passed', 'passed']), plain)).toBe('1 passed, 0 failed');
    expect(line(report(['passed', 'passed', 'pending', 'todo']), plain)).toBe('1 passed, 0 failed, 2 skipped');
  });

  test('counts a skipped test as failed where nothing may be skipped', () => {
    expect(line(report(['passed', 'passed', 'skipped']), { ...plain, strict: true })).toBe('1 passed, 1 failed');
  });

  test('does not count what a name pattern left out', () => {
    expect(line(report(['passed', 'passed', 'skipped']), { ...plain, filtered: true })).toBe('1 passed, 0 failed');
  });

  test('counts a file that could not be loaded', () => {
    expect(line(report(['passed', 'passed'], ['failed']), { ...plain, exitCode: 1 })).toBe('1 passed, 1 failed');
  });

  test('never calls a failed run a success', () => {
    expect(line(report(['passed', 'passed']), { ...plain, exitCode: 1 })).toBe('1 passed, 1 failed');
    expect(line(undefined, plain)).toBe('0 passed, 1 failed');
  });

  test('counts a whole lane without a test as failed: its files are not found any more', () => {
    expect(line(report(), { ...plain, whole: true })).toBe('0 passed, 1 failed');
    expect(line(report(['passed', 'skipped']), { ...plain, whole: true })).toBe('0 passed, 0 failed, 1 skipped');
    expect(line(report(), plain)).toBe('0 passed, 0 failed');
  });

  test.each([
    [[], { filtered: false, whole: true }],
    [['--bail=1'], { filtered: false, whole: true }],
    [['libs/kernel'], { filtered: false, whole: false }],
    [['-t', 'a name'], { filtered: true, whole: false }],
    [['--testNamePattern=a name'], { filtered: true, whole: false }],
    [['--bail', '1'], { filtered: false, whole: false }],
  ])('takes %j for what it asks', (args, asked) => {
    expect(askedFor(args)).toEqual(asked);
  });

  test('sums lanes, of which some may have no such test, but not all', () => {
    const [none, some] = [countTests(report(), plain), countTests(report(['passed', 'passed', 'skipped']), plain)];
    expect(closingLine(sumOf([none, some, some]))).toBe('2 passed, 0 failed, 2 skipped');
    expect(closingLine(sumOf([none, none]))).toBe('0 passed, 1 failed');
  });
});

describe('the list of failed tests', () => {
  const asIs = (name: string): string => name;
  const all: Report = {
    testResults: [
      {
        name: 'a.test.ts',
        status: 'failed',
        assertionResults: [
          { status: 'passed', fullName: 'stands' },
          { status: 'failed', fullName: 'moves', failureMessages: ['expected 1 to be 2\n  at a line'] },
          { status: 'skipped', fullName: 'waits' },
        ],
      },
      { name: 'b.test.ts', status: 'failed', message: 'cannot be read\n  at a line', assertionResults: [] },
    ],
  };

  test('has a line for each test, and for each file that could not be loaded', () => {
    expect(failedTests(all, asIs, { strict: false, filtered: false })).toEqual([
      'a.test.ts > moves: expected 1 to be 2',
      'b.test.ts: cannot be read',
    ]);
  });

  test('includes skipped tests only if skipping counts as a failure', () => {
    expect(failedTests(all, asIs, { strict: true, filtered: false })).toContain('a.test.ts > waits: skipped');
    expect(failedTests(all, asIs, { strict: true, filtered: true })).toHaveLength(2);
    expect(failedTests(undefined, asIs, { strict: true, filtered: false })).toEqual([]);
  });
});
