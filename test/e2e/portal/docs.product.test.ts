import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../../support/requirements.ts';
import { expectToFit, picture, violations } from './accessible.ts';
import { guardPages } from './guard.ts';
import { closeContexts, sharedBrowser, startDemo, type Demo } from './support.ts';

describeWith('chromium', 'the documentation in a browser without a session', () => {
  let demo: Demo;
  let browser: Browser;
  let page: Page;
  const guard = guardPages(() => [demo.control]);

  beforeAll(async () => {
    [demo, browser] = await Promise.all([startDemo(), sharedBrowser()]);
    page = await guard.openPage(await browser.newContext({ viewport: { width: 1280, height: 800 } }));
  });
  afterAll(async () => {
    await closeContexts();
    await demo?.stop();
  });

  it('leads from its contents to a page, in the look of both themes and on a phone', async () => {
    await page.goto(`${demo.control}/docs`);
    await page.getByRole('navigation', { name: 'Pages of the documentation' }).getByText('Concepts').last().click();
    await page.getByRole('heading', { name: 'Concepts', level: 1 }).waitFor();
    // The diagrams are drawn with colours of the style sheet.
    const box = await page.locator('.diagram svg').first().boundingBox();
    expect(box?.width).toBeGreaterThan(200);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await violations(page), colorScheme).toEqual([]);
    }
    await picture(page, 'documentation');
    await expectToFit(page, 390, 320);
  });

  it('finds a section by words in its text, and opens it at its anchor', async () => {
    await page.goto(`${demo.control}/docs`);
    const index = page.waitForResponse(/search.*\.json$/);
    await page.getByLabel('Search the documentation').fill('custody');
    // The next page takes the index from the browser.
    expect((await index).headers()['cache-control']).toContain('immutable');
    const results = page.getByRole('region', { name: 'Search results' });
    await results.getByText(/^\d+ results?$/).waitFor();
    await page.getByLabel('Search the documentation').fill('missing_entity_key');
    await results.getByRole('link', { name: 'Errors' }).first().waitFor();
    expect(await violations(page)).toEqual([]);
    await page.getByLabel('Search the documentation').fill('zzzz qqqq');
    await results.getByText('No results').waitFor();
  });

  it('has an anchor for each error code', async () => {
    await page.goto(`${demo.control}/docs/errors#missing_entity_key`);
    const row = page.locator('tr:target');
    expect(await row.innerText()).toContain('The event has no value at the key of its stream');
  });

  it('leads old links to the API reference, which asks for a session', async () => {
    guard.allowStatus(401);
    await page.goto(`${demo.control}/docs#send-event`);
    await page.waitForURL(`${demo.control}/docs/api#send-event`);
    await page.getByRole('heading', { name: 'Sign in to Carillon' }).waitFor();
  });
});
