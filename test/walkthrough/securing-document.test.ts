import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createExpressionLanguage } from '@carillon/adapter-cel';
import { readConfigurationFolder } from '@carillon/configuration';
import { EMPTY_CONFIGURATION } from '@carillon/domain/configuration';
import { ERRORS } from '@carillon/kernel';
import { expect, it } from 'vitest';

/* docs/securing-a-stream.md and docs/check-tokens.md, held to the program: files are applied, answers are those of the error table. */

const page = ['securing-a-stream.md', 'check-tokens.md']
  .map((file) => readFileSync(join(import.meta.dirname, '../../docs', file), 'utf8'))
  .join('\n');

it('shows files that apply accepts, with warnings only about keys that do not exist yet', () => {
  const files = [...page.matchAll(/^```yaml\n# (\S+)\n([^`]*)^```$/gm)].map(
    ([, file = '', text = '']) => [file, text] as const,
  );
  expect(files.map(([file]) => file)).toEqual([
    'workspaces/shop/streams/orders.yaml',
    'workspaces/shop/jwt-providers/auth.yaml',
    'workspaces/shop/streams/clicks.yaml',
  ]);
  const folder = new Map([['workspaces/shop/workspace.yaml', 'name: Shop\n'], ...files]);
  const context = {
    language: createExpressionLanguage(),
    templates: { piece: () => [], check: () => [], warnings: () => [] },
    current: EMPTY_CONFIGURATION,
  };
  const { faults, warnings } = readConfigurationFolder(folder, context);
  expect(faults).toEqual([]);
  expect(warnings.map(({ message }) => message)).toEqual([
    'there is no API key backend yet, so nobody can send with it',
  ]);
});

it('names for each answer the status that the error table has', () => {
  const rows = [...page.matchAll(/^\| (\d{3}) \|.*\| `([a-z_]+)` \|$/gm)];
  expect(rows).toHaveLength(6);
  const statuses = new Map(Object.entries(ERRORS).map(([code, entry]) => [code, entry.status]));
  for (const [, status, code = ''] of rows) expect([code, statuses.get(code)]).toEqual([code, Number(status)]);
});
