import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, posix, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '../..');
const sources = execFileSync('git', ['-c', 'safe.directory=*', 'ls-files'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\n')
  .filter((file) => /\.tsx?$/.test(file) && !file.endsWith('.d.ts') && existsSync(join(root, file)));

type Graph = ReadonlyMap<string, readonly string[]>;

/** What a file imports of its own package, types included. Packages have no circles: npm and the lint rules see to that. */
const importsOf = (file: string, text: string): readonly string[] =>
  [...text.matchAll(/^\s*(?:import|export)\b[^'"]*?\bfrom\s+'(\.[^']*)'|^\s*import\s+'(\.[^']*)'/gms)].map(
    ([, from, bare]) => posix.normalize(posix.join(dirname(file), from ?? bare ?? '')),
  );

/** A circle as the files that one comes through, for each file that is first seen again on its own way. */
function circlesIn(graph: Graph): readonly string[] {
  const found: string[] = [];
  const finished = new Set<string>();
  const way: string[] = [];
  function visit(file: string): void {
    const at = way.indexOf(file);
    if (at >= 0) found.push([...way.slice(at), file].join(' → '));
    if (at >= 0 || finished.has(file)) return;
    way.push(file);
    for (const next of graph.get(file) ?? []) visit(next);
    way.pop();
    finished.add(file);
  }
  for (const file of graph.keys()) visit(file);
  return found;
}

describe('imports', () => {
  test('go in no circle, types included', () => {
    const graph = new Map(sources.map((file) => [file, importsOf(file, readFileSync(join(root, file), 'utf8'))]));
    expect([...graph.values()].flat().length).toBeGreaterThan(1_000);
    expect(circlesIn(graph)).toEqual([]);
  });

  test('in a circle are found for every import form, also in a circle behind another file', () => {
    const graph = new Map([
      ['src/start.ts', importsOf('src/start.ts', "import {\n  a,\n} from './a.ts';\n")],
      ['src/a.ts', importsOf('src/a.ts', "import type { B } from './in/b.ts';\n")],
      ['src/in/b.ts', importsOf('src/in/b.ts', "export * from './c.ts';\nimport fs from 'node:fs';\n")],
      ['src/in/c.ts', importsOf('src/in/c.ts', "import '../a.ts';\n")],
    ]);
    expect(circlesIn(graph)).toEqual(['src/a.ts → src/in/b.ts → src/in/c.ts → src/a.ts']);
  });
});
