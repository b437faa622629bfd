import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { SCREENS } from './screens.ts';

const SOURCE = join(import.meta.dirname, '../../../apps/portal/src');
const pathsIn = (file: string): readonly string[] =>
  [...readFileSync(join(SOURCE, file), 'utf8').matchAll(/^ {2}path: '([^']+)'/gm)].map(([, path = '']) => path);

/** They lead elsewhere at once, or have tests of their own before anybody is signed in. */
const ELSEWHERE = [
  '/',
  '/deliveries',
  '/inbox',
  '/welcome',
  '/invitation',
  '/confirm',
  '/sign-in',
  '/settings',
  '/settings/identity',
];

it('crosses every screen that the portal has an address for', () => {
  const settings = pathsIn('settings-routes.ts').map((path) =>
    path.startsWith('/') ? '/settings' : `/settings/${path}`,
  );
  const addresses = [...new Set([...pathsIn('routes.tsx'), ...settings])].filter((path) => !ELSEWHERE.includes(path));
  expect(addresses.length).toBeGreaterThan(40);
  const patterns = addresses.map((path) => ({
    path,
    fits: new RegExp(`^${path.replaceAll(/\$\w+/g, '[^/]+')}(?:\\?|$)`),
  }));
  expect(patterns.filter(({ fits }) => !SCREENS.some(({ path }) => fits.test(path))).map(({ path }) => path)).toEqual(
    [],
  );
});
