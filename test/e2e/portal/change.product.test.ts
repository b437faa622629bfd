import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../../support/requirements.ts';
import { guardPages } from './guard.ts';
import { sharedDemoWith } from './shared-demo.ts';
import { closeContexts, sharedBrowser, type SharedDemo } from './support.ts';

type Kept = { readonly channel: string; readonly to: string; readonly subject: string | null; readonly text: string };

/** What the sender sends before and after: it sends more than the rule uses, and is never changed. */
const order = (id: string): object => ({
  order_id: id,
  status: 'paid',
  total: 60,
  customer: { name: 'Ada', email: 'ada@example.com', phone: '+4915112345678' },
});

describeWith('chromium', 'changing a notification in the portal', () => {
  let demo: SharedDemo;
  let browser: Browser;
  let page: Page;
  let key = '';
  const guard = guardPages(() => (demo ? [demo.control] : []));
  const main = () => page.locator('main');
  const screens = () => page.getByRole('navigation', { name: 'Screens' });
  const untilSaved = () => page.locator('[data-draft="saved"]').waitFor();
  const send = (id: string): Promise<string> => demo.send('changes/orders', key, order(id));
  const kept = (): Promise<readonly Kept[]> => demo.inbox<Kept>('changes');
  const states = async (): Promise<string> =>
    (await demo.ask<{ items: { state: string }[] }>('/v1/workspaces/changes/deliveries')).items
      .map(({ state }) => state)
      .join(' ');
  const openNotification = async (tab: string | RegExp): Promise<void> => {
    await screens().getByRole('link', { name: 'Notifications' }).click();
    await main().getByRole('link', { name: 'Order paid' }).click();
    await main().getByRole('link', { name: tab }).click();
  };

  beforeAll(async () => {
    [demo, browser] = await Promise.all([sharedDemoWith('changes'), sharedBrowser()]);
    key = await demo.makeKey('changes', 'second');
    await demo.apply({
      'workspaces/changes/streams/orders.yaml': 'key: event.order_id\nsecurity: { api_keys: [backend, second] }\n',
    });
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
    await context.request.post(`${demo.control}/v1/session`, { data: { word: demo.ownerToken } });
    page = await guard.openPage(context);
    await page.goto(`${demo.control}/workspaces/changes`);
  });
  afterAll(async () => {
    await closeContexts();
  });

  it('changes rule, template, channel and cadence, publishes them together, and asks nothing of the sender', async () => {
    // A draft is gone once it is published, whoever asks for it then.
    guard.allowStatus(404);
    await send('C-1');
    await page.getByText('0 messages in 24 hours').waitFor();
    expect(await kept()).toEqual([]);

    // The channel is switched: from email to SMS, which the template gets by the button beside what it lacks.
    await openNotification('Channels');
    await main().getByText('Send by SMS').click();
    await untilSaved();
    const missing = main().getByRole('list', { name: 'Missing text for SMS' });
    expect(await missing.textContent()).toContain('SMS has no text yet in the template “order-paid”.');
    await missing.getByRole('button', { name: 'Add it to the draft' }).click();
    await page.waitForURL('**/templates/order-paid?channel=sms');
    await page.locator('[data-segments]').waitFor();
    await untilSaved();

    await openNotification('Channels');
    await main().getByText('Send by email').click();
    await untilSaved();

    // The rule fires for smaller orders. It got the field of the phone number when SMS was switched on.
    await main()
      .getByRole('link', { name: /^Rules/ })
      .click();
    await main().getByRole('link', { name: 'paid', exact: true }).click();
    const value = main().getByLabel('Value of condition 2');
    await value.fill('50');
    await value.press('Enter');
    await main().getByText('event.status == "paid" && event.total > 50').waitFor();
    await main()
      .getByRole('textbox', { name: /^Phone/ })
      .filter({ hasText: 'event.customer.phone' })
      .waitFor();
    await untilSaved();

    // And not more than one a day to one person.
    await main().getByRole('link', { name: 'Cadence' }).click();
    await main().getByRole('button', { name: 'Add a limit' }).click();
    await main().getByLabel('At most').fill('1');
    await page.getByText('With this draft:').waitFor();
    await untilSaved();

    await main().getByRole('button', { name: 'Review and publish' }).click();
    await main().getByRole('button', { name: 'Publish 2 changes' }).click();
    await page.getByText(/Published as configuration \d+/).waitFor();

    await send('C-2');
    await expect.poll(states, { timeout: 60_000 }).toContain('SENT');
    await send('C-3');
    await expect.poll(states, { timeout: 60_000 }).toContain('SUPPRESSED');
    expect(await kept()).toMatchObject([{ channel: 'sms', to: '+4915112345678' }]);
  });
});
