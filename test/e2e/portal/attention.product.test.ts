import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../../support/requirements.ts';
import { guardPages } from './guard.ts';
import { fillWorkspaces, openIn } from './screens.ts';
import { openBrowser, startDemo, type Demo } from './support.ts';

describeWith('chromium', 'the screen of workspaces that need attention', () => {
  let demo: Demo;
  let browser: Browser;
  const guard = guardPages(() => (demo ? [demo.control] : []));

  beforeAll(async () => {
    [demo, browser] = await Promise.all([startDemo(), openBrowser()]);
    await fillWorkspaces(demo);
  });
  afterAll(async () => {
    await browser?.close();
    await demo?.stop();
  });

  it('opens by its shortcut and the palette, and links to the deliveries of a workspace', async () => {
    const page = await guard.openPage(await openIn('loaded', { demo, browser, guard }));
    await page.goto(`${demo.control}/workspaces/care/deliveries`);
    await page.locator('main [data-key]').first().waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('a');
    await page.getByRole('heading', { name: 'Attention' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByLabel('Screen, action, name, or an id').fill('needs attention');
    await page.keyboard.press('Enter');
    await page.locator('main').getByRole('link', { name: 'care' }).click();
    await page.waitForURL('**/workspaces/care/deliveries');
    expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe('Deliveries');
  });
});
