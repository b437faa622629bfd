import { fileURLToPath } from 'node:url';

/** The command as it stands in the checkout: what runs is the source, as everywhere. */
export const PROGRAM = fileURLToPath(new URL('../../../../apps/cli/src/main.ts', import.meta.url));

/** Settings of the one who runs the tests must not reach what is tested, nor may those of the test runner. */
const FOREIGN = /^(CARILLON_|OTEL_|VITEST|NODE_OPTIONS$|NODE_ENV$)/;

/** The environment for a program under test: this process's, its settings undefined, and what the test gives. */
export function environmentWith(given: Readonly<Record<string, string>> = {}): Record<string, string | undefined> {
  const foreign = Object.keys(process.env).filter((name) => FOREIGN.test(name));
  return { ...process.env, ...Object.fromEntries(foreign.map((name) => [name, undefined])), NO_COLOR: '1', ...given };
}
