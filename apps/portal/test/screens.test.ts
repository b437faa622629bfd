import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PLACES, SCREENS, screensWith } from '../src/screens/list.ts';
import { SETTINGS } from '../src/screens/settings/groups.ts';

const SOURCE = join(import.meta.dirname, '../src');

describe('the list of screens', () => {
  it('has every screen that a folder declares', () => {
    const declared = globSync('screens/*/screens.ts', { cwd: SOURCE }).flatMap(
      (file) => readFileSync(join(SOURCE, file), 'utf8').match(/await import\(/g) ?? [],
    );
    // The page that lists the settings reads the list, so that `routes.tsx` loads it.
    expect(SCREENS.length).toBe(declared.length + 1);
    expect(SCREENS.length).toBeGreaterThan(40);
  });

  it('has each path once', () => {
    const paths: readonly string[] = SCREENS.map(({ path }) => path);
    expect(paths.filter((path, at) => paths.indexOf(path) !== at)).toEqual([]);
  });

  it('gives each shortcut to one screen', () => {
    const keys = PLACES.flatMap(({ place }) => place.key ?? []);
    expect(keys.length).toBeGreaterThan(3);
    expect(new Set(keys).size).toBe(keys.length);
  });

  it('names each screen once in the navigation, the palette and the settings', () => {
    const names = [
      ...PLACES.map(({ place }) => place.name),
      ...screensWith('action').map(({ action }) => action.name),
      ...screensWith('settings')
        .filter(({ path }) => path !== '/workspaces')
        .map(({ settings }) => settings.name),
    ];
    expect(new Set(names).size).toBe(names.length);
  });

  it('has a screen in each group of the settings', () => {
    for (const { name, screens } of SETTINGS) expect(screens.length, name).toBeGreaterThan(0);
  });
});
