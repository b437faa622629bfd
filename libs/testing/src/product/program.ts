import { fileURLToPath } from 'node:url';

/**
 * The program under test: the source of this checkout, unless `CARILLON_TEST_PROGRAM` names another file. `npm test` names the
 * bundle, which starts in half the processor time.
 */
export const PROGRAM =
  process.env['CARILLON_TEST_PROGRAM'] ?? fileURLToPath(new URL('../../../../apps/cli/src/main.ts', import.meta.url));

/** Settings of the one who runs the tests must not reach what is tested, nor may those of the test runner. */
const FOREIGN = /^(CARILLON_|OTEL_|VITEST|NODE_OPTIONS$|NODE_ENV$)/;

/** The environment for a program under test: this process's, its settings undefined, and what the test gives. */
export function environmentWith(given: Readonly<Record<string, string>> = {}): Record<string, string | undefined> {
  const foreign = Object.keys(process.env).filter((name) => FOREIGN.test(name));
  return { ...process.env, ...Object.fromEntries(foreign.map((name) => [name, undefined])), NO_COLOR: '1', ...given };
}
