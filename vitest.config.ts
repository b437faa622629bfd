import { defineConfig } from 'vitest/config';

const exclude = ['**/node_modules/**', '**/dist/**'];
const chapters = 'test/walkthrough/[0-9]*.test.ts';

/**
 * Three groups. `unit`: the tests of the packages and of the architecture, in parallel. `whole`: tests of the running
 * product under `test/`, after the others and one file at a time, because each starts servers and takes the machine.
 * `walkthrough`: the chapters of the handbook, last, over servers that are started once for all of them.
 */
export default defineConfig({
  test: {
    testTimeout: 30_000,
    hookTimeout: 60_000,
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
          exclude: [...exclude, 'test/architecture/**', chapters],
          fileParallelism: false,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: 'walkthrough',
          include: [chapters],
          exclude,
          globalSetup: 'test/walkthrough/services.ts',
          testTimeout: 90_000,
          hookTimeout: 180_000,
          fileParallelism: false,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
