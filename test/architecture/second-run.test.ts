import { describe, expect, test } from 'vitest';
import { filesToRunAgain, unsteadyTests, withSecondRun } from '../../tools/second-run.ts';
import { closingLine, countTests, type Report } from '../../tools/test-results.ts';

const portal = 'test/e2e/portal/portal.product.test.ts';
const starts = 'test/walkthrough/01-first-event.product.test.ts';
const delivery = 'test/walkthrough/08-keys.product.test.ts';
const asIs = (name: string): string => name;

/** A run of these files, each with one test that passed and those that failed. */
const run = (files: Record<string, readonly string[]>): Report => ({
  testResults: Object.entries(files).map(([name, failures]) => ({
    name,
    status: failures.length > 0 ? 'failed' : 'passed',
    assertionResults: [
      { status: 'passed', fullName: 'stands' },
      ...failures.map((fullName) => ({
        status: 'failed',
        fullName,
        failureMessages: [`${fullName}: why\n  at a line`],
      })),
    ],
  })),
});

describe('a second run', () => {
  test('is given to one or two failed files of the running product', () => {
    expect(filesToRunAgain(run({ [portal]: ['a'], [starts]: [] }), asIs)).toEqual([portal]);
    expect(filesToRunAgain(run({ [portal]: ['a'], [delivery]: ['b', 'c'] }), asIs)).toEqual([portal, delivery]);
  });

  test('is not given when more has failed: that is no chance', () => {
    expect(filesToRunAgain(run({ [portal]: ['a'], [delivery]: ['b'], [starts]: ['c'] }), asIs)).toEqual([]);
  });

  test.each([
    'test/chaos/embedded/crash.product.test.ts',
    'test/fuzz/fuzz.proof.test.ts',
    'test/architecture/import-rules.test.ts',
    'libs/domain/test/model.test.ts',
    'libs/adapters/kafka/test/contract.server.test.ts',
    'test/integration/product/restore.proof.test.ts',
  ])('is never given where one failure is a finding: %s', (proof) => {
    expect(filesToRunAgain(run({ [proof]: ['a'] }), asIs)).toEqual([]);
    expect(filesToRunAgain(run({ [portal]: ['b'], [proof]: ['a'] }), asIs)).toEqual([]);
  });

  test('replaces the result of the first, and lists tests that passed only then with their first failure', () => {
    const first = run({ [portal]: ['moves'], [starts]: [] });
    const second = run({ [portal]: [] });
    expect(
      closingLine(
        countTests(withSecondRun(first, second), { exitCode: 0, filtered: false, whole: false, strict: true }),
      ),
    ).toBe('2 passed, 0 failed');
    expect(unsteadyTests(first, second, asIs)).toEqual([`${portal} > moves: moves: why`]);
  });

  test('leaves a failure that comes again', () => {
    const first = run({ [portal]: ['moves'] });
    expect(withSecondRun(first, first)).toEqual(first);
    expect(unsteadyTests(first, first, asIs)).toEqual([]);
  });

  test('names a file that could not be run at all the first time', () => {
    const first: Report = {
      testResults: [{ name: portal, status: 'failed', message: 'no browser', assertionResults: [] }],
    };
    expect(unsteadyTests(first, run({ [portal]: [] }), asIs)).toEqual([`${portal}: no browser`]);
  });

  test('that did not reach a file leaves the first result of it', () => {
    const first = run({ [portal]: ['moves'] });
    expect(withSecondRun(first, run({}))).toEqual(first);
  });
});
