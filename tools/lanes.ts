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
