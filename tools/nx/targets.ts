import { dirname } from 'node:path';
import type { CreateNodesV2 } from 'nx/src/project-graph/plugins/index.js';
import { LANES } from '../lanes.ts';

export const name = 'carillon-targets';

const cached = (command: string, ...inputs: string[]) => ({ command, cache: true, inputs: [...inputs, 'rules'] });

/** One target for each lane of tests; that of the fast lane is `test`. */
const tests = (files: string, ...inputs: string[]) =>
  Object.fromEntries(
    LANES.map((lane) => [
      lane === 'fast' ? 'test' : `test-${lane}`,
      cached(`vitest run --passWithNoTests --project ${lane} ${files}`, ...inputs),
    ]),
  );

/** A package is judged by its own files and by those of the packages that it uses. */
const ofPackage = (root: string) => ({
  lint: cached(`oxlint --disable-nested-config --no-error-on-unmatched-pattern ${root}`, 'default', '^default'),
  ...tests(`${root}/`, 'default', '^default'),
});

/** What belongs to no package; the compiler takes about a second for everything, so it is one task. */
const ofRoot = {
  lint: cached('oxlint --disable-nested-config --no-error-on-unmatched-pattern test tools', 'everything'),
  ...tests('test/', 'everything'),
  typecheck: cached(
    'tsc -p tsconfig.json && node tools/portal.ts --types && tsc -p apps/portal/tsconfig.json',
    'everything',
  ),
};

/**
 * Gives every package the same targets, so that no `package.json` has to repeat them. All run from the root, with the
 * configuration that stands there.
 */
export const createNodes: CreateNodesV2 = [
  '{package.json,{apps,libs,docs/examples}/**/package.json}',
  (files) =>
    files.map((file) => {
      const root = dirname(file);
      const project = root === '.' ? { name: 'carillon-workspace', targets: ofRoot } : { targets: ofPackage(root) };
      return [file, { projects: { [root]: project } }];
    }),
];
