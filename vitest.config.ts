import { defineConfig } from 'vitest/config';

const exclude = ['**/node_modules/**', '**/dist/**'];
const chapters = 'test/walkthrough/[0-9]*.test.ts';
/** Takes long and tells of the tests rather than of the product: `npm test -- --long`. */
const long = 'test/**/*.long.test.ts';
const alone = [
  'test/chaos/**/*.test.ts',
  'test/integration/cluster/outage.test.ts',
  'test/fuzz/*.test.ts',
  'test/integration/product/overload.test.ts',
];

/**
 * Five groups, one after the other. `unit`: the tests of the packages and of the architecture. `whole`: tests of the
 * running product under `test/`; both two files at a time. `alone`: crashes, outages, hostile input and overload, one at a time,
 * because each takes the machine. `walkthrough`: the chapters of the handbook, over servers started once for all.
 * `long`: what `npm test` leaves out.
 */
export default defineConfig({
  test: {
    // Bounds against standing still for ever, not against slowness: CI may be many times slower than the author's machine.
    testTimeout: 180_000,
    hookTimeout: 240_000,
    expect: { poll: { timeout: 60_000 } },
    maxWorkers: 2,
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['{apps,libs,docs/examples}/**/*.test.{ts,tsx}', 'test/architecture/**/*.test.ts'],
          exclude,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: 'whole',
          include: ['test/**/*.test.ts'],
          exclude: [...exclude, 'test/architecture/**', ...alone, chapters, long],
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: 'alone',
          include: alone,
          exclude: [...exclude, long],
          fileParallelism: false,
          sequence: { groupOrder: 2 },
        },
      },
      {
        extends: true,
        test: {
          name: 'walkthrough',
          include: [chapters],
          exclude,
          globalSetup: 'test/walkthrough/services.ts',
          fileParallelism: false,
          sequence: { groupOrder: 3 },
        },
      },
      {
        extends: true,
        test: { name: 'long', include: [long], exclude, fileParallelism: false, sequence: { groupOrder: 4 } },
      },
    ],
  },
});
