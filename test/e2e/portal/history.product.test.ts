import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../../support/requirements.ts';
import { expectAccessible, expectToFit, picture } from './accessible.ts';
import { guardPages } from './guard.ts';
import { openMember } from './member.ts';
import { openBrowser, startDemo, type Demo } from './support.ts';

const AT = 'workspaces/shop';
const template = (subject: string): string => `subject: "${subject}"\nfrom: shop@example.com\n`;

describeWith('chromium', 'the history of a workspace in the portal', () => {
  let demo: Demo;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  const guard = guardPages(() => (demo ? [demo.control] : []));

  const main = () => page.locator('main');
  const dialog = () => page.getByRole('dialog').last();
  const go = (path: string) => page.goto(`${demo.control}${path}`);
  const subject = async () =>
    (await demo.ask<{ body: { email: { subject: string } } }>('/v1/workspaces/shop/templates/hello')).body.email
      .subject;

  const applyTemplate = (words: string) =>
    demo.apply({
      [`${AT}/templates/hello/email.yaml`]: template(words),
      [`${AT}/templates/hello/email.txt`]: 'Hello\n',
    });

  beforeAll(async () => {
    [demo, browser] = await Promise.all([startDemo(), openBrowser()]);
    for (const words of ['Hello', 'Good day']) await applyTemplate(words);
    context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
    await context.request.post(`${demo.control}/v1/session`, { data: { word: demo.ownerToken } });
    page = await guard.openPage(context);
    page.setDefaultTimeout(30_000);
  });
  afterAll(async () => {
    await browser?.close();
    await demo?.stop();
  });

  it('leads from the start page to everything that was published, with who, how and what changed in words', async () => {
    await go('/');
    await page.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name: 'Versions' }).click();
    const rows = main().getByRole('list', { name: 'Versions, newest first' });
    await rows.getByRole('heading', { name: 'Template hello changed' }).waitFor();
    await rows.getByText('by apply').first().waitFor();
    await expectAccessible(page, 'the list of versions');
    await picture(page, 'versions');
    await rows
      .getByRole('button', { name: /^Show changes/ })
      .first()
      .click();
    await rows.getByText('− Hello').waitFor();
    await rows.getByText('+ Good day').waitFor();
    // A pasted link shows a colleague the same.
    await page.reload();
    await rows.getByText('+ Good day').waitFor();
    await expectAccessible(page, 'a version');
    await picture(page, 'version');
    await expectToFit(page, 390);
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.locator('h1').click();
    await page.keyboard.press('[');
    await rows.getByRole('button', { name: 'Roll back to this' }).waitFor();
    await page.keyboard.press(']');
    await rows.getByText('+ Good day').waitFor();
  });

  it('takes one change back after saying what that does, and tells who was faster', async () => {
    await main().getByRole('button', { name: 'Roll back to before this' }).click();
    await dialog().getByText('+ Hello').waitFor();
    await dialog().getByText('As YAML').click();
    const file = dialog().getByRole('group', { name: /^workspaces.*email.yaml$/ });
    expect(await file.textContent()).toContain('subject: Hello');
    await expectAccessible(page, 'the rollback');
    await picture(page, 'rollback');
    // Somebody else changes it while the dialog is open: what they did is not lost.
    await applyTemplate('Hi');
    guard.allowStatus(412);
    await dialog().getByRole('button', { name: 'Publish as it was' }).click();
    await dialog().getByRole('alert').waitFor();
    expect(await subject()).toBe('Hi');
    await dialog().getByRole('button', { name: 'Cancel' }).click();
    await main().getByRole('button', { name: 'Roll back to before this' }).click();
    await dialog().getByText('− Hi').waitFor();
    await dialog().getByLabel('Why').fill('The old words were better');
    await dialog().getByRole('button', { name: 'Publish as it was' }).click();
    await page.getByText(/Published as configuration \d+/).waitFor();
    expect(await subject()).toBe('Hello');
    await main().getByText('“The old words were better”').waitFor();
    await main().getByText('by a rollback').waitFor();
  });

  it('brings back what was removed, with what it refers to', async () => {
    const body = (await demo.ask<{ body: { rules: object } }>('/v1/workspaces/shop/notifications/order-paid')).body;
    const write = async (path: string, method: string, headers: object, sent?: object) => {
      const answer = await fetch(`${demo.control}/v1/workspaces/shop/${path}`, {
        method,
        headers: {
          authorization: `Bearer ${demo.ownerToken}`,
          'content-type': 'application/json',
          ...headers,
        },
        ...(sent && { body: JSON.stringify(sent) }),
      });
      expect(answer.status, await answer.clone().text()).toBeLessThan(300);
    };
    const numberOf = async (path: string) => (await demo.ask<{ number: number }>(`/v1/workspaces/shop/${path}`)).number;
    const mine = { name: 'Hello', channels: { email: { template: 'hello' } }, rules: body.rules };
    await write('notifications/hello', 'PUT', { 'if-none-match': '*' }, mine);
    for (const path of ['notifications/hello', 'templates/hello'])
      await write(path, 'DELETE', { 'if-match': `"${await numberOf(path)}"` });
    await go('/workspaces/shop/versions');
    const removed = main().getByRole('listitem').filter({ hasText: 'Notification hello removed' }).first();
    await removed.getByRole('button', { name: /^Show changes/ }).click();
    await removed.getByRole('button', { name: 'Roll back to before this' }).click();
    await dialog().getByText('Bring back what it refers to and is gone: Template hello').click();
    await dialog().getByRole('region', { name: 'template shop/hello' }).waitFor();
    await dialog().getByRole('button', { name: 'Publish as it was' }).click();
    await page.getByText(/Published as configuration \d+/).waitFor();
    expect(await subject()).toBe('Hello');
    await numberOf('notifications/hello');
  });

  it('shows a viewer what happened, and why it cannot be taken back', async () => {
    const other = await openMember(demo, browser, { workspace: 'shop', role: 'viewer' });
    const seen = await guard.openPage(other);
    await seen.goto(`${demo.control}/workspaces/shop/versions`);
    await seen
      .getByRole('button', { name: /^Show changes/ })
      .nth(1)
      .click();
    const back = seen.getByRole('button', { name: 'Roll back to before this' });
    await back.waitFor();
    await expect.poll(() => back.isDisabled()).toBe(true);
    await expectAccessible(seen, 'versions for a viewer');
    await other.close();
  });

  it('keeps the frame while it loads, says what went wrong, and what would be here', async () => {
    let answers: 'late' | 'broken' | 'empty' = 'late';
    let giveOut = (): void => undefined;
    const held = new Promise<void>((settle) => void (giveOut = settle));
    await page.route('**/v1/workspaces/shop/versions?*', async (route) => {
      if (answers === 'late') await held;
      const body =
        answers === 'broken'
          ? { detail: 'The configuration cannot be read.', request_id: 'req_1' }
          : { items: [], next: null };
      const isBroken = answers === 'broken';
      return route.fulfill({
        status: isBroken ? 400 : 200,
        contentType: isBroken ? 'application/problem+json' : 'application/json',
        body: JSON.stringify(body),
      });
    });
    guard.allowStatus(400);
    await go('/workspaces/shop/versions');
    await main().getByRole('status', { name: 'Loading versions' }).waitFor();
    await expectAccessible(page, 'versions that load');
    answers = 'broken';
    giveOut();
    await main().getByText('When you ask for help, name the request req_1.').waitFor();
    await expectAccessible(page, 'versions that cannot be read');
    answers = 'empty';
    await main().getByRole('button', { name: 'Try again' }).click();
    await main().getByRole('heading', { name: 'Nothing was published yet' }).waitFor();
    await expectAccessible(page, 'no version');
    await page.unroute('**/v1/workspaces/shop/versions?*');
  });
});
