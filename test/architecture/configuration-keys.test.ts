import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '../..');
const NOTIFICATION = 'notification-shape.ts';
const SANDBOX = 'providers/sandbox.ts';

/** Changes of a declaration, each with a word of what the compiler has to say. One run tells of all. */
const CHANGES = {
  'the name of a key': {
    file: NOTIFICATION,
    from: '  in_doubt: said(',
    to: '  in_question: said(',
    says: "'in_doubt'",
  },
  'the name of a key inside another': {
    file: NOTIFICATION,
    from: '  attempts: said(',
    to: '  calls: said(',
    says: "'attempts'",
  },
  'the type of a key': {
    file: NOTIFICATION,
    from: 'enabled: said(z.boolean()',
    to: 'enabled: said(z.string()',
    says: "Type 'string | boolean'",
  },
  'a word that a key takes': {
    file: SANDBOX,
    from: "kind: 'sandbox'",
    to: "kind: 'sandpit'",
    says: '\'"sandbox"\'',
  },
} as const;

let home: string;
let output: string;
beforeAll(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'carillon-keys-')));
  for (const part of ['src', 'package.json'])
    cpSync(join(root, 'libs/shapes', part), join(home, part), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(home, 'node_modules'));
  const tsconfig = {
    extends: join(root, 'tsconfig.base.json'),
    compilerOptions: {
      paths: {
        '@carillon/shapes': [join(home, 'src/index.ts')],
        '@carillon/shapes/integrations': [join(home, 'src/integrations/index.ts')],
        '@carillon/shapes/providers': [join(home, 'src/providers/index.ts')],
      },
      typeRoots: [join(root, 'node_modules/@types')],
    },
    include: ['libs/domain/src', 'libs/configuration/src'].map((folder) => join(root, folder)),
  };
  writeFileSync(join(home, 'tsconfig.json'), JSON.stringify(tsconfig));
  const before = compile();
  expect(before, 'the copy as it is').toBe('');
  for (const { file, from, to } of Object.values(CHANGES)) {
    const text = readFileSync(join(home, 'src', file), 'utf8');
    expect(text).toContain(from);
    writeFileSync(join(home, 'src', file), text.replace(from, to));
  }
  output = compile();
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

function compile(): string {
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  return spawnSync(process.execPath, [tsc, '-p', join(home, 'tsconfig.json')], { encoding: 'utf8' }).stdout;
}

test.each(Object.entries(CHANGES))('changing %s in a shape fails the type check', (_what, { says }) => {
  expect(output).toContain(says);
});
