/** The part of vitest's JSON report that is read here. */
export type Report = {
  testResults: {
    name: string;
    status: string;
    message?: string;
    assertionResults: { status: string; fullName?: string; failureMessages?: string[] }[];
  }[];
};

export type Counts = { readonly passed: number; readonly failed: number; readonly skipped: number };

export type Judgement = {
  /** What vitest returned. */ readonly exitCode: number;
  /** With a name pattern vitest reports what the pattern leaves out as skipped; nobody misses those. */
  readonly filtered: boolean;
  /** The whole lane was asked for, and not some files or names of it. */ readonly whole: boolean;
  /** With CI=true a test that does not run is a failure. */ readonly strict: boolean;
};

/** What of a lane these arguments of vitest ask for. Each may be a file, unless it is an option. */
export function askedFor(args: readonly string[]): Pick<Judgement, 'filtered' | 'whole'> {
  const filtered = args.some((arg) => /^(-t|--testNamePattern)(=|$)/.test(arg));
  return { filtered, whole: !filtered && args.every((arg) => arg.startsWith('-')) };
}

/**
 * Counts the tests of a lane; nothing that went wrong counts as nothing: a file that could not be loaded is one failure,
 * and so is a run that failed without naming a test, such as one with an unhandled rejection or without a report, and a
 * whole lane in which there is no test: then its files are not found any more.
 */
export function countTests(report: Report | undefined, { exitCode, filtered, whole, strict }: Judgement): Counts {
  let [passed, failed, skipped] = [0, 0, 0];
  for (const file of report?.testResults ?? []) {
    const failures = file.assertionResults.filter((test) => test.status === 'failed').length;
    passed += file.assertionResults.filter((test) => test.status === 'passed').length;
    failed += failures === 0 && file.status === 'failed' ? 1 : failures;
    skipped += file.assertionResults.filter((test) => !['passed', 'failed'].includes(test.status)).length;
  }
  if (filtered) skipped = 0;
  if (strict) [failed, skipped] = [failed + skipped, 0];
  const empty = passed + failed + skipped === 0;
  if (failed === 0 && (exitCode !== 0 || !report || (whole && empty))) failed = 1;
  return { passed, failed, skipped };
}

/**
 * One line for each test that failed, with the first line of why; of a file that could not be loaded, one for the file. Where
 * skipped tests count as failed, these too. `nameOf` gives a file's path from the root.
 */
export function failedTests(
  report: Report | undefined,
  nameOf: (file: string) => string,
  { strict, filtered }: Pick<Judgement, 'strict' | 'filtered'>,
): string[] {
  const counts = (status: string): boolean =>
    status === 'failed' || (strict && !filtered && !['passed', 'failed'].includes(status));
  return (report?.testResults ?? []).flatMap((file) => {
    const failures = file.assertionResults.filter(({ status }) => counts(status));
    if (failures.length === 0 && file.status === 'failed') return [`${nameOf(file.name)}: ${firstLine(file.message)}`];
    return failures.map((test) => {
      const why = test.status === 'failed' ? firstLine(test.failureMessages?.[0]) : test.status;
      return `${nameOf(file.name)} > ${test.fullName ?? ''}: ${why}`;
    });
  });
}

/** The line that says why a test failed: the first of what it says then. */
export const firstLine = (message = ''): string => message.split('\n')[0] ?? '';

/** The sum over lanes. A run without any test is a failure: what was asked for is not there. */
export function sumOf(lanes: readonly Counts[]): Counts {
  const total = (of: (counts: Counts) => number): number => lanes.reduce((sum, counts) => sum + of(counts), 0);
  const [passed, failed, skipped] = [
    total((one) => one.passed),
    total((one) => one.failed),
    total((one) => one.skipped),
  ];
  return { passed, failed: passed + failed + skipped === 0 ? 1 : failed, skipped };
}

export const closingLine = ({ passed, failed, skipped }: Counts): string =>
  `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
