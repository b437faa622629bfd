import { untilFound } from '@carillon/testing';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../../support/requirements.ts';
import { expectAccessible, expectToFit } from './accessible.ts';
import { guardPages } from './guard.ts';
import { sharedDemo } from './shared-demo.ts';
import { closeContexts, sharedBrowser, type SharedDemo } from './support.ts';

/* What readers meet: an SMS and a push notification as the inbox shows them, and the pages behind the links of a message. */

const AT = 'workspaces/club';
const filesOf = (gateway: string): Readonly<Record<string, string>> => ({
  'carillon.yaml': `backend: embedded\npublic_url: ${gateway}\n`,
  [`${AT}/workspace.yaml`]: 'name: Club\ncategories:\n  news: {}\n',
  [`${AT}/streams/news.yaml`]: 'security: { api_keys: [backend] }\n',
  [`${AT}/templates/news/email.yaml`]: 'subject: "{{ title }}"\nfrom: club@example.com\n',
  [`${AT}/templates/news/email.txt`]: 'No more: {{ unsubscribe_url }}\nWhat you get: {{ preferences_url }}\n',
  [`${AT}/templates/news/sms.txt`]: '{{ title }} ☃ {{ long }}\n',
  [`${AT}/templates/news/push.yaml`]:
    'title: "{{ title }}"\nbody: "{{ long }}"\nlink: https://club.example.com/{{ long }}\ndata: { key: "{{ long }}" }\npriority: high\n',
  [`${AT}/notifications/news.yaml`]: `name: News of the club
category: news
channels: { email: { template: news }, sms: { template: news }, push: { template: news } }
rules:
  all:
    stream: news
    when: has(event.title)
    recipients:
      from: event
      to: { email: event.email, phone: event.phone, token: event.token }
      unique_id: event_id
`,
});
type Kept = { readonly channel: string; readonly to: string; readonly text: string | null };

