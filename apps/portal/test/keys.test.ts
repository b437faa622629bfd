import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { KEY_GROUPS } from '../src/frame/keys.ts';

const SOURCES = resolve(import.meta.dirname, '../src');
const sources = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.tsx?$/.test(file) && !file.startsWith('ui/'))
  .map((file) => readFileSync(join(SOURCES, file), 'utf8'));

/** Single letters that screens listen to. */
const heard = new Set(
  sources.flatMap((text) => [
    ...[...text.matchAll(/useLetter\('([^']+)'/g)].map(([, key = '']) => key),
    ...[...text.matchAll(/letter="([^"]+)"/g)].map(([, key = '']) => key),
  ]),
);
const told = new Set(KEY_GROUPS.flatMap(({ lines }) => lines.flatMap(({ keys }) => keys)));

it('lists every letter that a screen listens to', () => {
  expect([...heard].toSorted()).toEqual(['1', '2', '3', 'R', '[', ']', 'c', 'h', 'n', 'p', 'r', 's', 't']);
  expect([...heard].filter((key) => !told.has(key))).toEqual([]);
});

it('gives each key one meaning on a screen', () => {
  for (const { title, lines } of KEY_GROUPS) {
    const keys = lines.map((line) => line.keys.join(' '));
    expect(new Set(keys).size, title).toBe(keys.length);
  }
});
