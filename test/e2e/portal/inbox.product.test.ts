import { untilFound } from '@carillon/testing';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../../support/requirements.ts';
import { expectAccessible, expectToFit } from './accessible.ts';
import { guardPages } from './guard.ts';
import { sharedDemo } from './shared-demo.ts';
import { closeContexts, sharedBrowser, type SharedDemo } from './support.ts';

const AT = 'workspaces/mail';
const BODY =
  '<!doctype html><html lang="en"><body><p>Hello {{ name }}</p><a href="https://shop.example.com/a?x=1&amp;y=2">Order</a></body></html>\n';

describeWith('chromium', 'the inbox of the sandbox in a browser', () => {
  let demo: SharedDemo;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  const guard = guardPages(() => (demo ? [demo.control] : []));
  const rows = () => page.locator('main [data-key]');
  const tab = (name: string | RegExp) => page.getByRole('tab', { name });
  const frame = () => page.locator('iframe');

  beforeAll(async () => {
    [demo, browser] = await Promise.all([sharedDemo(), sharedBrowser()]);
    const key = await demo.makeKey('mail', 'backend');
    await demo.apply({
      [`${AT}/workspace.yaml`]: 'name: Mail\n',
      [`${AT}/streams/orders.yaml`]: 'security: { api_keys: [backend] }\n',
      [`${AT}/templates/hello/email.yaml`]: 'subject: Hello {{ name }}\nfrom: mail@example.com\n',
      [`${AT}/templates/hello/email.html`]: BODY,
      [`${AT}/templates/hello/sms.txt`]: 'Hello {{ name }}, your order is on its way',
      [`${AT}/templates/hello/push.yaml`]: 'title: Hello {{ name }}\nbody: It is on its way\n',
      [`${AT}/notifications/hello.yaml`]: `name: Hello
channels:
  email: { template: hello }
  sms: { template: hello }
  push: { template: hello }
rules:
  r:
    stream: orders
    when: event.name != ""
    recipients: { from: event, to: { email: event.email, phone: event.phone, token: event.token }, unique_id: event_id }
`,
    });
    await demo.send('mail/orders', key, {
      name: 'Ada',
      email: 'ada@example.com',
      phone: '+4915112345678',
      token: 'token-of-ada',
    });
    await demo.send('mail/orders', key, { name: 'Bob', email: 'bob@example.com' });
    await untilFound('all four are kept', async () => {
      const { items } = await demo.ask<{ items: object[] }>('/v1/workspaces/mail/inbox');
      return items.length === 4 || undefined;
    });
    context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
    await context.request.post(`${demo.control}/v1/session`, { data: { word: demo.ownerToken } });
    page = await guard.openPage(context);
    await page.goto(`${demo.control}/workspaces/mail/inbox`);
    await rows().nth(3).waitFor();
  });
  afterAll(async () => {
    await closeContexts();
  });

  it('finds messages by the beginning of an address and by channel, and keeps that in the address of the page', async () => {
    await page.getByRole('searchbox').fill('ada@');
    await page.keyboard.press('Enter');
    await page.waitForURL(/recipient=ada/);
    await expect.poll(() => rows().count()).toBe(1);
    // Whoever looked for one looks for the next.
    await page.locator('[type="search"]:focus').fill('nobody@');
    await page.keyboard.press('Enter');
    await page.getByText('No message matches').waitFor();
    await page.getByRole('button', { name: 'Show all messages' }).click();
    await expect.poll(() => rows().count()).toBe(4);
    await page.getByRole('button', { name: 'Channel: Any channel' }).click();
    await page.getByRole('menuitemradio', { name: 'SMS' }).click();
    await page.waitForURL(/channel=sms/);
    await expect.poll(() => rows().count()).toBe(1);
    await page.reload();
    await expect.poll(() => rows().count()).toBe(1);
  });

  it('shows an SMS as a bubble with what it costs, and a push on a lock screen', async () => {
    await rows().first().click();
    await page
      .getByRole('group', { name: 'As a phone shows it' })
      .getByText('Hello Ada, your order is on its way')
      .waitFor();
    await page.getByText('1 segment of at most 160 characters').waitFor();
    await page.goto(`${demo.control}/workspaces/mail/inbox?channel=push`);
    await rows().first().click();
    await page.getByRole('group', { name: 'As a locked phone shows it' }).getByText('It is on its way').waitFor();
  });

  it('shows a mail as HTML, on a phone, as text and source, by a letter each, with where its links lead', async () => {
    await page.goto(`${demo.control}/workspaces/mail/inbox?recipient=ada`);
    await rows().first().click();
    await frame().waitFor();
    await page.keyboard.press('p');
    await page.waitForURL(/view=phone/);
    await expect.poll(async () => (await frame().boundingBox())?.width ?? 1_000).toBeLessThanOrEqual(375);
    await page.keyboard.press('t');
    await page.getByRole('group', { name: 'Text' }).getByText('Hello Ada').waitFor();
    await page.keyboard.press('s');
    await page.getByRole('group', { name: 'Source of the HTML' }).waitFor();
    await page.keyboard.press('h');
    await frame().waitFor();
    await tab('Links 1').click();
    await page.getByText('https://shop.example.com/a?x=1&y=2').waitFor();
    await expectAccessible(page, 'links of a mail');
    await expectToFit(page, 390, 768);
  });

  it('opens a mail in a window of its own, at an address that stays', async () => {
    await page.setViewportSize({ width: 1440, height: 900 });
    const [own] = await Promise.all([
      context.waitForEvent('page'),
      page.getByRole('link', { name: 'Open in a new window' }).click(),
    ]);
    await own.getByText('Hello Ada').waitFor();
    expect(own.url()).toMatch(/\/inbox\/messages\/[0-9A-Z]+\/html$/);
    await own.reload();
    await own.getByText('Hello Ada').waitFor();
    await own.close();
  });

  it('opens a menu by a press, and gives the focus back to its button', async () => {
    const fresh = await guard.openPage(context);
    await fresh.goto(`${demo.control}/workspaces/mail/inbox`);
    await fresh.locator('main [data-key]').first().waitFor();
    const button = fresh.getByRole('button', { name: 'Channel: Any channel' });
    await button.click();
    const first = fresh.getByRole('menuitemradio', { name: 'Any channel' });
    await first.and(fresh.locator(':focus')).waitFor();
    expect(await first.getAttribute('aria-checked')).toBe('true');
    await fresh.keyboard.press('Escape');
    await fresh.locator('button:focus', { hasText: 'Any channel' }).waitFor();
    await fresh.close();
  });
});
