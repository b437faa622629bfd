import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../../support/requirements.ts';
import { picture, violations, widthOf } from './accessible.ts';
import { byKeyboard } from './by-keyboard.ts';
import { guardPages } from './guard.ts';
import { sharedDemoWith } from './shared-demo.ts';
import { closeContexts, sharedBrowser, type SharedDemo } from './support.ts';

const PHONE = { width: 390, height: 844 };

describeWith('chromium', 'three failed payments of an order within an hour', () => {
  let demo: SharedDemo;
  let browser: Browser;
  let page: Page;
  const guard = guardPages(() => (demo ? [demo.control] : []));

  beforeAll(async () => {
    [demo, browser] = await Promise.all([sharedDemoWith('counts'), sharedBrowser()]);
    const context = await browser.newContext({ viewport: PHONE, hasTouch: true });
    await context.request.post(`${demo.control}/v1/session`, { data: { word: demo.ownerToken } });
    page = await guard.openPage(context);
    page.setDefaultTimeout(30_000);
  });
  afterAll(() => closeContexts());

  const main = () => page.locator('main');

  it('is counted by a row of the form, from New notification to publish, by keyboard and at the width of a phone', async () => {
    const { reach, press, type, choose } = byKeyboard(page);
    // A new notification has no sample before it is published.
    guard.allowStatus(400, 404);
    await page.goto(`${demo.control}/workspaces/counts/notifications?new=yes&stream=orders`);
    const dialog = page.getByRole('dialog', { name: 'New notification' });
    await dialog.getByText('the shared stream orders').waitFor();
    await type(/^Name/, 'Payment fails');
    await press(/^Create the draft$/);
    await page.waitForURL('**/notifications/payment-fails/rules/first*');

    await press(/^Count events$/);
    const when = main().getByRole('region', { name: 'When' });
    await when.getByText('Every event of the same order counts.').waitFor();
    await type(/^Length of the window of condition 1$/, '1');
    await choose(/^Unit of the window of condition 1$/, 'hour');
    await type(/^Value of condition 1$/, '3');
    await press(/^Count only some events$/);
    await main().getByLabel('Value of condition 1 of the total of condition 1').waitFor();
    await type(/^Field of condition 1 of the total of condition 1$/, 'type');
    await type(/^Value of condition 1 of the total of condition 1$/, 'payment_failed');
    await when.getByText('An event of the same order counts when').waitFor();
    await picture(page, 'counting');
    await page.setViewportSize(PHONE);
    // A rule that counts notifies once, until the total is lower again.
    await reach(/^For the same order/);
    const cooldown = main().getByLabel(/^For the same order/);
    expect(await cooldown.inputValue()).toBe('until_false');
    expect(await widthOf(page)).toBeLessThanOrEqual(PHONE.width);
    for (const colorScheme of ['dark', 'light'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await violations(page), colorScheme).toEqual([]);
    }

    // The test bench begins with as many events as fire the rule.
    const timeline = main().getByRole('list', { name: 'Timeline' });
    await timeline.getByText('Smallest matching event 3 of 3').waitFor();
    await page.keyboard.press('ControlOrMeta+Enter');
    await press(/is notified$/);
    expect(await timeline.getByText(/^Smallest matching event \d of 3$/).count()).toBe(3);
    await timeline.getByText('totals.total').first().waitFor();

    await page.keyboard.press('ControlOrMeta+Shift+p');
    await main().getByRole('button', { name: 'Publish 2 changes' }).waitFor();
    await press(/^Publish 2 changes$/);
    await page.getByText(/Published as configuration \d+/).waitFor();
    const rule = await published();
    expect(rule).toMatchObject({
      stream: 'orders',
      when: 'totals.total >= 3',
      totals: { total: { count: 'event.type == "payment_failed"', within: '1h' } },
      cooldown: 'until_false',
    });
  });

  it('shows a saved count condition again, and removes it together with its total', async () => {
    // A rule without a condition has no sample event yet.
    guard.allowStatus(400);
    const { press } = byKeyboard(page);
    await page.goto(`${demo.control}/workspaces/counts/notifications/payment-fails/rules/first`);
    expect(await main().getByLabel('Unit of the window of condition 1').inputValue()).toBe('h');
    expect(await main().getByLabel('How condition 1 compares').inputValue()).toBe('>=');
    expect(await main().getByLabel('Value of condition 1', { exact: true }).inputValue()).toBe('3');
    await main().getByLabel('Value of condition 1 of the total of condition 1').waitFor();
    await press(/^Remove condition 1$/);
    await main().getByText('Nothing fires this rule yet.').waitFor();
    const keys = () =>
      draft().then(
        (rule) => Object.keys(rule),
        () => ['when'],
      );
    await expect.poll(keys).not.toContain('when');
    expect(await draft()).not.toHaveProperty('totals');
  });

  type Notification = { readonly body: { readonly rules: { readonly first: object } } };
  const NOTIFICATION = '/v1/workspaces/counts/notifications/payment-fails';
  const published = async () => (await demo.ask<Notification>(NOTIFICATION)).body.rules.first;
  const draft = async () => (await demo.ask<Notification>(`${NOTIFICATION}/draft`)).body.rules.first;
});
