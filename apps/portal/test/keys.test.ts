import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { KEY_GROUPS } from '../src/frame/keys.ts';

const SOURCES = resolve(import.meta.dirname, '../src');

/** Where the letters of a room are told of. */
const TOLD_IN: Readonly<Record<string, readonly string[]>> = {
  'screens/deliveries': ['Deliveries', 'Dead letters'],
  'screens/inbox': ['Inbox'],
  'screens/notifications': ['Notifications', 'Versions'],
  'screens/overview': ['Overview'],
  'screens/rule': ['Event stream'],
  'screens/streams': ['Event stream'],
  'screens/versions': ['Versions'],
};

/** Single letters that screens listen to, each with its room. */
const heard = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.tsx?$/.test(file) && !file.startsWith('ui/'))
  .flatMap((file) => {
    const text = readFileSync(join(SOURCES, file), 'utf8');
    const keys = [...text.matchAll(/useLetter\('([^']+)'|\bletter="([^"]+)"/g)];
    return keys.map(([, one, other = '']) => ({ room: file.split('/').slice(0, 2).join('/'), key: one ?? other }));
  });

it('lists every letter that a screen listens to, under its screen', () => {
  expect(heard.length).toBeGreaterThan(12);
  const untold = heard.filter(({ room, key }) => {
    const groups = KEY_GROUPS.filter(({ title }) => TOLD_IN[room]?.includes(title));
    return !groups.some(({ lines }) => lines.some(({ keys }) => keys.includes(key)));
  });
  expect(untold).toEqual([]);
});

it('gives each key one meaning on a screen', () => {
  for (const { title, lines } of KEY_GROUPS) {
    const keys = lines.map((line) => line.keys.join(' '));
    expect(new Set(keys).size, title).toBe(keys.length);
  }
});
