import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';

const DEMO = resolve(import.meta.dirname, '../../../docs/examples/demo');

/** Returns the files of the demo, as its folder is applied. */
export const demoFiles = (): Record<string, string> =>
  Object.fromEntries(
    readdirSync(DEMO, { recursive: true, withFileTypes: true })
      .filter((one) => one.isFile() && one.name !== 'README.md')
      .map((one) => join(one.parentPath, one.name))
      .map((path) => [relative(DEMO, path), readFileSync(path, 'utf8')]),
  );
