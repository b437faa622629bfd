import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

/** The test runner forgives imports of CommonJS that Node refuses. */
test.each(['../src/index.ts', '../../schema-registry/src/index.ts'])(
  'the module %s loads in plain Node',
  async (file) => {
    const url = new URL(file, import.meta.url).href;
    const script = `await import(${JSON.stringify(url)}); console.log('loaded')`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]);
    expect(stdout).toBe('loaded\n');
  },
);
