import type { DeadLetterRow, NewRecord } from '@carillon/ports';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { openShop, restartOver, type Shop } from '../../integration/product/shop.ts';
import { describeWith } from '../../support/requirements.ts';
import { expectAccessible, expectToFit, picture } from './accessible.ts';
import { letterRow, receiptRow } from './aside-rows.ts';
import { guardPages } from './guard.ts';
import { openMember } from './member.ts';
import { openBrowser } from './support.ts';

const LETTERS = 14;
/** Those whose bytes are not on the log any more. */
const LOST = 1;
/** They are dead letters too, of a stage of their own. */
const RECEIPTS = 2;
const torn = (at: number): NewRecord => ({
  topic: 'carillon.events',
  partition: 0,
  key: `torn-${at}`,
  value: new TextEncoder().encode('{"order_id": "torn'),
  headers: { kind: 'event', enc: '0', workspace: 'shop', stream: 'shop/orders', event_id: `evt_TORN${at}` },
});
const receipt = (at: number): DeadLetterRow =>
  receiptRow(
    { workspace: 'shop', at, reason: 'unknown_receipt: no attempt of ours went over this account with that token' },
    { account: 'shop/mail', code: '5.1.1', detail: `no such user ${at}`, address: null },
  );
const lost = letterRow({ workspace: 'shop', at: 3, reason: 'rule_error: its bytes have left the log' });

