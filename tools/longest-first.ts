import { relative, resolve } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { longestFirst } from './lanes.ts';

const root = resolve(import.meta.dirname, '..');

/** Begins with the longest files; the others follow as vitest orders them. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- vitest's own, which answers a list of its own
    const usual = await super.sort(files);
    return longestFirst(usual, ({ moduleId }) => relative(root, moduleId));
  }
}
