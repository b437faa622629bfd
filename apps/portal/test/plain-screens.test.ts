import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';

const SOURCES = join(import.meta.dirname, '../src');
const sources = readdirSync(SOURCES, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name) && !entry.name.includes('.generated.'))
  .map((entry) => join(entry.parentPath, entry.name))
  .map((path) => ({ name: relative(SOURCES, path), text: readFileSync(path, 'utf8') }));

/** Lines without comments. */
const codeOf = (text: string): readonly string[] =>
  text
    .replaceAll(/\/\*[\s\S]*?\*\//g, '')
    .split('\n')
    .filter((line) => !/^\s*\/\//.test(line));

describe('The texts of the portal', () => {
  it('have no literal backticks, which a screen shows as they are', () => {
    const found = sources.flatMap(({ name, text }) =>
      codeOf(text)
        .filter((line) => /'[^'`]*`[^'`]*`[^']*'|"[^"`]*`[^"`]*`[^"]*"/.test(line) && !line.includes('${'))
        .map((line) => `${name}: ${line.trim()}`),
    );
    expect(found).toEqual([]);
  });
});

describe('The buttons of a form or dialog', () => {
  it('stand in one order: the way back first, then the action', () => {
    const found = sources.flatMap(({ name, text }) =>
      [...text.matchAll(/<Actions>[\s\S]*?<\/Actions>|foot=\{[\s\S]*?\n\s+\}\n/g)].flatMap(([block]) => {
        const back = block.search(/>\s*(?:Cancel|Close)\s*[<{]/);
        const action = block.search(/kind=(?:"(?:main|danger)"|\{)/);
        return back !== -1 && action !== -1 && action < back ? [name] : [];
      }),
    );
    expect(found).toEqual([]);
  });
});
