import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { describeWith } from '../../support/requirements.ts';
import { expectAccessible, picture } from './accessible.ts';
import { guardPages } from './guard.ts';
import { openLab, startTrap, type Lab, type Trap } from './lab.ts';
import { openBrowser, startDemo, type Demo } from './support.ts';

const FIRST = 30;
/** A page that nobody looks at for so long gives its connection back. */
const HIDDEN_FOR = 10_000;
const LISTED = /\/v1\/workspaces\/lab\/deliveries\?/;

describeWith('chromium', 'lists that tell what changes, in a browser', () => {
  let demo: Demo;
  let trap: Trap;
  let lab: Lab;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let sent = 0;
  const guard = guardPages(() => [demo.control]);
  const rows = () => page.locator('main [data-key]');
  const fresh = () => page.getByRole('button', { name: /^\d+\+? new$/ });
  const send = async (kind = 'once'): Promise<string> => {
    sent += 1;
    const email = `reader-${String(sent).padStart(3, '0')}@example.com`;
    await demo.send('lab/orders', lab.key, { kind, email, subject: `${sent}`, name: 'Ada' });
    return email;
  };
  const asked = (): (() => number) => {
    let count = 0;
    page.on('request', (request) => {
      if (LISTED.test(request.url())) count += 1;
    });
    return () => count;
  };
  const untilLive = () => page.waitForResponse((answer) => answer.url().includes('/live?') && answer.ok());

  beforeAll(async () => {
    [demo, trap, browser] = await Promise.all([startDemo(), startTrap(), openBrowser()]);
    lab = await openLab(demo, trap);
    for (let at = 0; at < FIRST; at += 1) await send();
    context = await browser.newContext({ viewport: { width: 1440, height: 700 }, locale: 'de-DE' });
    await context.request.post(`${demo.control}/v1/session`, { data: { word: demo.ownerToken } });
  });
  beforeEach(async () => {
    await page?.close();
    page = await guard.openPage(context);
  });
  afterAll(async () => {
    await browser?.close();
    await lab?.stop();
    await trap?.stop();
    await demo?.stop();
  });

  it('shows a new delivery and what becomes of it by the stream, and asks for nothing while nothing happens', async () => {
    await page.clock.install();
    const [, live] = await Promise.all([page.goto(`${demo.control}/workspaces/lab/deliveries`), untilLive()]);
    expect(live.headers()['content-type']).toContain('text/event-stream');
    await rows().first().waitFor();
    const email = await send();
    await expect.poll(() => rows().first().textContent()).toMatch(new RegExp(`Sent.*${email}`));
    // Once the answers to what just happened are in, the list is left alone for far longer than it was asked for before.
    const count = asked();
    /** How often the list was asked for while the page's clock went on; the server has answered all of it. */
    const askedIn = async (span: number): Promise<number> => {
      const before = count();
      await page.clock.runFor(span);
      await page.evaluate(`fetch('/v1/me').then((answer) => answer.text())`);
      return count() - before;
    };
    let quiet = 0;
    await expect.poll(async () => (quiet = (await askedIn(2_000)) === 0 ? quiet + 1 : 0)).toBe(3);
    expect(await askedIn(20_000)).toBe(0);
  });

  it('moves no row under the pointer or under the focus of a keyboard: new ones wait and are counted', async () => {
    await Promise.all([page.goto(`${demo.control}/workspaces/lab/deliveries`), untilLive()]);
    await rows().first().waitFor();
    const third = (await rows().nth(2).textContent())!;
    const box = (await rows().nth(2).boundingBox())!;
    await page.mouse.move(box.x + 300, box.y + 10);
    const [one, two] = [await send(), await send()];
    await fresh().waitFor();
    await expect.poll(() => fresh().textContent()).toBe('2 new');
    expect(await rows().nth(2).textContent()).toContain(third.match(/reader-\d+/)![0]);
    expect((await rows().nth(2).boundingBox())!.y).toBe(box.y);
    await expectAccessible(page, 'new rows that wait');
    await picture(page, 'waiting');
    // By the keyboard they are taken in, and the focus goes to the newest.
    await fresh().focus();
    await page.keyboard.press('Enter');
    await expect.poll(() => rows().first().textContent()).toContain(two);
    expect(await rows().nth(1).textContent()).toContain(one);
    await expect.poll(() => page.evaluate<string>('document.activeElement.textContent')).toContain(two);
    // The focus stays there: the next one waits again, and comes once it has gone elsewhere.
    await page.mouse.move(5, 5);
    const three = await send();
    await fresh().waitFor();
    expect(await rows().first().textContent()).toContain(two);
    await page.getByRole('searchbox').focus();
    await expect.poll(() => rows().first().textContent()).toContain(three);
    expect(await fresh().count()).toBe(0);
  });

  it('says what becomes of a row that is far down, which the newest page has no more', async () => {
    const email = await send('doubt');
    const path = `/v1/workspaces/lab/deliveries?recipient=${encodeURIComponent(email)}`;
    let id = '';
    await expect
      .poll(
        async () => {
          const { items } = await demo.ask<{ items: { id: string; state: string }[] }>(path);
          id = items[0]?.id ?? '';
          return items[0]?.state;
        },
        { timeout: 30_000 },
      )
      .toBe('IN_DOUBT');
    for (let at = 0; at < 60; at += 1) await send();
    await Promise.all([page.goto(`${demo.control}/workspaces/lab/deliveries`), untilLive()]);
    await rows().first().waitFor();
    // Its page is asked for on the way down.
    await expect
      .poll(
        async () => {
          await page.evaluate('document.querySelector("main ol").parentElement.scrollTop += 1000');
          return page.locator(`[data-key="${id}"]`).count();
        },
        { timeout: 60_000, interval: 300 },
      )
      .toBe(1);
    const row = page.locator(`[data-key="${id}"]`);
    await row.scrollIntoViewIfNeeded();
    expect(await row.textContent()).toContain('In doubt');
    await demo.ask(`/v1/workspaces/lab/deliveries/${id}/dismiss`, { as: 'sent', reason: 'its log' });
    await expect.poll(() => row.textContent()).toContain('Sent');
  });

  it('keeps a list up to date while the stream is refused, says so, and goes on once it is back', async () => {
    guard.allowStatus(503);
    await page.route('**/live?**', (route) =>
      route.fulfill({ status: 503, headers: { 'retry-after': '3' }, body: '{}' }),
    );
    await page.goto(`${demo.control}/workspaces/lab/deliveries`);
    await page.getByText('Changes are not told as they come').waitFor();
    await page.getByText(/Tried again in \d s/).waitFor();
    await expectAccessible(page, 'a lost stream');
    await picture(page, 'lost');
    const email = await send();
    await expect.poll(() => rows().first().textContent(), { timeout: 60_000 }).toContain(email);
    await page.unroute('**/live?**');
    await untilLive();
    await page.getByText('Changes are not told as they come').waitFor({ state: 'detached' });
    const next = await send();
    await expect.poll(() => rows().first().textContent()).toContain(next);
  });

  it('gives its connection back while nobody looks, and then goes on after the place where it was', async () => {
    await page.clock.install();
    await Promise.all([page.goto(`${demo.control}/workspaces/lab/deliveries`), untilLive()]);
    await rows().first().waitFor();
    const email = await send();
    await expect.poll(() => rows().first().textContent()).toContain(email);
    const show = (state: string): Promise<unknown> =>
      page.evaluate(`{
        Object.defineProperty(document, 'visibilityState', { get: () => '${state}', configurable: true });
        document.dispatchEvent(new Event('visibilitychange'));
      }`);
    const closed = page.waitForEvent('requestfailed', (request) => request.url().includes('/live?'));
    await show('hidden');
    await page.clock.runFor(HIDDEN_FOR);
    await closed;
    const missed = await send();
    const again = page.waitForRequest((request) => request.url().includes('/live?'));
    await show('visible');
    expect((await again).headers()['last-event-id']).toBeTruthy();
    await expect.poll(() => rows().first().textContent(), { timeout: 60_000 }).toContain(missed);
  });

  it('brings events and the overview up to date by the same stream', async () => {
    await Promise.all([page.goto(`${demo.control}/workspaces/lab`), untilLive()]);
    const lead = page.getByText(/[\d,.]+ messages? in 24 hours|messages today/).first();
    await lead.waitFor();
    const before = await lead.textContent();
    await send();
    await expect.poll(() => lead.textContent(), { timeout: 60_000 }).not.toBe(before);
    await Promise.all([page.goto(`${demo.control}/workspaces/lab/events`), untilLive()]);
    await rows().first().waitFor();
    const newest = await rows().first().getAttribute('data-key');
    await send();
    await expect.poll(() => rows().first().getAttribute('data-key')).not.toBe(newest);
  });
});