describeWith('chromium', 'what waits for an operator, in a browser', () => {
  let shop: Shop & { close(): Promise<void> };
  let control = '';
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  const guard = guardPages(() => [control]);
  const rows = (on = page) => on.locator('main [data-key]');
  const button = (name: string | RegExp) => page.getByRole('button', { name });

  beforeAll(async () => {
    const [opened, launched] = await Promise.all([openShop(), openBrowser()]);
    browser = launched;
    shop = await restartOver(opened, async ({ log, readModels }) => {
      await log.append(Array.from({ length: LETTERS }, (_, at) => torn(at)));
      await readModels.put({ deadLetters: [receipt(1), receipt(2), lost] });
    });
    control = shop.product.controlUrl;
    context = await browser.newContext({ viewport: { width: 1440, height: 900 }, locale: 'de-DE' });
    await context.request.post(`${control}/v1/session`, { data: { word: shop.product.token } });
  });
  beforeEach(async () => {
    await page?.close();
    page = await guard.openPage(context);
  });
  afterAll(async () => {
    await browser?.close();
    await shop?.close();
  });

  it('lists dead letters live, and redrives one by the keyboard', async () => {
    await page.goto(`${control}/workspaces/shop/deliveries`);
    await page.getByRole('navigation', { name: 'Lists' }).getByRole('link', { name: 'Dead letters' }).click();
    await expect.poll(() => rows().count(), { timeout: 30_000 }).toBe(LETTERS + RECEIPTS + LOST);
    await picture(page, 'dead-letters');
    await expectAccessible(page, 'dead letters');
    await rows().filter({ hasText: 'invalid_json' }).first().focus();
    await page.keyboard.press('Enter');
    const panel = page.getByRole('region', { name: 'Dead letter' });
    await panel.getByText('invalid_json').first().waitFor();
    await expectAccessible(page, 'a dead letter');
    await picture(page, 'dead-letter');
    await expectToFit(page, 390);
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.keyboard.press('R');
    await panel.getByText('Nobody is notified twice of the same.').waitFor();
    await page.keyboard.press('Enter');
    await page.getByText('The record is processed again.').waitFor();
    // It cannot be read this time either: it stands here once more, as a letter of its own.
    await panel.getByText('Redriven', { exact: true }).waitFor();
  });

  it('redrives all that are open as a job, with their number first', async () => {
    await page.goto(`${control}/workspaces/shop/deliveries/dead-letters?redriven=false`);
    await rows().first().waitFor();
    const counted = '/v1/workspaces/shop/dead-letters/count';
    const { count, receipts } = (await shop.api<{ count: number; receipts: number }>('GET', counted)).body;
    expect(receipts).toBe(RECEIPTS);
    await button('Redrive all that are open…').click();
    await page.getByText(`${count} records that nobody has redriven or dismissed`).waitFor();
    await page.getByText(`${RECEIPTS} parked receipts are left out`).waitFor();
    await expectAccessible(page, 'the question');
    await picture(page, 'redrive-all');
    await button(`Redrive ${count} records`).click();
    const done = count - LOST;
    await page.getByText(`Done: ${done} of ${count}, ${LOST} could not be.`).waitFor();
    await page
      .getByRole('list', { name: 'What could not be done' })
      .getByText('its bytes have left the log')
      .first()
      .waitFor();
    await expectAccessible(page, 'the end');
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
    const { items } = (await shop.api<{ items: { action: string; done: number }[] }>('GET', '/v1/workspaces/shop/jobs'))
      .body;
    expect(items[0]).toMatchObject({ action: 'redrive_dead_letters', done });
  });

  it('redrives the dead letters that were chosen, and no other', async () => {
    await page.goto(`${control}/workspaces/shop/deliveries/dead-letters?redriven=true`);
    await rows().nth(1).waitFor();
    await rows().first().focus();
    await page.keyboard.press('x');
    await page.keyboard.press('j');
    await page.locator('main li[aria-posinset="2"] [data-key]:focus').waitFor();
    await page.keyboard.press('X');
    await page.getByRole('region', { name: 'Chosen rows' }).getByText('2 chosen').waitFor();
    await page.keyboard.press('R');
    await page.getByRole('dialog').getByText('2 records. Whom they tell is known once they are processed').waitFor();
    await expectAccessible(page, 'the question about chosen letters');
    await button('Redrive 2 records').click();
    await page.getByText('Done: 2 of 2.').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
    await page.getByRole('region', { name: 'Chosen rows' }).waitFor({ state: 'detached' });
    // Not at the top of the page: its button went with the bar.
    await page.locator('main [data-key]:focus').waitFor();
  });

  it('forgets what was chosen as soon as another list is shown', async () => {
    const show = async (name: string): Promise<void> => {
      await button(/^Shown:/).click();
      await page.getByRole('menuitemradio', { name, exact: true }).click();
      await button(`Shown: ${name}`).waitFor();
    };
    const bar = page.getByRole('region', { name: 'Chosen rows' });
    await page.goto(`${control}/workspaces/shop/deliveries/dead-letters`);
    await rows().first().waitFor();
    await rows().first().focus();
    await page.keyboard.press('x');
    await bar.getByText('1 chosen').waitFor();
    await show('Not redriven');
    await bar.waitFor({ state: 'detached' });
    await show('All of them');
    await rows().first().waitFor();
    expect(await bar.count()).toBe(0);
  });

  it('shows receipts that nobody could place, and dismisses one', async () => {
    await page.goto(`${control}/workspaces/shop/deliveries`);
    await page.getByRole('navigation', { name: 'Lists' }).getByRole('link', { name: 'Receipts' }).click();
    await expect.poll(() => rows().count()).toBe(2);
    await expectAccessible(page, 'receipts');
    await rows().filter({ hasText: 'no such user 1' }).focus();
    await page.keyboard.press('Enter');
    const panel = page.getByRole('region', { name: 'Receipt' });
    await panel.getByText('shop/mail').waitFor();
    await expectAccessible(page, 'a receipt');
    await picture(page, 'receipt');
    await expectToFit(page, 390);
    await page.setViewportSize({ width: 1440, height: 900 });
    await panel.getByRole('button', { name: 'Dismiss' }).click();
    await page.getByText('Dismissed. It moves no delivery.').waitFor();
    await expect.poll(() => rows().count()).toBe(1);
    await expectAccessible(page, 'a notice with its way back');
    // The way back is a call of its own, and is reached by a key.
    await page.keyboard.press('z');
    await page.getByText('Taken back.').waitFor();
    await expect.poll(() => rows().count()).toBe(2);
    await panel.getByRole('button', { name: 'Dismiss' }).click();
    await page.getByText('Dismissed. It moves no delivery.').waitFor();
    await expect.poll(() => rows().count()).toBe(1);
    await panel
      .getByText(/Dismissed/)
      .first()
      .waitFor();
    await button(/^Shown:/).click();
    await page.getByRole('menuitemradio', { name: 'Dismissed', exact: true }).click();
    await page.waitForURL(/parked=false/);
    await expect.poll(() => rows().first().textContent()).toContain('no such user 1');
    // The one that waits still, by its box.
    await page.goto(`${control}/workspaces/shop/deliveries/receipts`);
    await expect.poll(() => rows().count()).toBe(1);
    await page.getByRole('checkbox', { name: /^Choose / }).check();
    await button('Dismiss…').click();
    await page.getByRole('dialog').getByText('1 receipt: nothing is to be done about them.').waitFor();
    await expectAccessible(page, 'the question about chosen receipts');
    await button('Dismiss 1 receipt').click();
    await page.getByText('Done: 1 of 1.').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
    await page.getByRole('heading', { name: 'None', exact: true }).waitFor();
  });

  it('has a word for each queue that is empty, for a failure, and for whoever may only look', async () => {
    await shop.apply({ 'workspaces/quiet/workspace.yaml': 'name: Quiet\n' });
    for (const [tab, empty] of [
      ['in-doubt', 'Nothing is in doubt'],
      ['dead-letters', 'None'],
      ['receipts', 'None'],
    ] as const) {
      await page.goto(`${control}/workspaces/quiet/deliveries/${tab}`);
      await page.getByRole('heading', { name: empty, exact: true }).waitFor();
      await expectAccessible(page, `${tab}, empty`);
      await expectToFit(page, 390, 320);
    }
    guard.allowStatus(500);
    for (const path of ['dead-letters', 'receipts']) {
      const url = `**/v1/workspaces/quiet/${path}?**`;
      const body = { status: 500, code: 'internal', title: 'x', detail: 'The store is busy.', request_id: 'req_1' };
      await page.route(url, (route) =>
        route.fulfill({ status: 500, contentType: 'application/problem+json', body: JSON.stringify(body) }),
      );
      await page.goto(`${control}/workspaces/quiet/deliveries/${path}`);
      await page.getByText('The store is busy.').first().waitFor();
      await expectAccessible(page, `${path}, failed`);
      await page.unroute(url);
      await button('Try again').click();
      await page.getByText('The store is busy.').waitFor({ state: 'detached' });
    }
    const ask = async <T>(path: string, body?: object): Promise<T> =>
      (await shop.api<T>(body ? 'POST' : 'GET', path, body)).body;
    const viewer = await openMember({ ask, control }, browser, { workspace: 'shop', role: 'viewer' });
    const seen = await guard.openPage(viewer);
    await seen.goto(`${control}/workspaces/shop/deliveries/dead-letters`);
    await rows(seen).first().click();
    for (const name of ['Redrive', 'Redrive all that are open…']) {
      const off = seen.getByRole('button', { name, exact: true });
      await expect.poll(() => off.getAttribute('aria-disabled')).toBe('true');
    }
    await expectAccessible(seen, 'dead letters of a viewer');
    await viewer.close();
  });
});
