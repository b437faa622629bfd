import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { aboveBudget, BUDGETS, measure, measureBuild } from '../../../tools/portal-budgets.ts';
import { PORTAL_BUILT } from '../../../tools/portal.ts';

const { measured, fonts } = measureBuild(PORTAL_BUILT);

describe('a build of the portal', () => {
  it('has a chunk of its own for every screen', () => {
    expect(measured.length).toBeGreaterThanOrEqual(40);
    expect(measured.filter(({ isEditor }) => isEditor)).toHaveLength(5);
  });

  it.each(measured)('loads no more of $route than a first visit may cost', ({ first }) => {
    expect(first).toBeGreaterThan(100_000);
    expect(first).toBeLessThanOrEqual(BUDGETS.route);
  });

  it.each(measured.filter(({ isEditor }) => isEditor))(
    'loads the editor of $route after the page, and no more than an editor may cost',
    ({ later }) => {
      expect(later).toBeGreaterThan(0);
      expect(later).toBeLessThanOrEqual(BUDGETS.editor);
    },
  );

  it('contains its own fonts within their budget, and loads nothing from other hosts', () => {
    const assets = join(PORTAL_BUILT, 'assets');
    expect(readdirSync(assets).filter((name) => name.endsWith('.woff2'))).toHaveLength(2);
    expect(fonts).toBeLessThanOrEqual(BUDGETS.fonts);
    const sheets = readdirSync(assets).filter((name) => name.endsWith('.css'));
    for (const name of sheets) expect(readFileSync(join(assets, name), 'utf8')).not.toMatch(/url\((?!\/assets\/)/);
  });

  it('is refused above a size budget, naming the screen and the excess', () => {
    expect(aboveBudget(measured, fonts)).toEqual([]);
    const route = { route: 'src/screens/rule/rule.tsx', first: 200_001, later: 170_003, isEditor: true };
    expect(aboveBudget([route, { ...route, route: 'list.tsx', first: 1, isEditor: false }], 60_001)).toEqual([
      'src/screens/rule/rule.tsx, first visit: 200001 bytes, 1 above what it may cost',
      'src/screens/rule/rule.tsx, what comes after it: 170003 bytes, 3 above what it may cost',
      'fonts: 60001 bytes, 1 above what it may cost',
    ]);
  });

  it('counts files loaded after a screen once, without files of the first visit or of other screens', () => {
    const manifest = {
      'index.html': { file: 'index', dynamicImports: ['src/screens/rule/rule.tsx', 'src/screens/why.tsx', 'palette'] },
      shared: { file: 'shared', css: ['sheet'] },
      palette: { file: 'palette' },
      'src/screens/rule/rule.tsx': { file: 'rule', imports: ['shared'], dynamicImports: ['editor', 'dialog'] },
      'src/screens/why.tsx': { file: 'why' },
      editor: { file: 'editor', imports: ['shared', 'deep'], dynamicImports: ['src/screens/why.tsx', 'dialog'] },
      dialog: { file: 'dialog', imports: ['deep'] },
      deep: { file: 'deep' },
    };
    const size: Readonly<Record<string, number>> = {
      index: 1,
      shared: 10,
      sheet: 100,
      rule: 1000,
      editor: 1,
      deep: 10,
      dialog: 100,
      why: 5000,
      palette: 5000,
    };
    expect(measure(manifest, (file) => size[file] ?? 0)[0]).toEqual({
      route: 'src/screens/rule/rule.tsx',
      first: 1111,
      later: 111,
      isEditor: true,
    });
  });
});
