import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../../support/requirements.ts';
import { expectAccessible, expectToFit, spread, widthOf } from './accessible.ts';
import { openLab, sendOrder, startTrap, type Lab, type Trap } from './lab.ts';
import { guardPages } from './guard.ts';
import { moveTo } from './moves.ts';
import { closeContexts, sharedBrowser, startDemo, type Demo } from './support.ts';

describeWith('chromium', 'the portal in a browser', () => {
  let demo: Demo;
  let trap: Trap;
  let lab: Lab;
  let browser: Browser;
  let signedIn: BrowserContext;
  let page: Page;
  let silent: string;
  let many: string;

  const guard = guardPages(() => [demo.control]);
  const { openPage } = guard;

  const rows = () => page.locator('main [data-key]');
  const row = (text: string) => page.locator('main [data-key]', { hasText: text });
  /** The title of what is open beside the list. */
  const title = () => page.locator('main section h2[tabindex="-1"]');
  const question = () => page.getByRole('group', { name: 'Confirmation' });
  /** Presses what is to be done, and confirms it. */
  const decide = async (words: string): Promise<void> => {
    await page.getByRole('button', { name: words, exact: true }).click();
    await question().getByRole('button', { name: words, exact: true }).click();
  };
  const steps = (name: string) => page.locator(`[data-step="${name}"]`);
  /** A key that was pressed has done its work once the focus, or what it changed, is where it leads. */
  const focusOn = (selector: string) => page.locator(`${selector}:focus`).waitFor();
  const go = (path: string) => moveTo(page, `${demo.control}${path}`);

  beforeAll(async () => {
    [demo, trap, browser] = await Promise.all([startDemo(), startTrap(), sharedBrowser()]);
    lab = await openLab(demo, trap);
    const send = (event: object) => demo.send('lab/orders', lab.key, event);
    await send({ kind: 'hostile', email: 'eve@example.com', subject: '<b>bold</b>', name: '<i>Eve</i>' });
    // The oldest message, so the last row of the inbox.
    await lab.untilStates('SENT');
    await send({ kind: 'once', email: 'twice@example.com', subject: 'W'.repeat(300) });
    await send({ kind: 'once', email: 'twice@example.com', subject: 'once more' });
    for (const one of ['a', 'b', 'c']) await send({ kind: 'doubt', email: `doubt-${one}@example.com`, subject: one });
    silent = await send({ kind: 'nothing', email: 'nobody@example.com' });
    many = await send({ kind: 'many', people: Array.from({ length: 105 }, (_, at) => `p${at}@example.com`) });
    // A list that changes is drawn anew, and a click that began on the row of before is lost.
    await lab.untilStates('IN_DOUBT', 'IN_DOUBT', 'IN_DOUBT', 'SENT', 'SENT', 'SUPPRESSED');
    signedIn = await browser.newContext({ viewport: { width: 1280, height: 800 }, locale: 'de-DE' });
    await signedIn.request.post(`${demo.control}/v1/session`, { data: { word: demo.ownerToken } });
    page = await openPage(signedIn);
  });
  afterAll(async () => {
    await closeContexts();
    await lab?.stop();
    await trap?.stop();
    await demo?.stop();
  });
  afterEach(() => {
    expect(trap.visits()).toBe(0);
  });

  it('opens a session by the link of the first start, once, and removes its secret from the address bar', async () => {
    guard.allowStatus(401);
    const guest = await browser.newContext();
    const first = await openPage(guest);
    await first.goto(`${demo.control}/welcome#${demo.welcome}`);
    await first.waitForURL(`${demo.control}/workspaces/-/deliveries`);
    const [cookie] = await guest.cookies();
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict', path: '/' });
    expect(await first.evaluate<number>('history.length')).toBeLessThanOrEqual(2);
    // The link clicked once more by who is signed in.
    await first.goto(`${demo.control}/welcome#${demo.welcome}`);
    await first.waitForURL(`${demo.control}/workspaces/-/deliveries`);
    await guest.close();

    const other = await browser.newContext();
    const second = await openPage(other);
    await second.goto(`${demo.control}/welcome#${demo.welcome}`);
    await second.getByText('This link was used already').waitFor();
    await second.waitForURL(`${demo.control}/welcome`);
    expect(second.url()).not.toContain('#');
    await expectAccessible(second, 'sign-in');

    // Where a session ended, the sign-in stands at the address of the page, and leads back to it.
    await second.goto(`${demo.control}/deliveries?workspace=lab&state=IN_DOUBT`);
    await second.getByRole('button', { name: 'Use the owner token' }).click();
    await second.getByLabel('Token').fill(demo.ownerToken);
    await second.keyboard.press('Enter');
    await second.locator('main [data-key]').first().waitFor();
    expect(second.url()).toContain('state=IN_DOUBT');
    await other.clearCookies();
    await second.getByLabel('Password').waitFor();
    expect(second.url()).toContain('state=IN_DOUBT');
    await other.close();
  });

  it('shows a message as its reader sees it, without running scripts, navigating or sending requests', async () => {
    await go('/inbox');
    await row('<b>bold</b>').click();
    const frame = page.frameLocator('iframe');
    await frame.locator('#words').waitFor();
    expect(await frame.locator('#words').textContent()).toBe('Hello <i>Eve</i>');
    expect(await page.locator('iframe').getAttribute('sandbox')).toBe('');
    for (const link of ['#top', '#blank', '#js', '#ping']) await frame.locator(link).click();
    await frame.locator('#send').click();
    // The browser has been to the server and back since.
    await page.evaluate(`fetch('/v1/me').then((answer) => answer.text())`);
    expect(await frame.locator('#words').count()).toBe(1);
    expect(await page.evaluate(() => 'ran' in globalThis)).toBe(false);
    expect(page.url()).toMatch(/\/inbox\?open=/);
    expect(page.context().pages()).toHaveLength(1);
    await expectAccessible(page, 'inbox');
  });

  it('has the message at its own address tame too', async () => {
    const id = (await demo.inbox<{ id: string; html: string | null }>()).find((one) => one.html !== null)?.id;
    const answer = await signedIn.request.get(`${demo.control}/inbox/messages/${id}/html`);
    expect(answer.headers()['content-security-policy']).toMatch(/^sandbox; default-src 'none'/);
    await page.goto(`${demo.control}/inbox/messages/${id}/html`);
    await page.locator('#words').waitFor();
    await page.waitForTimeout(200);
    expect(page.url()).toContain(demo.control);
    expect(await page.evaluate(() => 'ran' in globalThis)).toBe(false);
  });

  it('moves through list, tabs and text by the keyboard alone, and keeps the selection on a reload', async () => {
    // A page that was just loaded has its focus at the start.
    await page.goto(`${demo.control}/inbox`);
    await rows().first().waitFor();
    const ALONE = 'section dd a[target="_blank"]';
    const lead: [key: string, to: string][] = [
      ['Tab', 'a[href="#main"]'],
      ['Enter', 'main ol li:first-child button'],
      ['End', 'main ol li:last-child button'],
      ['ArrowUp', 'main ol li:nth-last-child(2) button'],
      ['j', 'main ol li:last-child button'],
      ['k', 'main ol li:nth-last-child(2) button'],
      ['Home', 'main ol li:first-child button'],
      ['End', 'main ol li:last-child button'],
      ['Enter', 'main ol li:last-child button[aria-current="true"]'],
    ];
    for (const [key, to] of lead) {
      await page.keyboard.press(key);
      await focusOn(to);
    }
    // Until the message has come its id is the title, and there is nothing to tab to.
    await page.locator(ALONE).waitFor();
    const heading = await title().textContent();
    // One more Tab would lead into the frame, which has a process of its own: it takes the focus whenever it gets to it.
    const stops = [
      'section button[aria-label="Close"]',
      ALONE,
      'section dd a[href*="open=dlv_"]',
      '[role="tab"][aria-selected="true"]',
    ];
    for (const stop of stops) {
      await page.keyboard.press('Tab');
      await focusOn(stop);
    }
    for (const tab of ['phone', 'text']) {
      await page.keyboard.press('ArrowRight');
      await focusOn(`[role="tab"][data-key="${tab}"][aria-selected="true"]`);
    }
    await page.locator('[role="tabpanel"] pre', { hasText: /\S/ }).waitFor();
    await page.reload();
    await page.locator('main ol li:last-child button[aria-current="true"]').waitFor();
    // What was looked at of it is part of the address too.
    await page.locator('[role="tab"][data-key="text"][aria-selected="true"]').waitFor();
    await expect.poll(() => title().textContent()).toBe(heading);
  });

  it('shows for a duplicate why it was not sent, which delivery holds the slot, and the event', async () => {
    await go('/deliveries?workspace=lab');
    await row('duplicate').click();
    await page.getByText('this person was already notified').waitFor();
    await page.getByText('Story of the event').waitFor();
    await expectAccessible(page, 'duplicate');
    await page.reload();
    await page.getByText('this person was already notified').waitFor();
    await page.locator('dl a[href*="open=dlv_"]').click();
    await title().locator('[data-state="SENT"]').waitFor();
    const time = steps('event').locator('time');
    expect(await time.getAttribute('title')).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    // With its date where midnight came between.
    expect(await time.textContent()).toMatch(/^(\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d$/);
    await page.goBack();
    await page.getByText('this person was already notified').waitFor();
  });

  it('filters, and says when nothing fits', async () => {
    await go('/deliveries?workspace=lab');
    await rows().first().waitFor();
    await page.getByRole('button', { name: 'State: Any state' }).click();
    await page.getByRole('menuitemradio', { name: 'Sent', exact: true }).click();
    await row('doubt').first().waitFor({ state: 'detached' });
    await expect.poll(() => rows().locator('[data-state]').allTextContents()).toEqual(['Sent', 'Sent']);
    await page.getByRole('searchbox', { name: 'Recipient' }).fill('eve@example.com');
    await row('twice').waitFor({ state: 'detached' });
    await page.reload();
    await row('eve@').waitFor();
    await expect.poll(() => rows().count()).toBe(1);
    await page.getByRole('searchbox', { name: 'Recipient' }).fill('nobody@example.com');
    await page.getByText('No delivery matches this filter').waitFor();
    await expectAccessible(page, 'empty list');
  });

  it('lists the deliveries of all workspaces together, each with its own, until one is chosen', async () => {
    await sendOrder(demo);
    await go('/deliveries');
    const of = async (workspace: string): Promise<boolean> => (await row(`${workspace} · `).count()) > 0;
    await expect.poll(async () => (await of('shop')) && (await of('lab'))).toBe(true);
    await expectAccessible(page, 'all workspaces');
    await page.getByRole('button', { name: 'Workspace: All workspaces' }).click();
    await page.getByRole('menuitemradio', { name: 'lab' }).click();
    await expect.poll(async () => (await rows().count()) > 0 && !(await of('shop')) && !(await of('lab'))).toBe(true);
    expect(page.url()).toContain('/workspaces/lab/deliveries');
    await rows().first().click();
    await page.locator('dl dd', { hasText: /^lab$/ }).waitFor();
  });

  it('traces an event without a message in any workspace: the rules that saw it, and why they did not fire', async () => {
    guard.allowStatus(404);
    await go('/inbox');
    await rows().first().waitFor();
    const find = async (id: string): Promise<void> => {
      await page.keyboard.press('Control+k');
      await page.getByLabel('Screen, action, name, or an id').fill(id);
    };
    await find('evt_1');
    await page.getByText('An id begins with evt_').waitFor();
    await page.getByLabel('Screen, action, name, or an id').fill(silent);
    await page.getByRole('button', { name: 'Story of this event' }).waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(`${demo.control}/workspaces/-/events/${silent}`);
    await page.getByText('4 rules saw it, 0 fired').waitFor();
    await page.getByText('event.kind == "once"').waitFor();
    await expect.poll(() => steps('rule').count()).toBe(4);
    await expectAccessible(page, 'event');
    await find('evt_00000000000000000000000000');
    await page.getByRole('button', { name: 'Story of this event' }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByText('there is no event evt_').waitFor();
  });

  it('shows event and message contents without running scripts, navigating or sending requests', async () => {
    const { items } = await demo.ask<{ items: { id: string; to: string }[] }>('/v1/workspaces/lab/deliveries');
    await go(`/deliveries?workspace=lab#${items.find(({ to }) => to === 'eve@example.com')?.id}`);
    await page.getByText('What came in').click();
    await page.locator('mark', { hasText: '"email": "eve@example.com"' }).waitFor();
    await page.getByText('What went out').click();
    const frame = page.frameLocator('iframe');
    await frame.locator('#words').waitFor();
    expect(await frame.locator('#words').textContent()).toBe('Hello <i>Eve</i>');
    expect(await page.locator('iframe').getAttribute('sandbox')).toBe('');
    for (const link of ['#top', '#blank', '#js', '#ping']) await frame.locator(link).click();
    await page.locator('ul[aria-label="What the provider said"] li', { hasText: 'accepted' }).waitFor();
    expect(await page.evaluate(() => 'ran' in globalThis)).toBe(false);
    expect(page.context().pages()).toHaveLength(1);
    await expectAccessible(page, 'contents');
  });

  it('pages through all people named by an event, dropped ones too, and filters them', async () => {
    await go(`/deliveries#${many}`);
    await page.getByText('0 notified, 105 not: 105 where false').waitFor();
    const people = page.locator('ol[aria-label="People named by the event"] > li');
    await expect.poll(() => people.count()).toBe(100);
    await expectAccessible(page, 'people');
    await page.getByRole('button', { name: 'Show more people' }).click();
    await expect.poll(() => people.count()).toBe(105);
    await page.getByLabel('Filter by address').fill('p104@');
    await page.keyboard.press('Enter');
    await page.getByText('0 notified, 1 not: 1 where false').waitFor();
    await expect.poll(() => people.allTextContents()).toHaveLength(1);
    await expect.poll(() => people.first().textContent()).toContain('p104@example.com');
  });

  it('ends a doubt by what an operator knows, and sends again', async () => {
    await go('/deliveries?workspace=lab&state=IN_DOUBT');
    await row('doubt-a@').click();
    await page.getByText('The provider did not answer').waitFor();
    await expectAccessible(page, 'in doubt');
    await page.getByLabel('Evidence').pressSequentially('line 7 of the log', { delay: 120 });
    await decide('Mark as sent');
    await title().locator('[data-state="SENT"]').waitFor();
    await page.getByText('line 7 of the log').first().waitFor();
    await row('doubt-a@').waitFor({ state: 'detached' });
    await row('doubt-b@').click();
    await title().filter({ hasText: 'doubt-b@' }).waitFor();
    // A second key asks its own question in place of the first one's, and Enter answers that.
    await page.keyboard.press('1');
    await page.keyboard.press('2');
    await question().locator('button:focus', { hasText: 'Mark as not sent' }).waitFor();
    await page.keyboard.press('Enter');
    await title().locator('[data-state="FAILED"]').waitFor();
    await row('doubt-c@').click();
    await title().filter({ hasText: 'doubt-c@' }).waitFor();
    const attempts = steps('attempt');
    await attempts.first().waitFor();
    expect(await attempts.count()).toBe(1);
    await decide('Send again');
    await attempts.nth(1).waitFor();
    await row('doubt-b@').waitFor({ state: 'detached' });
    await lab.untilStates('FAILED', 'IN_DOUBT', 'SENT', 'SENT', 'SENT', 'SUPPRESSED');
  });

  it('fits a narrow screen and long words, whatever the font', async () => {
    await page.setViewportSize({ width: 360, height: 640 });
    await page.goto(`${demo.control}/inbox`);
    await row('WWWW').click();
    await title().waitFor();
    await expect.poll(() => widthOf(page)).toBeLessThanOrEqual(360);
    await spread(page);
    await expect.poll(() => widthOf(page)).toBeLessThanOrEqual(360);
    // Letters stay apart until a page is loaded.
    await page.goto(`${demo.control}/deliveries?workspace=lab`);
    await row('duplicate').click();
    await title().waitFor();
    await spread(page);
    await expect.poll(() => widthOf(page)).toBeLessThanOrEqual(360);
    await expectAccessible(page, 'narrow');
    await page.setViewportSize({ width: 1280, height: 800 });
  });

  it('shows the sign-in, the reference of the API and what is not there on 320 pixels, and to everybody', async () => {
    guard.allowStatus(401, 404);
    for (const [path, words] of [
      ['/sign-in', 'Sign in to Carillon'],
      ['/docs/api', 'Carillon management API'],
      ['/nowhere', 'No page at this address'],
    ] as const) {
      await page.setViewportSize({ width: 320, height: 640 });
      await page.goto(`${demo.control}${path}`);
      await page.getByRole('heading', { name: words }).waitFor();
      // The reference has the words of every operation: screens.proof.test.ts holds it to all rules.
      if (path !== '/docs/api') await expectAccessible(page, path);
      await expectToFit(page, 320);
    }
  });

  it('reloads the page once if one of its files is gone from the server, and then shows an error', async () => {
    guard.allowStatus(404);
    guard.allowWords(/dynamically imported module|preload CSS/i);
    const tab = await openPage(signedIn);
    await tab.route(/\/assets\/keys-help-/, (route) => route.fulfill({ status: 404, body: '' }));
    await tab.goto(`${demo.control}/workspaces/lab/deliveries`);
    await tab.locator('main [data-key]').first().waitFor();
    const reloaded = tab.waitForEvent('load');
    await tab.keyboard.press('?');
    await reloaded;
    await tab.locator('main [data-key]').first().waitFor();
    await tab.keyboard.press('?');
    await tab.getByText('This part of the page could not be loaded.').waitFor();
    // What stands around it is still there.
    expect(await tab.locator('main [data-key]').count()).toBeGreaterThan(0);
    await tab.unroute(/\/assets\/keys-help-/);
    await tab.getByRole('button', { name: 'Reload the page' }).click();
    await tab.locator('main [data-key]').first().waitFor();
    await tab.keyboard.press('?');
    await tab.getByRole('heading', { name: 'Keyboard shortcuts' }).waitFor();
    await tab.close();
  });

  it('signs out: the sign-in stands where the pages were', async () => {
    guard.allowStatus(401);
    const guest = await browser.newContext();
    await guest.request.post(`${demo.control}/v1/session`, { data: { word: demo.ownerToken } });
    const tab = await openPage(guest);
    await tab.goto(`${demo.control}/deliveries`);
    await tab.locator('main [data-key]').first().waitFor();
    await tab.getByRole('button', { name: 'Appearance, shortcuts and sign out' }).click();
    await tab.getByRole('menuitem', { name: 'Sign out' }).click();
    await tab.waitForURL(`${demo.control}/sign-in`);
    await tab.goto(`${demo.control}/inbox`);
    await tab.getByRole('heading', { name: 'Sign in to Carillon' }).waitFor();
    expect((await guest.cookies()).filter(({ name }) => name.startsWith('carillon_session'))).toEqual([]);
    await guest.close();
  });
});
