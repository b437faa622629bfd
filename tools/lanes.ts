/** The lanes of tests, in the order in which they run. The suffix of a file's name chooses its lane. */
export const LANES = ['fast', 'server', 'product', 'proof'] as const;
export type Lane = (typeof LANES)[number];

/** What `npm test` runs; `npm run proof` runs the last. */
export const DAILY_LANES: readonly Lane[] = ['fast', 'server', 'product'];

const OTHERS = ['server', 'product', 'proof'] as const satisfies readonly Lane[];
const suffixOf = (lane: (typeof OTHERS)[number]): string => `.${lane}.test.ts`;

export const isLane = (name: string): name is Lane => LANES.some((lane) => lane === name);

/** The lane of a test file. */
export const laneOf = (file: string): Lane => OTHERS.find((lane) => file.endsWith(suffixOf(lane))) ?? 'fast';

/** The files of a lane, as patterns from the root. Every test ends in `.test.ts`, so the fast lane leaves out the others. */
export const laneFiles = (lane: Lane): { readonly include: string; readonly exclude: readonly string[] } =>
  lane === 'fast'
    ? { include: '**/*.test.{ts,tsx}', exclude: OTHERS.map((other) => `**/*${suffixOf(other)}`) }
    : { include: `**/*${suffixOf(lane)}`, exclude: [] };

/**
 * Files that take far longer than their length tells, the longest first. A run begins with them. Where it knows no earlier
 * run, vitest begins with the longest texts: these would begin last, and run on when all others have ended. A short file
 * that takes a minute on two cores belongs here.
 */
export const LONGEST: readonly string[] = [
  'test/chaos/cluster/crash.product.test.ts',
  'test/walkthrough/03-change-a-rule.product.test.ts',
  'test/e2e/portal/screens.product.test.ts',
  'test/chaos/embedded/crash.product.test.ts',
  // Waits for its turn at the topics while 03 has it, and 14 while 06 has it.
  'test/walkthrough/06-switch-off.product.test.ts',
  'test/e2e/portal/portal.product.test.ts',
  'test/e2e/portal/hostile-texts.product.test.ts',
  'test/walkthrough/14-roles-of-their-own.product.test.ts',
];

/** The longest files before all others, which keep their order. `pathOf` gives a file's path from the root. */
export function longestFirst<File>(files: readonly File[], pathOf: (file: File) => string): File[] {
  const rankOf = (file: File): number => {
    const rank = LONGEST.indexOf(pathOf(file).replaceAll('\\', '/'));
    return rank < 0 ? LONGEST.length : rank;
  };
  return files.toSorted((one, other) => rankOf(one) - rankOf(other));
}