describeWith('chromium', 'what readers meet, in a browser', () => {
  let demo: SharedDemo;
  let key: string;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  const guard = guardPages(() => [demo.control, demo.gateway]);

  /** Tells somebody on all three channels; answers what became of it, channel by channel, when all has ended. */
  async function tell(email: string, title = 'News'): Promise<readonly string[]> {
    // A word that no line can break.
    const event = { title, long: 'W'.repeat(60), email, phone: '+4930123456', token: 'token' };
    const id = await demo.send('club/news', key, event);
    return untilFound(`${title} has ended on all channels`, async () => {
      const { items } = await demo.ask<{ items: { channel: string; state: string; reason: string }[] }>(
        `/v1/workspaces/club/deliveries?event=${id}`,
      );
      const isOpen = items.some(({ state }) => state === 'WAITING' || state === 'SENDING');
      if (items.length < 3 || isOpen) return undefined;
      return items.map(({ channel, state, reason }) => `${channel} ${state} ${reason}`).toSorted();
    });
  }
  /** The links in the newest mail to somebody. */
  async function linksTo(email: string): Promise<{ readonly unsubscribe: string; readonly preferences: string }> {
    const text =
      (await demo.inbox<Kept>('club')).find(({ channel, to }) => channel === 'email' && to === email)?.text ?? '';
    const [, unsubscribe = '', preferences = ''] = /No more: (\S+)\s+What you get: (\S+)/.exec(text) ?? [];
    expect([unsubscribe, preferences].every((one) => one.startsWith(demo.gateway))).toBe(true);
    return { unsubscribe, preferences };
  }
  const press = async (on: Page, name: string, focused: string): Promise<void> => {
    await on.keyboard.press(name);
    await on.locator(`${focused}:focus`).waitFor();
  };
  const heading = (on: Page, name: string | RegExp) => on.getByRole('heading', { level: 1, name });

  beforeAll(async () => {
    [demo, browser] = await Promise.all([sharedDemo(), sharedBrowser()]);
    key = await demo.makeKey('club', 'backend');
    await demo.apply(filesOf(demo.gateway));
    expect(await tell('ada@example.com')).toEqual(['email SENT accepted', 'push SENT accepted', 'sms SENT accepted']);
    context = await browser.newContext({ viewport: { width: 1280, height: 800 }, locale: 'de-DE' });
    await context.request.post(`${demo.control}/v1/session`, { data: { word: demo.ownerToken } });
    page = await guard.openPage(context);
  });
  afterAll(async () => {
    await closeContexts();
  });

  it.each([
    ['SMS', '[aria-label="As a phone shows it"]', '1 segment of at most 70 characters', 'News ☃'],
    ['Push', '[aria-label="As a locked phone shows it"]', 'https://club.example.com/', 'News'],
  ])(
    'shows %s as a phone does, found and opened by the keyboard alone, and fits one',
    async (name, shown, more, words) => {
      await page.goto('about:blank');
      await page.goto(`${demo.control}/workspaces/club/inbox`);
      const row = page.locator('main [data-key]', { hasText: `${name} ·` });
      await row.waitFor();
      await press(page, 'Tab', 'a[href="#main"]');
      await press(page, 'Enter', 'main ol li:first-child button');
      const titles = await page.locator('main [data-key]').allTextContents();
      const place = titles.findIndex((text) => text.includes(`${name} ·`));
      for (let at = 0; at < place; at += 1) await press(page, 'ArrowDown', `main ol li:nth-child(${at + 2}) button`);
      await page.keyboard.press('Enter');
      await page.locator(shown, { hasText: words }).waitFor();
      expect(await page.locator('main section').textContent()).toContain(more);
      await expectAccessible(page, name);
      await expectToFit(page, 360, 320);
    },
  );

  it('has a page behind the link that changes nothing until somebody presses the button', async () => {
    const { unsubscribe } = await linksTo('ada@example.com');
    await page.goto(unsubscribe);
    await heading(page, 'Stop these messages?').waitFor();
    await expectAccessible(page, 'the page that asks');
    await expectToFit(page, 360, 320);
    await page.reload();
    expect(await tell('ada@example.com')).toContain('email SENT accepted');

    await page.goto(unsubscribe);
    await press(page, 'Tab', 'button');
    await page.keyboard.press('Enter');
    await heading(page, 'You will not get these any more').waitFor();
    await expectAccessible(page, 'the page that says it is done');
    await expectToFit(page, 360, 320);
    expect(await tell('ada@example.com')).toEqual([
      'email SUPPRESSED opted_out',
      'push SENT accepted',
      'sms SENT accepted',
    ]);
  });

  it('has a page with all choices, which saves without any script, by the keyboard alone', async () => {
    expect(await tell('bob@example.com')).toContain('email SENT accepted');
    const { preferences } = await linksTo('bob@example.com');
    const plain = await browser.newContext({ javaScriptEnabled: false });
    const tab = await guard.openPage(plain);
    await tab.goto(preferences);
    await heading(tab, 'What you get from Club').waitFor();
    expect(await tab.locator('script').count()).toBe(0);
    const boxes = tab.getByRole('checkbox');
    expect(await boxes.count()).toBe(3);
    // Email, the first of them.
    await press(tab, 'Tab', 'input[type=checkbox]');
    await tab.keyboard.press('Space');
    for (let stop = 1; stop < 3; stop += 1)
      await press(tab, 'Tab', `label:nth-of-type(${stop + 1}) input[type=checkbox]`);
    await press(tab, 'Tab', 'button');
    await tab.keyboard.press('Enter');
    await tab.getByRole('status').filter({ hasText: 'Saved.' }).waitFor();
    expect(
      await boxes.evaluateAll((all) => all.map((one) => (one as unknown as { checked: boolean }).checked)),
    ).toEqual([false, true, true]);
    await plain.close();
    expect(await tell('bob@example.com')).toEqual([
      'email SUPPRESSED opted_out',
      'push SENT accepted',
      'sms SENT accepted',
    ]);

    await page.goto(preferences);
    await expectAccessible(page, 'the page with all choices');
    await expectToFit(page, 360, 320);
    await page.getByRole('button', { name: 'Stop everything' }).press('Enter');
    await page.getByText('You stopped everything that can be stopped.').waitFor();
    await expectAccessible(page, 'the page where everything is stopped');
    await expectToFit(page, 360, 320);
    await page.getByRole('button', { name: 'Get messages again' }).press('Enter');
    await page.getByRole('button', { name: 'Stop everything' }).waitFor();
  });

  it('shows for a truncated unsubscribe link that it does not work, on a normal page', async () => {
    guard.allowStatus(400, 404, 410);
    const { preferences } = await linksTo('ada@example.com');
    await page.goto(preferences.slice(0, -5));
    await heading(page, 'This link does not work').waitFor();
    await expectAccessible(page, 'the page of a wrong link');
    await expectToFit(page, 360, 320);
  });
});
