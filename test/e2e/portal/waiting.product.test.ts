import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../../support/requirements.ts';
import { picture, violations, widthOf } from './accessible.ts';
import { byKeyboard } from './by-keyboard.ts';
import { guardPages } from './guard.ts';
import { sharedDemoWith } from './shared-demo.ts';
import { closeContexts, sharedBrowser, type SharedDemo } from './support.ts';

const PHONE = { width: 390, height: 844 };
describeWith('chromium', 'placed, not paid within an hour', () => {
  let demo: SharedDemo;
  let browser: Browser;
  let page: Page;
  const guard = guardPages(() => (demo ? [demo.control] : []));

  beforeAll(async () => {
    [demo, browser] = await Promise.all([sharedDemoWith('waits'), sharedBrowser()]);
    const context = await browser.newContext({ viewport: PHONE, hasTouch: true });
    await context.request.post(`${demo.control}/v1/session`, { data: { word: demo.ownerToken } });
    page = await guard.openPage(context);
    page.setDefaultTimeout(30_000);
  });
  afterAll(() => closeContexts());

  const main = () => page.locator('main');
  const sentence = (text: string) => main().getByText(text).first().waitFor();

  it('is made from New notification to publish by values that are typed, by keyboard and at the width of a phone', async () => {
    const { reach, press, type } = byKeyboard(page);
    // A new notification has no sample before it is published.
    guard.allowStatus(400, 404);
    await page.goto(`${demo.control}/workspaces/waits/notifications?new=yes&stream=orders`);
    const dialog = page.getByRole('dialog', { name: 'New notification' });
    await dialog.getByText('the shared stream orders').waitFor();
    await type(/^Name/, 'Order not paid');
    await press(/^Create the draft$/);
    await page.waitForURL('**/notifications/order-not-paid/rules/first*');
    await main().getByRole('button', { name: 'Add a condition' }).waitFor();

    await press(/^Add a condition$/);
    await main().getByLabel('Value of condition 1').waitFor();
    await type(/^Field of condition 1$/, 'type');
    await type(/^Value of condition 1$/, 'placed');
    await reach(/^Notify at once/);
    await page.keyboard.press('ArrowDown');
    await type(/^Length of the wait$/, '2');
    await press(/^Add a condition$/);
    await main().getByLabel('Value of condition 1 of unless').waitFor();
    await type(/^Value of condition 1 of unless$/, 'paid');
    await sentence('2 hours after an order is placed, unless it is paid, notify the customer by email.');
    // The test bench lets the two hours pass.
    await page.keyboard.press('ControlOrMeta+Enter');
    const timeline = main().getByRole('list', { name: 'Timeline' });
    await timeline.getByText('The deadline passes').waitFor();
    await press(/^Waits until/);
    await timeline.getByRole('list', { name: 'Values of when' }).waitFor();
    await press(/is notified$/);
    await timeline.getByRole('heading', { name: /^What .* would get$/ }).waitFor();
    expect(await widthOf(page)).toBeLessThanOrEqual(PHONE.width);
    await picture(page, 'waiting');
    await page.setViewportSize(PHONE);
    for (const colorScheme of ['dark', 'light'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await violations(page), colorScheme).toEqual([]);
    }

    await press(/^Save as test$/);
    const saved = page.getByRole('dialog', { name: 'Save as test' }).getByRole('group', { name: 'the case' });
    await expect
      .poll(() => saved.textContent())
      .toMatch(/rule: order-not-paid\.first\ncases:[\s\S]*at: \+2h, message: /);
    await page.keyboard.press('Escape');

    await page.keyboard.press('ControlOrMeta+Shift+p');
    await main().getByRole('button', { name: 'Publish 2 changes' }).waitFor();
    await press(/^Publish 2 changes$/);
    await page.getByText(/Published as configuration \d+/).waitFor();
    const { body } = await demo.ask<{ body: object }>('/v1/workspaces/waits/notifications/order-not-paid');
    expect(body).toMatchObject({
      rules: {
        first: { stream: 'orders', when: 'event.type == "placed"', after: '2h', unless: 'event.type == "paid"' },
      },
    });
  });

  it('is forgotten for one order by keyboard, from the page of the stream', async () => {
    const { press, type } = byKeyboard(page);
    const event = JSON.stringify({ type: 'placed', order_id: 'F-1', customer: { email: 'ada@example.com' } });
    await demo.ask('/v1/workspaces/waits/streams/waits%2Forders/send', { event });
    await page.goto(`${demo.control}/workspaces/waits/streams/orders`);
    const card = main().getByRole('region', { name: 'State of an entity' });
    await card.getByLabel('Entity').waitFor();
    await type(/^Entity$/, 'F-1');
    await page.keyboard.press('Enter');
    await card
      .getByText('No rule has state for F-1.')
      .or(card.getByRole('list', { name: 'State of rules' }))
      .waitFor();
    await card
      .getByRole('list', { name: 'State of rules' })
      .getByText(/^waits until/)
      .waitFor();
    expect(await widthOf(page)).toBeLessThanOrEqual(PHONE.width);
    expect(await violations(page)).toEqual([]);
    await press(/^Forget F-1…$/);
    await page.getByRole('dialog', { name: 'Forget F-1?' }).waitFor();
    await press(/^Forget this entity$/);
    await page.getByText('Rules forget F-1 within seconds.').waitFor();
    await card.getByText('No rule has state for F-1.').waitFor();
  });
});
