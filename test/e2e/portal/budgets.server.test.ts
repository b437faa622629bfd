import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { PORTAL_BUILT } from '../../../tools/portal.ts';

type Chunk = {
  readonly file: string;
  readonly css?: readonly string[];
  readonly imports?: readonly string[];
  readonly isDynamicEntry?: boolean;
};
const manifest = JSON.parse(readFileSync(join(PORTAL_BUILT, 'manifest.json'), 'utf8')) as Readonly<
  Record<string, Chunk>
>;
const routes = Object.keys(manifest).filter(
  (name) => name.startsWith('src/screens/') && manifest[name]?.isDynamicEntry,
);

/** All that a browser loads before it draws the screen. */
function filesOf(name: string, seen = new Set<string>()): Set<string> {
  const chunk = manifest[name];
  if (!chunk || seen.has(chunk.file)) return seen;
  for (const file of [chunk.file, ...(chunk.css ?? [])]) seen.add(file);
  for (const one of chunk.imports ?? []) filesOf(one, seen);
  return seen;
}
const gzipped = (files: Iterable<string>): number =>
  [...files].reduce((sum, file) => sum + gzipSync(readFileSync(join(PORTAL_BUILT, file)), { level: 9 }).length, 0);

/** In bytes: what a first visit may cost (docs/portal-design.md). */
const ROUTE = 200_000;
const FONTS = 60_000;
/** These come after the list that they are opened from. */
const PANELS = ['src/screens/deliveries/delivery-panel.tsx', 'src/screens/inbox/message.tsx'];

it('has a chunk of its own for every screen', () => {
  expect(routes.length).toBeGreaterThanOrEqual(7);
});

it.each(routes.filter((name) => !PANELS.includes(name)))('%s loads no more than a first visit may cost', (name) => {
  const files = filesOf('index.html');
  filesOf(name, files);
  expect(gzipped(files)).toBeLessThanOrEqual(ROUTE);
});

it('has fonts of its own, within their budget, and nothing from elsewhere', () => {
  const assets = join(PORTAL_BUILT, 'assets');
  const fonts = readdirSync(assets).filter((name) => name.endsWith('.woff2'));
  expect(fonts).toHaveLength(2);
  expect(fonts.reduce((sum, name) => sum + readFileSync(join(assets, name)).length, 0)).toBeLessThanOrEqual(FONTS);
  const sheets = readdirSync(assets).filter((name) => name.endsWith('.css'));
  for (const name of sheets) expect(readFileSync(join(assets, name), 'utf8')).not.toMatch(/url\((?!\/assets\/)/);
});
