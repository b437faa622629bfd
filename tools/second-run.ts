/** Which files of tests get a second run, and what of the two runs counts: docs/decisions/0023. */
import { laneOf } from './lanes.ts';
import { firstLine, type Report } from './test-results.ts';

type TestFile = Report['testResults'][number];

/** More failed files than these are no chance. */
export const FILES_RUN_AGAIN = 2;

/** A crash run looks for what is rare: one failure is a finding. */
const isCrashRun = (file: string): boolean => file.startsWith('test/chaos/');

const hasFailed = (file: TestFile): boolean => file.status === 'failed';

/**
 * The failed files, if they may be run once more: at most {@link FILES_RUN_AGAIN}, all of them in the lane that runs the
 * product with its processes and browsers. What failed in another lane, or in a crash run, has found something.
 * `nameOf` gives a file's path from the root, with slashes.
 */
export function filesToRunAgain(first: Report, nameOf: (file: string) => string): string[] {
  const failed = first.testResults.filter(hasFailed).map((file) => nameOf(file.name));
  const may =
    failed.length <= FILES_RUN_AGAIN && failed.every((file) => laneOf(file) === 'product' && !isCrashRun(file));
  return may ? failed : [];
}

/** The first run, with each file that ran again as it came out the second time. */
export const withSecondRun = (first: Report, second: Report): Report => ({
  testResults: first.testResults.map(
    (file) => (hasFailed(file) ? second.testResults.find((again) => again.name === file.name) : undefined) ?? file,
  ),
});

/** One line for each test that failed, then passed: its file, its name, and the first line of its first failure. */
export function unsteadyTests(first: Report, second: Report, nameOf: (file: string) => string): string[] {
  return first.testResults.filter(hasFailed).flatMap((file) => {
    const again = second.testResults.find((each) => each.name === file.name);
    if (!again || hasFailed(again)) return [];
    const failures = file.assertionResults.filter((test) => test.status === 'failed');
    if (failures.length === 0) return [`${nameOf(file.name)}: ${firstLine(file.message)}`];
    return failures.map((test) => `${nameOf(file.name)} > ${test.fullName}: ${firstLine(test.failureMessages?.[0])}`);
  });
}
