import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, it } from 'vitest';
import { describeWith } from '../../support/requirements.ts';
import { guardPages } from './guard.ts';
import { sendOrder } from './lab.ts';
import { RULE, write } from './rule-form.ts';
import { openBrowser, startDemo, type Demo } from './support.ts';

/** As slow as phones are where the net is bad. */
const SLOW_3G = { offline: false, latency: 400, downloadThroughput: 50_000, uploadThroughput: 50_000 };

describeWith('chromium', 'the portal over a slow 3G connection', () => {
  let demo: Demo;
  let browser: Browser;
  const guard = guardPages(() => (demo ? [demo.control] : []));

  beforeAll(async () => {
    [demo, browser] = await Promise.all([startDemo(), openBrowser()]);
    await sendOrder(demo);
  });
  afterAll(async () => {
    await browser?.close();
    await demo?.stop();
  });

  it('leads from the link to a story and to a rule that is tried, and says at each step that it loads', async () => {
    guard.allowStatus(400, 404);
    const context = await browser.newContext({ viewport: { width: 390, height: 844 } });
    const page = await guard.openPage(context);
    page.setDefaultTimeout(120_000);
    const session = await context.newCDPSession(page);
    await session.send('Network.emulateNetworkConditions', SLOW_3G);
    await page.goto(`${demo.control}/welcome#${demo.welcome}`);
    await page.getByRole('navigation', { name: 'Screens' }).first().waitFor();
    await page.goto(`${demo.control}/workspaces/shop/deliveries`);
    await page.getByRole('status', { name: /^Loading/ }).waitFor();
    await page.locator('main [data-key]').first().click();
    await page.getByRole('heading', { name: 'Journey' }).waitFor();
    await page.goto(`${demo.control}${RULE}`);
    await write(page, '55');
    await page.locator('[data-draft="saved"]').waitFor();
    await page.getByRole('button', { name: /^Run/ }).click();
    await page.getByText('Fires: 1 person is notified.').waitFor();
    await context.close();
  });
});
