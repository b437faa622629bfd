import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { noticeText } from '../../tools/notice.ts';

const read = (path: string): string => readFileSync(resolve(import.meta.dirname, '../..', path), 'utf8');

test('NOTICE is what the lockfile says, and names each package that a workspace depends on', () => {
  const notice = read('NOTICE');
  expect(notice).toBe(noticeText());
  for (const path of ['apps/portal/package.json', 'apps/control/package.json', 'libs/runtime/package.json']) {
    const { dependencies = {} } = JSON.parse(read(path)) as { dependencies?: Record<string, string> };
    for (const [name, version] of Object.entries(dependencies)) {
      if (!name.startsWith('@carillon/')) expect(notice).toContain(`  ${name} ${version}: `);
    }
  }
});
