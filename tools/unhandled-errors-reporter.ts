import { writeFileSync } from 'node:fs';
import type { Reporter } from 'vitest/node';

/**
 * A reporter of vitest: writes how many errors nobody caught into the file named by `CARILLON_TEST_UNHANDLED`, since vitest's
 * own JSON report does not have them. Called once, at the end of a run.
 */
export default class UnhandledErrorsReporter implements Reporter {
  onTestRunEnd(_modules: unknown, unhandled: readonly unknown[]): void {
    const file = process.env['CARILLON_TEST_UNHANDLED'];
    if (file !== undefined) writeFileSync(file, String(unhandled.length));
  }
}
