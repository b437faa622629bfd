import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../../support/requirements.ts';
import { expectAccessible, expectToFit, picture } from './accessible.ts';
import { guardPages } from './guard.ts';
import { moveTo } from './moves.ts';
import { closeContexts, sharedBrowser, startDemo, type Demo } from './support.ts';

describeWith('chromium', 'the overview of a workspace in a browser', () => {
  let demo: Demo;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  const guard = guardPages(() => [demo.control]);

  beforeAll(async () => {
    [demo, browser] = await Promise.all([startDemo(), sharedBrowser()]);
    context = await browser.newContext({ viewport: { width: 1440, height: 900 }, locale: 'de-DE' });
    await context.request.post(`${demo.control}/v1/session`, { data: { word: demo.ownerToken } });
    page = await guard.openPage(context);
  });
  afterAll(async () => {
    await closeContexts();
    await demo?.stop();
  });

  it('leads a new person to a first message through steps with actions', async () => {
    await page.goto(`${demo.control}/`);
    await page.waitForURL(`${demo.control}/workspaces/shop`);
    await page.getByRole('heading', { name: /of 4 done: your first message is \d steps away/ }).waitFor();
    await expectAccessible(page, 'the guide');
    await picture(page, 'guide');
    await page.getByRole('link', { name: 'See where messages arrive' }).click();
    await page.getByText('No messages yet').waitFor();
    await page.goBack();
    await page.getByRole('button', { name: 'Send it now' }).click();
    const message = page.getByRole('region', { name: 'Your message' });
    await message.locator('[data-state="SENT"]').waitFor();
    await message.getByRole('heading').waitFor();
    await expectAccessible(page, 'the message beside the guide');
    await picture(page, 'first-message');
    // What the page says, the product holds.
    const { items } = await demo.ask<{ items: { subject: string }[] }>('/v1/inbox');
    expect(await message.getByRole('heading').textContent()).toBe(items[0]?.subject);
    expect(items[0]?.subject).toBe('Thank you, Ada: order A-1001 is paid');
    // The heading appears by itself and survives a reload, until the user presses Done.
    await page.getByRole('heading', { name: 'Your first message was sent' }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'Your first message was sent' }).waitFor();
    await message.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('heading', { name: 'Your first message was sent' }).waitFor({ state: 'detached' });
    await page.getByText('1 message in 24 hours to 1 person').waitFor();
    const health = page.getByRole('region', { name: 'Health' });
    await health.getByText('Messages stay in the inbox').first().waitFor();
    await page.reload();
    await health.getByText('1 kept in the last hour').waitFor();
  });

  it('shows the same numbers as bars and as a table, at every width, and by keyboard', async () => {
    await moveTo(page, `${demo.control}/workspaces/shop`);
    await page
      .getByRole('img', { name: /1 message in 24 hours to 1 person · 0 in doubt · 0 failing accounts/ })
      .waitFor();
    await page.getByText('Show as table').focus();
    await page.keyboard.press('Enter');
    await page.getByRole('columnheader', { name: 'Sent' }).waitFor();
    await page.locator('body').click({ position: { x: 4, y: 4 } });
    for (const width of [1440, 768]) {
      await page.setViewportSize({ width, height: 900 });
      await expectAccessible(page, `overview at ${width}`);
    }
    await expectToFit(page, 390, 320);
    await page.keyboard.press('g');
    await page.keyboard.press('d');
    await page.waitForURL(`${demo.control}/workspaces/shop/deliveries`);
    await page.keyboard.press('g');
    await page.keyboard.press('o');
    await page.waitForURL(`${demo.control}/workspaces/shop`);
    await page.keyboard.press('r');
    await page.waitForURL(/last=7d/);
    await page.getByText('1 message in 7 days to 1 person').first().waitFor();
    await page.getByText('Last 7 days').waitFor();
    // After g a letter is a place, on a screen that has a use of its own for it too.
    for (const times of [1, 2]) {
      await page.keyboard.press('g');
      await page.keyboard.press('n');
      await page.waitForURL(`${demo.control}/workspaces/shop/notifications`);
      await page.getByRole('heading', { name: 'Order paid' }).waitFor();
      expect(await page.getByRole('dialog').count(), `the time ${times}`).toBe(0);
    }
    await page.keyboard.press('n');
    const dialog = page.getByRole('dialog', { name: 'New notification' });
    await dialog.getByRole('button', { name: /Parcel on its way/ }).click();
    await dialog.getByText('As YAML').click();
    await dialog.getByText('workspaces/shop/notifications/parcel-on-its-way.yaml').waitFor();
    await dialog.getByText('workspaces/shop/templates/parcel-on-its-way/sms.txt').waitFor();
    await expectAccessible(page, 'a new notification as files');
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: 'Order paid' }).click();
    await page.getByRole('navigation', { name: 'Parts of the notification' }).waitFor();
    const parts = ['', '/rules', '/channels', '/cadence', '/secure', '/versions'];
    for (const nth of [6, 5, 4, 3, 2, 1]) {
      await page.keyboard.press(`${nth}`);
      await page.waitForURL(`${demo.control}/workspaces/shop/notifications/order-paid${parts[nth - 1]}`);
    }
    await page.keyboard.press('?');
    await page.getByRole('heading', { name: 'Keyboard shortcuts' }).waitFor();
    await expectAccessible(page, 'the keys');
    await expectToFit(page, 390);
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.keyboard.press('Escape');
  });

  it('names what only a person can decide', async () => {
    const made = await demo.ask<{ name: string }>('/v1/workspaces/shop/api-keys', {
      name: 'short',
      expires_at: new Date(Date.now() + 6.5 * 86_400_000).toISOString(),
    });
    expect(made.name).toBe('short');
    await moveTo(page, `${demo.control}/workspaces/shop`);
    await page.getByRole('region', { name: 'Needs your attention' }).getByText('“short” expires in 6 days').waitFor();
    await expectAccessible(page, 'what waits');
    await picture(page, 'overview');
  });

  it('goes to a screen or a resource, does something, and finds by id, all after one key', async () => {
    const field = page.getByRole('textbox', { name: 'Screen, action, name, or an id' });
    const find = async (words: string): Promise<void> => {
      await page.keyboard.press('ControlOrMeta+k');
      await field.fill(words);
    };
    const choice = (name: string | RegExp) => page.getByRole('list', { name: 'Matches' }).getByRole('button', { name });
    await page.setViewportSize({ width: 1440, height: 900 });
    await moveTo(page, `${demo.control}/workspaces/shop`);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await find('order paid');
    await choice(/^Order paid/).waitFor();
    await expectAccessible(page, 'find');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/notifications/order-paid');
    await find('new notification');
    await choice(/^New notification/).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'New notification' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await find('theme: dark');
    await choice(/^Theme: dark/).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    const { items } = await demo.ask<{ items: { id: string }[] }>('/v1/workspaces/shop/deliveries');
    await find(items[0]?.id ?? '');
    await choice('Story of this delivery').waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Journey' }).waitFor();
    // It leads among all workspaces, where there are no drafts.
    await page.waitForURL('**/workspaces/-/deliveries**');
    await find('no');
    await choice(/^Ask why somebody was not notified/).waitFor();
    await find('publish');
    await page.getByText('No match').waitFor();
  });

  it('reaches every screen and tab on a phone, and scrolls the page alone', async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    await page.goto(`${demo.control}/workspaces/shop`);
    await page.getByRole('button', { name: 'More screens' }).click();
    for (const name of ['Why not?', 'Templates', 'Event streams', 'Integrations', 'Accounts', 'Cadence', 'Settings']) {
      await page.getByRole('menuitem', { name }).waitFor();
    }
    await expectAccessible(page, 'the menu of more screens');
    await page.getByRole('menuitem', { name: 'Templates' }).click();
    await page.waitForURL('**/workspaces/shop/templates');
    await moveTo(page, `${demo.control}/workspaces/shop/templates/order-paid`);
    await page.locator('.cm-scroller').first().waitFor();
    expect(
      await page.evaluate(`[...document.querySelectorAll('main, main *')]
          .filter((element) => /auto|scroll/.test(getComputedStyle(element).overflowY))
          .filter((element) => element.scrollHeight > element.clientHeight + 1 && element.clientHeight > 0)
          .map(({ tagName }) => tagName)`),
    ).toEqual(['MAIN']);
    await moveTo(page, `${demo.control}/workspaces/shop/notifications/order-paid`);
    const tabs = page.getByRole('navigation', { name: 'Parts of the notification' }).getByRole('link');
    await tabs.first().waitFor();
    for (const tab of await tabs.all()) {
      const box = await tab.boundingBox();
      expect((box?.x ?? 0) + (box?.width ?? 999)).toBeLessThanOrEqual(390);
    }
    // The first draft moves nothing of the page.
    await moveTo(page, `${demo.control}/workspaces/shop/templates/order-paid`);
    const subject = page.locator('.cm-content').first();
    await subject.click();
    const before = await subject.boundingBox();
    await page.keyboard.type('x');
    await page.locator('[data-draft="saved"]').waitFor();
    expect((await subject.boundingBox())?.y).toBe(before?.y);
    await page.getByRole('button', { name: 'Discard', exact: true }).click();
    await page.getByRole('button', { name: 'Discard the draft' }).click();
    await page.locator('[data-draft]').waitFor({ state: 'detached' });
  });

  it('searches the reference of the API by words of method, path and summary', async () => {
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.goto(`${demo.control}/docs/api`);
    const rows = page.getByRole('navigation', { name: 'Operations' }).getByRole('listitem');
    await page.getByLabel('Search operations').fill('post drafts/publish');
    await page.getByText('1 operation', { exact: true }).waitFor();
    expect(await rows.filter({ visible: true }).allInnerTexts()).toEqual([
      expect.stringContaining('POST /v1/workspaces/{workspace}/drafts/publish'),
    ]);
    await page.getByLabel('Search operations').fill('event intake');
    await rows.filter({ visible: true }).getByRole('link', { name: 'Sends an event to a stream' }).click();
    await page.getByRole('heading', { name: 'Sends an event to a stream' }).waitFor();
  });
});
