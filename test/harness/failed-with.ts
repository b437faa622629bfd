import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect } from 'vitest';
import { z } from 'zod';
import type { TestedBug } from './planted-bugs/planted-bug.ts';
import { plantingInTests } from './planting.ts';

const root = resolve(import.meta.dirname, '../..');
/** A run of a few test files takes seconds; a busy machine may be many times slower. */
export const FAILED_WITHIN = 600_000;

const REPORT = z.object({
  numPassedTests: z.number(),
  testResults: z.array(z.object({ assertionResults: z.array(z.object({ status: z.string(), fullName: z.string() })) })),
});

/** The names of the tests that fail in these files with these changes in the source. */
export async function failedWith({ changes, tests, lane = 'fast' }: TestedBug): Promise<readonly string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'carillon-planted-'));
  const file = join(folder, 'report.json');
  const { NODE_OPTIONS: _ours, VITEST: _inVitest, ...surroundings } = process.env;
  const options = ['run', '--project', lane, '--reporter', 'json', '--outputFile', file, ...tests];
  try {
    await new Promise<void>((ended) => {
      const env = { ...surroundings, ...plantingInTests(changes) };
      execFile(process.execPath, [join(root, 'node_modules/vitest/vitest.mjs'), ...options], { cwd: root, env }, () =>
        // A run with red tests ends with 1, and so does one that did not start: then there is no report.
        ended(),
      );
    });
    const { testResults } = REPORT.parse(JSON.parse(await readFile(file, 'utf8')));
    const all = testResults.flatMap(({ assertionResults }) => assertionResults);
    // A file that could not be loaded has no test that failed: a change that fits nowhere is no bug that was found.
    expect(all.length).toBeGreaterThan(0);
    return all.filter(({ status }) => status === 'failed').map(({ fullName }) => fullName);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
