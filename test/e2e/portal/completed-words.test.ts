import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { HELPERS } from '@carillon/adapter-handlebars';
import { expect, it } from 'vitest';

const EDITOR = join(import.meta.dirname, '../../../apps/portal/src/screens/templates/template-parts.ts');

it('the template editor offers each helper of the renderer, and no other', () => {
  const [, list = ''] = /^export const HELPERS\b.*?\[\n(.*?)^\];/ms.exec(readFileSync(EDITOR, 'utf8')) ?? [];
  const offered = [...list.matchAll(/^ {2}\['([^']+)'/gm)].map(([, name = '']) => name);
  const called = Object.entries(HELPERS).map(([name, { block }]) => (block ? `#${name}` : name));
  expect(new Set(offered)).toEqual(new Set(called));
});
