import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { describeWith } from '../../support/requirements.ts';
import { expectAccessible, expectToFit, picture } from './accessible.ts';
import { guardPages } from './guard.ts';
import { openMember } from './member.ts';
import { openBrowser, startDemo, type Demo } from './support.ts';

describeWith('chromium', 'whom nothing is sent to, in a browser', () => {
  let demo: Demo;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  const guard = guardPages(() => [demo.control]);
  const rows = (on = page) => on.locator('main [data-key]');
  const dialog = () => page.getByRole('dialog');
  const button = (name: string | RegExp) => page.getByRole('button', { name });

  beforeAll(async () => {
    [demo, browser] = await Promise.all([startDemo(), openBrowser()]);
    context = await browser.newContext({ viewport: { width: 1440, height: 900 }, locale: 'de-DE' });
    await context.request.post(`${demo.control}/v1/session`, { data: { word: demo.ownerToken } });
  });
  beforeEach(async () => {
    await page?.close();
    page = await guard.openPage(context);
  });
  afterAll(async () => {
    await browser?.close();
    await demo?.stop();
  });

  it('leaves an address out by hand, says what is wrong with one, finds it in any form, and takes it back', async () => {
    await page.goto(`${demo.control}/workspaces/shop`);
    await page.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name: 'Suppressions' }).click();
    await page.getByText('Nobody is left out').waitFor();
    await expectAccessible(page, 'no suppression');
    await expectToFit(page, 390, 320);
    await button('Add an address').first().click();
    guard.allowStatus(400);
    await dialog().getByLabel('Address', { exact: true }).fill('nonsense');
    await dialog().getByLabel('Why').fill('asked by phone');
    await page.keyboard.press('Enter');
    await dialog()
      .getByText(/email address/)
      .first()
      .waitFor();
    await expectAccessible(page, 'a wrong address');
    await picture(page, 'add-suppression');
    await dialog().getByLabel('Address', { exact: true }).fill('Bob@Example.com');
    await dialog().getByRole('button', { name: 'Add the address' }).click();
    await page.getByText('Nothing is sent to Bob@Example.com any more.').waitFor();
    await expect.poll(() => rows().count()).toBe(1);
    await page.getByRole('searchbox').fill('BOB@example.COM');
    await page.keyboard.press('Enter');
    await page.waitForURL(/address=BOB/);
    await expect.poll(() => rows().count()).toBe(1);
    await page.getByRole('searchbox').fill('eve@example.com');
    await page.keyboard.press('Enter');
    await page.getByText('No address fits this filter').waitFor();
    await button('Clear the filter').click();
    // By the keyboard: to the row, into it, and back.
    await rows().first().focus();
    await page.keyboard.press('Enter');
    const panel = page.getByRole('region', { name: 'Suppression' });
    await panel.getByText('asked by phone').waitFor();
    await expectAccessible(page, 'a suppression');
    await picture(page, 'suppression');
    await expectToFit(page, 390);
    await page.setViewportSize({ width: 1440, height: 900 });
    await button('Take it back…').click();
    await dialog().getByText('Nothing else holds this address back').waitFor();
    await expectAccessible(page, 'taking back');
    await dialog()
      .getByRole('button', { name: /Take back/ })
      .click();
    await page.getByText('Messages go out to bob@example.com again.').waitFor();
    await page.getByText('Nobody is left out').waitFor();
    // The notice does not go from under the focus, and takes back what it tells of.
    const undo = page.getByRole('status').getByRole('button', { name: 'Undo' });
    await undo.last().focus();
    await page.keyboard.press('Enter');
    await page.getByText('Taken back.').waitFor();
    await expect.poll(() => rows().count()).toBe(1);
    await page.getByRole('checkbox', { name: /^Choose / }).check();
    await button('Take back…').click();
    await dialog().getByText('Messages go out to 1 address again').waitFor();
    await expectAccessible(page, 'taking back what is chosen');
    await dialog().getByRole('button', { name: 'Take back 1' }).click();
    await page.getByText('Taken back: 1 entry of 1 address.').waitFor();
    await page.getByText('Nobody is left out').waitFor();
  });

  it('takes a file in, names each refused line, and says which source still holds', async () => {
    await page.goto(`${demo.control}/workspaces/shop/suppressions`);
    await button('Import…').click();
    await page.getByLabel('CSV file in UTF-8').setInputFiles({
      name: 'left.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from('address,channel\nada@example.com,email\nno phone,sms\n'),
    });
    await button('Take it in').click();
    await page.getByText('2 rows: 1 taken, 1 of them new, 1 refused.').waitFor();
    await page.getByText(/^Line 3: address/).waitFor();
    await expectAccessible(page, 'an import');
    await picture(page, 'import');
    await dialog().getByRole('button', { name: 'Close' }).click();
    await demo.ask('/v1/workspaces/shop/suppressions', { channel: 'email', address: 'ada@example.com' });
    await page.reload();
    await expect.poll(() => rows().count()).toBe(2);
    await rows().filter({ hasText: 'Import' }).click();
    await page.getByText('Said too by').waitFor();
    await button('Take it back…').click();
    await dialog().getByText('It stays held back by Operator.').waitFor();
    await dialog()
      .getByRole('button', { name: /Take back/ })
      .click();
    await page.getByText('Taken back. Still held by: Operator.').waitFor();
    await expect.poll(() => rows().count()).toBe(1);
  });

  it('opts somebody out of one thing, and back in, each with who said it', async () => {
    await page.goto(`${demo.control}/workspaces/shop`);
    await page.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name: 'Opt-outs' }).click();
    await page.getByText('Nobody has opted out').waitFor();
    await expectAccessible(page, 'no opt-out');
    await expectToFit(page, 390, 320);
    await button('Opt somebody out').first().click();
    await page.getByLabel('Person', { exact: true }).fill('cleo@example.com');
    await page.getByLabel('What they want no more').selectOption('notification');
    await page.getByLabel('Name of the notification').fill('nothing-like-it');
    guard.allowStatus(400);
    await dialog().getByRole('button', { name: 'Opt them out' }).click();
    await dialog()
      .getByText(/nothing-like-it/)
      .first()
      .waitFor();
    await expectAccessible(page, 'a wrong notification');
    await page.getByLabel('What they want no more').selectOption('all');
    await page.getByLabel('By', { exact: true }).selectOption('email');
    await picture(page, 'opt-out-new');
    await dialog().getByRole('button', { name: 'Opt them out' }).click();
    await page.getByText('cleo@example.com is opted out.').waitFor();
    await rows().first().click();
    const panel = page.getByRole('region', { name: 'Opt-outs of one person' });
    await panel.getByText('everything by email').waitFor();
    await panel.getByText(/Said by the API or the portal, for them by you/).waitFor();
    await expectAccessible(page, 'an opt-out');
    await picture(page, 'opt-out');
    await panel.getByRole('button', { name: 'They want it again' }).click();
    await panel.getByText('Wants again').waitFor();
    await expect.poll(() => rows().first().textContent()).toContain('Back again');
    await page.getByRole('searchbox').fill('nobody@example.com');
    await page.keyboard.press('Enter');
    await page.getByText('nobody@example.com never said anything').waitFor();
  });

  it('undoes an opt-out alone: what was said before stays, and is not said again', async () => {
    const said = { person: 'dora@example.com', target: 'all', opted_out: true };
    await demo.ask('/v1/workspaces/shop/consents', { ...said, channel: 'sms' });
    await demo.ask('/v1/workspaces/shop/consents', { ...said, person: 'eve@example.com' });
    await page.goto(`${demo.control}/workspaces/shop/opt-outs`);
    const undo = page.getByRole('status').getByRole('button', { name: 'Undo' });
    const optOut = async (person: string): Promise<void> => {
      await button('Opt somebody out').first().click();
      await page.getByLabel('Person', { exact: true }).fill(person);
      await dialog().getByRole('button', { name: 'Opt them out' }).click();
    };
    await optOut('eve@example.com');
    await page.getByText('eve@example.com was opted out already.').waitFor();
    expect(await undo.count()).toBe(0);
    await optOut(said.person);
    await page.getByText('dora@example.com is opted out.').waitFor();
    await undo.click();
    await page.getByText('Taken back.').waitFor();
    const { words } = await demo.ask<{ words: { channel: string | null; opted_out: boolean }[] }>(
      `/v1/workspaces/shop/consents/person?person=${said.person}`,
    );
    expect(words.filter((word) => word.opted_out)).toMatchObject([{ channel: 'sms' }]);
  });

  it('takes back what chosen people opted out of, in all workspaces, with their number first and a way back', async () => {
    await page.goto(`${demo.control}/workspaces/-/opt-outs`);
    const outs = () => rows().filter({ hasText: 'Opted out' });
    await expect.poll(() => outs().count()).toBe(2);
    for (const one of await page.getByRole('checkbox', { name: /^Choose Opted out/ }).all()) await one.check();
    await button('They want it again…').click();
    await dialog().getByText('2 people: all that they opted out of').waitFor();
    await expectAccessible(page, 'taking back chosen opt-outs');
    await dialog().getByRole('button', { name: 'Send to 2 people again' }).click();
    await page.getByText('It comes to 2 people again.').waitFor();
    await expect.poll(() => outs().count()).toBe(0);
    await page.getByRole('status').getByRole('button', { name: 'Undo' }).last().click();
    await page.getByText('Taken back.').waitFor();
    await expect.poll(() => outs().count()).toBe(2);
  });

  it('takes them back in every workspace that takes it, says why another did not, and has a way back from each', async () => {
    await demo.makeKey('care', 'backend');
    const dora = { person: 'dora@example.com', target: 'all', opted_out: true };
    await demo.ask('/v1/workspaces/care/consents', dora);
    await page.goto(`${demo.control}/workspaces/-/opt-outs`);
    const outs = () => rows().filter({ hasText: 'Opted out' });
    await expect.poll(() => outs().count()).toBe(3);
    for (const one of await page.getByRole('checkbox', { name: /^Choose Opted out/ }).all()) await one.check();
    await button('They want it again…').click();
    await dialog()
      .getByText(/(2 people in shop, 1 person in care|1 person in care, 2 people in shop): all that they opted out of/)
      .waitFor();
    guard.allowStatus(503);
    const path = '**/v1/workspaces/care/consents/allow-many';
    await page.route(path, (route) =>
      route.fulfill({
        status: 503,
        contentType: 'application/problem+json',
        body: JSON.stringify({ status: 503, code: 'store_unavailable', title: 'x', detail: 'The store is busy.' }),
      }),
    );
    await dialog()
      .getByRole('button', { name: /^Send to .* again$/ })
      .click();
    await page.getByText('It comes to 2 people in shop again.').waitFor();
    await dialog().getByText('Done: 2 people in shop.').waitFor();
    await dialog().getByText('It was not done, or not for all, in care: The store is busy.').waitFor();
    await expectAccessible(page, 'one workspace that refuses');
    await picture(page, 'opt-outs-refused');
    await page.unroute(path);
    await dialog().getByRole('button', { name: 'Try again in care' }).click();
    await page.getByText('It comes to 1 person in care again.').waitFor();
    await expect.poll(() => outs().count()).toBe(0);
    // The newest first, each for what it tells of.
    const undo = page.getByRole('status').getByRole('button', { name: 'Undo' });
    await undo.last().click();
    await expect.poll(() => outs().count()).toBe(1);
    await undo.first().click();
    await expect.poll(() => outs().count()).toBe(3);
  });

  it('says what went wrong and asks again, and tells a viewer which role sees addresses', async () => {
    guard.allowStatus(500);
    for (const [screen, path] of [
      ['suppressions', 'suppressions'],
      ['opt-outs', 'consents'],
    ]) {
      const url = `**/v1/workspaces/shop/${path}?**`;
      await page.route(url, (route) =>
        route.fulfill({
          status: 500,
          contentType: 'application/problem+json',
          body: JSON.stringify({
            status: 500,
            code: 'internal',
            title: 'x',
            detail: 'The store is busy.',
            request_id: 'req_1',
          }),
        }),
      );
      await page.goto(`${demo.control}/workspaces/shop/${screen}`);
      await page.getByText('The store is busy.').waitFor();
      await page.getByText('name the request req_1').waitFor();
      await expectAccessible(page, `${screen}, failed`);
      await page.unroute(url);
      await button('Try again').click();
      await page.getByText('The store is busy.').waitFor({ state: 'detached' });
    }
    const viewer = await openMember(demo, browser, { workspace: 'shop', role: 'viewer' });
    const seen = await guard.openPage(viewer);
    for (const screen of ['suppressions', 'opt-outs', 'deliveries/receipts']) {
      await seen.goto(`${demo.control}/workspaces/shop/${screen}`);
      await seen.getByText(/You do not see the (addresses|people|receipts)/).waitFor();
      await seen.getByText(/Your role does not allow this: an owner, editor or operator/).waitFor();
      await expectAccessible(seen, `${screen}, of a viewer`);
    }
    await viewer.close();
    const editor = await openMember(demo, browser, { workspace: 'shop', role: 'editor' });
    const edits = await guard.openPage(editor);
    await edits.goto(`${demo.control}/workspaces/shop/suppressions`);
    await rows(edits).first().click();
    const off = edits.getByRole('button', { name: 'Take it back…' });
    await expect.poll(() => off.getAttribute('aria-disabled')).toBe('true');
    await expectAccessible(edits, 'suppressions of an editor');
    await editor.close();
  });
});
