import type { Page } from 'playwright-core';

/** Keeps files of the portal from a page, as a slow line would; answers what lets them come. */
export async function holdBack(page: Page, files: RegExp): Promise<() => void> {
  const held = Promise.withResolvers<void>();
  await page.route(files, (route) => held.promise.then(() => route.fallback()));
  return held.resolve;
}
