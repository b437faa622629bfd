import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../../support/requirements.ts';
import { expectAccessible, expectToFit, picture } from './accessible.ts';
import { guardPages } from './guard.ts';
import { openMember } from './member.ts';
import { openBrowser, startDemo, type Demo } from './support.ts';

const AT = 'workspaces/shop-test';
const NOTIFICATION = `name: Order sent
channels:
  email: { template: order-sent }
rules:
  sent:
    stream: parcels
    when: event.status == "sent"
    recipients: { from: event, to: { email: event.email }, unique_id: event.order_id }
`;

describeWith('chromium', 'promoting a test environment in the portal', () => {
  let demo: Demo;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  const guard = guardPages(() => (demo ? [demo.control] : []));

  const main = () => page.locator('main');
  const go = (path: string) => page.goto(`${demo.control}${path}`);

  beforeAll(async () => {
    [demo, browser] = await Promise.all([startDemo(), openBrowser()]);
    await demo.makeKey('shop-test', 'parcels');
    await demo.apply({
      [`${AT}/workspace.yaml`]: 'name: Shop (test)\nenvironment: test\nof: shop\n',
      [`${AT}/streams/parcels.yaml`]: 'key: event.order_id\nsecurity: { api_keys: [parcels] }\n',
      [`${AT}/templates/order-sent/email.yaml`]: 'subject: "It left"\nfrom: shop@example.com\n',
      [`${AT}/templates/order-sent/email.txt`]: 'It left our house.\n',
      [`${AT}/notifications/order-sent.yaml`]: NOTIFICATION,
    });
    context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
    await context.request.post(`${demo.control}/v1/session`, { data: { word: demo.ownerToken } });
    page = await guard.openPage(context);
    page.setDefaultTimeout(30_000);
  });
  afterAll(async () => {
    await browser?.close();
    await demo?.stop();
  });

  it('leads from the live workspace to what its test environment has otherwise, and names what live lacks', async () => {
    await go('/workspaces/shop');
    await page.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name: 'Versions' }).click();
    await main().getByRole('link', { name: 'Test environments' }).click();
    await expectAccessible(page, 'the test environments of a workspace');
    await main().getByRole('link', { name: 'Promote shop-test' }).click();
    const wanted = main().getByRole('list', { name: 'What would be promoted' });
    for (const name of ['Notification order-sent', 'Template order-sent', 'Stream parcels'])
      await wanted.getByLabel(name).waitFor();
    await main()
      .getByText(/^API key parcels, needed by/)
      .waitFor();
    const row = wanted.getByRole('listitem').filter({ has: page.getByLabel('Notification order-sent') });
    await row.getByText('When an event of parcels comes and status is “sent”, tell email by email').waitFor();
    const file = row.getByText(`${AT.replace('-test', '')}/notifications/order-sent.yaml`);
    expect(await file.isVisible()).toBe(false);
    await row.getByText('1 file', { exact: true }).click();
    await file.waitFor();
    await row.getByText('1 file', { exact: true }).click();
    await expectAccessible(page, 'a promotion');
    await picture(page, 'promote');
    await expectToFit(page, 390);
    await page.setViewportSize({ width: 1440, height: 900 });
    // Nothing was written by looking.
    expect((await demo.ask<{ items: object[] }>('/v1/workspaces/shop/drafts')).items).toEqual([]);
  });

  it('writes the chosen ones as drafts by a job, and leads to their review', async () => {
    await main().getByLabel('Notification order-sent').uncheck();
    await main().getByRole('button', { name: 'Make 2 drafts in shop' }).click();
    await main().getByText('2 drafts written in shop.').waitFor();
    await expectAccessible(page, 'a promotion that is over');
    await picture(page, 'promoted');
    const { items } = await demo.ask<{ items: { kind: string; promoted_from: string }[] }>(
      '/v1/workspaces/shop/drafts',
    );
    expect(items.map(({ kind }) => kind).toSorted()).toEqual(['stream', 'template']);
    expect(items.every((one) => one.promoted_from === 'shop-test')).toBe(true);
    await main().getByRole('link', { name: 'Review and publish in shop' }).click();
    await main().getByText('from shop-test').first().waitFor();
  });

  it('is reached from the drafts page and from each notification of the test environment', async () => {
    await go('/workspaces/shop-test/drafts');
    await main().getByRole('link', { name: 'Promote to shop' }).click();
    await page.waitForURL('**/workspaces/shop-test/promote');
    await go('/workspaces/shop-test/notifications/order-sent');
    await main().getByRole('link', { name: 'Promote to shop' }).click();
    await main().getByText('Only the notification order-sent and what it needs.').waitFor();
    await main().getByLabel('Notification order-sent').waitFor();
    await go('/workspaces/shop/notifications/order-paid');
    await main().getByRole('heading', { name: 'Order paid', level: 1 }).waitFor();
    expect(
      await main()
        .getByRole('link', { name: /^Promote/ })
        .count(),
    ).toBe(0);
  });

  it('copies a chosen notification of the live workspace with what it needs, as drafts', async () => {
    await go('/workspaces/shop-test');
    await page.getByRole('link', { name: 'Update from shop' }).click();
    const copied = main().getByRole('list', { name: 'What would be copied' });
    await copied.getByLabel('Notification order-paid').waitFor();
    await main().getByText('Chosen notifications').click();
    await main().getByRole('group', { name: 'Notifications of shop' }).getByText('Order paid').click();
    for (const name of ['Notification order-paid', 'Template order-paid', 'Stream orders'])
      await copied.getByLabel(name).waitFor();
    await main()
      .getByText(/^API key backend, needed by/)
      .waitFor();
    const row = copied.getByRole('listitem').filter({ has: page.getByLabel('Notification order-paid') });
    await row.getByText(/^When an event of orders comes/).waitFor();
    await expectAccessible(page, 'a copy of a live workspace');
    await picture(page, 'copy');
    await expectToFit(page, 390);
    await page.setViewportSize({ width: 1440, height: 900 });
    await main().getByRole('button', { name: 'Make 3 drafts in shop-test' }).click();
    await page.waitForURL('**/workspaces/shop-test/drafts');
    await page.getByText('3 drafts copied from shop.').waitFor();
    const { items } = await demo.ask<{ items: { kind: string; promoted_from: string }[] }>(
      '/v1/workspaces/shop-test/drafts',
    );
    expect(items.map(({ kind }) => kind).toSorted()).toEqual(['notification', 'stream', 'template']);
    expect(items.every((draft) => draft.promoted_from === 'shop')).toBe(true);
  });

  it('wears its line on every page of a test environment, and on none of the live workspace', async () => {
    const line = page.getByText('Test environment of shop: its messages stay in the inbox.');
    for (const screen of ['', '/deliveries', '/notifications']) {
      await go(`/workspaces/shop-test${screen}`);
      await line.waitFor();
      await expectAccessible(page, `a test environment at ${screen}`);
    }
    await page.getByRole('main').getByRole('link', { name: 'shop', exact: true }).first().click();
    await page.waitForURL('**/workspaces/shop');
    await line.waitFor({ state: 'detached' });
  });

  it('says of a workspace without a test environment how one comes about', async () => {
    await demo.makeKey('alone', 'backend');
    await go('/workspaces/alone/promote');
    await main().getByRole('heading', { name: 'alone has no test environment' }).waitFor();
    await expectAccessible(page, 'no test environment');
  });

  it('says to a viewer who can promote, and asks for nothing', async () => {
    const other = await openMember(demo, browser, { workspace: 'shop-test', role: 'viewer' });
    const seen = await guard.openPage(other);
    await seen.goto(`${demo.control}/workspaces/shop-test/promote`);
    await seen.getByText('Your role does not allow this').waitFor();
    expect(await seen.getByRole('button', { name: /^Make/ }).count()).toBe(0);
    await expectAccessible(seen, 'promotion for a viewer');
    await other.close();
  });

  it('keeps the frame while it loads, and says what went wrong with a way to try again', async () => {
    let isBroken = true;
    let giveOut = (): void => undefined;
    const held = new Promise<void>((settle) => void (giveOut = settle));
    await page.route('**/v1/workspaces/shop-test/promote', async (route) => {
      await held;
      if (!isBroken) return route.fallback();
      return route.fulfill({
        status: 400,
        contentType: 'application/problem+json',
        body: JSON.stringify({ detail: 'The configuration cannot be read.', request_id: 'req_1' }),
      });
    });
    guard.allowStatus(400);
    await go('/workspaces/shop-test/promote');
    await main().getByRole('status', { name: 'Loading what would be promoted' }).waitFor();
    giveOut();
    await main().getByText('When you ask for help, name the request req_1.').waitFor();
    await expectAccessible(page, 'a promotion that cannot be read');
    isBroken = false;
    await main().getByRole('button', { name: 'Try again' }).click();
    await main().getByLabel('Notification order-sent').waitFor();
    await page.unroute('**/v1/workspaces/shop-test/promote');
  });
});
