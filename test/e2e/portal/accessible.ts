import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const STANDARDS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** Returns what axe finds on a page as it is now. */
export async function violations(on: Page): Promise<string[]> {
  if (await on.evaluate(`typeof axe === 'undefined'`)) await on.evaluate(AXE);
  return on.evaluate(async (rules) => {
    type Found = { violations: { id: string; nodes: { html: string }[] }[] };
    const { axe } = globalThis as unknown as { axe: { run(context: object, options: object): Promise<Found> } };
    // What stands in the frame is the tenant's mail, not ours; no script can run there to look at it either.
    const found = await axe.run(
      { exclude: ['iframe'] },
      // A node is told by its text; to find a selector for each takes a quarter of the time.
      { iframes: false, runOnly: rules, resultTypes: ['violations'], selectors: false },
    );
    return found.violations.map((one) => `${one.id}: ${one.nodes.map((node) => node.html).join(' ')}`);
  }, STANDARDS);
}

/**
 * Runs axe in the light theme. The dark theme differs in the values of its tokens only, and apps/portal/test/tokens.test.ts
 * proves that each pair of text and ground that can be read in light can be read in dark.
 */
export async function expectAccessible(on: Page, what: string): Promise<void> {
  await on.emulateMedia({ colorScheme: 'light' });
  expect(await violations(on), what).toEqual([]);
}

export const widthOf = (page: Page): Promise<number> => page.evaluate<number>('document.documentElement.scrollWidth');
/** Wider than any system font, and than people set letters apart who read better so (WCAG 1.4.12). */
export const spread = (page: Page): Promise<unknown> =>
  page.evaluate(`{
    const sheet = new CSSStyleSheet();
    sheet.replaceSync('* { letter-spacing: 0.2em !important; word-spacing: 0.2em !important }');
    document.adoptedStyleSheets = [sheet];
  }`);

/** No part of the page is wider than a phone of these widths, whatever the font. Leaves the window as wide as a desk's. */
export async function expectToFit(on: Page, ...widths: readonly number[]): Promise<void> {
  for (const width of widths) {
    await on.setViewportSize({ width, height: 640 });
    await expect.poll(() => widthOf(on), { message: `${width} px` }).toBeLessThanOrEqual(width);
  }
  await spread(on);
  for (const width of widths) {
    await on.setViewportSize({ width, height: 640 });
    await expect.poll(() => widthOf(on), { message: `${width} px, letters apart` }).toBeLessThanOrEqual(width);
  }
  await on.setViewportSize({ width: 1280, height: 800 });
}

/** Where somebody wants to look at the screens that tests visit. */
const PICTURES = process.env['PORTAL_PICTURES'];

/** Takes a picture of what is shown, light and dark, and as wide as a phone; nothing unless `PORTAL_PICTURES` names a folder. */
export async function picture(on: Page, name: string): Promise<void> {
  if (PICTURES === undefined) return;
  for (const [kind, colorScheme, width, height] of [
    ['light', 'light', 1440, 900],
    ['dark', 'dark', 1440, 900],
    ['phone', 'light', 390, 844],
  ] as const) {
    await on.emulateMedia({ colorScheme });
    await on.setViewportSize({ width, height });
    await on.screenshot({ path: join(PICTURES, `${name}-${kind}.png`) });
  }
  await on.setViewportSize({ width: 1440, height: 900 });
}
