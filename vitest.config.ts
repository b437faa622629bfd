import { defineConfig } from 'vitest/config';
import { IS_PLANTED, plantedInTests } from './test/harness/planted-in-tests.ts';
import { laneFiles, LANES, type Lane } from './tools/lanes.ts';
import { LongestFirst } from './tools/longest-first.ts';

const exclude = ['**/node_modules/**', '**/dist/**'];

const SERVERS = 'test/support/servers-of-a-run.ts';

/**
 * What a lane needs beside its files. Its tests wait more than they compute, for a role that looks once a second or for a
 * browser: more files at a time than cores end sooner.
 */
const NEEDS: Readonly<Record<Lane, object>> = {
  // Its files share processes, and what they import: nearly half of the lane's work was to import the same again.
  fast: { maxWorkers: 4, isolate: false, setupFiles: 'test/support/leaves-nothing.ts' },
  server: { globalSetup: SERVERS, maxWorkers: 3, isolate: false, setupFiles: 'test/support/leaves-nothing.ts' },
  product: { globalSetup: SERVERS, maxWorkers: 3, isolate: false, setupFiles: 'test/support/leaves-nothing.ts' },
  // Crashes, outages and overload take the machine.
  proof: { globalSetup: SERVERS, fileParallelism: false },
};

/** The lanes, one after the other. The suffix of a file's name chooses its lane: docs/internals/tests.md. */
export default defineConfig({
  plugins: [plantedInTests()],
  test: {
    // Bounds against standing still for ever, not against slowness: CI may be many times slower than the author's machine.
    testTimeout: 360_000,
    hookTimeout: 360_000,
    expect: { poll: { timeout: 120_000 } },
    fsModuleCache: !IS_PLANTED,
    sequence: { sequencer: LongestFirst },
    projects: LANES.map((lane, groupOrder) => ({
      extends: true as const,
      test: {
        name: lane,
        include: [laneFiles(lane).include],
        exclude: [...exclude, ...laneFiles(lane).exclude],
        sequence: { groupOrder },
        ...NEEDS[lane],
      },
    })),
  },
});
