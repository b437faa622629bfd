import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { KEY_GROUPS } from '../src/frame/keys.ts';
import type { ScreenFacts } from '../src/screen.ts';
import { deliveryScreens } from '../src/screens/deliveries/screens.ts';
import { inboxScreens } from '../src/screens/inbox/screens.ts';
import { notificationScreens } from '../src/screens/notifications/screens.ts';
import { overviewScreens } from '../src/screens/overview/screens.ts';
import { ruleScreens } from '../src/screens/rule/screens.ts';
import { streamScreens } from '../src/screens/streams/screens.ts';
import { versionScreens } from '../src/screens/versions/screens.ts';

const SOURCES = resolve(import.meta.dirname, '../src');

/** The screens of each folder that listens to letters. */
const SCREENS_OF: Readonly<Record<string, readonly Partial<ScreenFacts>[]>> = {
  'screens/deliveries': deliveryScreens,
  'screens/inbox': inboxScreens,
  'screens/notifications': notificationScreens,
  'screens/overview': overviewScreens,
  'screens/rule': ruleScreens,
  'screens/streams': streamScreens,
  'screens/versions': versionScreens,
};

/** Single letters that screens listen to, each with its room. */
const heard = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.tsx?$/.test(file) && !file.startsWith('ui/'))
  .flatMap((file) => {
    const text = readFileSync(join(SOURCES, file), 'utf8');
    const keys = [...text.matchAll(/useLetter\('([^']+)'|\bletter="([^"]+)"/g)];
    return keys.map(([, one, other = '']) => ({ room: file.split('/').slice(0, 2).join('/'), key: one ?? other }));
  });

it('lists every letter that a screen listens to, in the declaration of a screen of its folder', () => {
  expect(heard.length).toBeGreaterThan(12);
  const undeclared = heard.filter(({ room, key }) => {
    const lines = (SCREENS_OF[room] ?? []).flatMap(({ keys = [] }) => keys).flatMap((group) => group.lines);
    return !lines.some(({ keys }) => keys.includes(key));
  });
  expect(undeclared).toEqual([]);
});

it('gives each key one meaning on a screen', () => {
  for (const { title, lines } of KEY_GROUPS) {
    const keys = lines.map((line) => line.keys.join(' '));
    expect(new Set(keys).size, title).toBe(keys.length);
  }
});
