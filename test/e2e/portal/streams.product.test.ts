import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../../support/requirements.ts';
import { expectAccessible } from './accessible.ts';
import { guardPages } from './guard.ts';
import { sharedDemoWith } from './shared-demo.ts';
import { closeContexts, sharedBrowser, type SharedDemo } from './support.ts';

describeWith('chromium', 'changes to event streams in the portal', () => {
  let demo: SharedDemo;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  const guard = guardPages(() => (demo ? [demo.control] : []));

  const main = () => page.locator('main');
  const card = (name: string) => main().getByRole('region', { name, exact: true });
  const go = (path: string) => page.goto(`${demo.control}${path}`);

  beforeAll(async () => {
    [demo, browser] = await Promise.all([sharedDemoWith('intake'), sharedBrowser()]);
    context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
    await context.request.post(`${demo.control}/v1/session`, { data: { word: demo.ownerToken } });
    page = await guard.openPage(context);
    page.setDefaultTimeout(30_000);
  });
  afterAll(async () => {
    await closeContexts();
  });

  it('is edited as a draft that shows mistakes at their fields, and takes effect when published', async () => {
    await go('/workspaces/intake/streams/orders');
    expect(await main().getByLabel('Key', { exact: true }).isDisabled()).toBe(true);
    const most = card('Settings').getByRole('group', { name: 'Limit for all senders together' });
    await most.getByLabel('Events a second').fill('-3');
    await most.getByLabel('Events a second').blur();
    await most.getByText('Enter a number above 0.').waitFor();
    await most.getByLabel('Events a second').fill('50');
    await card('Settings')
      .getByLabel('Websites that may send events')
      .fill('https://app.example.com\nhttps://two.example.com');
    await page.locator('[data-draft="saved"]').waitFor();
    await expectAccessible(page, 'a stream with a draft');
    await page.getByRole('button', { name: 'Review and publish' }).click();
    await main().getByRole('button', { name: 'Publish 1 change' }).click();
    await page.getByText(/Published as configuration \d+/).waitFor();
    const { body } = await demo.ask<{ body: object }>('/v1/workspaces/intake/streams/orders');
    expect(body).toMatchObject({
      key: 'event.order_id',
      rate: { per_second: 50 },
      cors_origins: ['https://app.example.com', 'https://two.example.com'],
    });
    await go('/workspaces/intake/streams/orders');
    await main().getByText('As YAML').click();
    await main().getByRole('group', { name: 'the file' }).getByText('per_second: 50').waitFor();
  });

  it('is made from the list, and removed again only where no rule hears it', async () => {
    await go('/workspaces/intake/streams/orders');
    expect(await main().getByRole('button', { name: 'Remove stream' }).isDisabled()).toBe(true);
    await go('/workspaces/intake/streams');
    await main().getByRole('button', { name: 'New event stream' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('returns');
    await page.getByRole('dialog').getByRole('button', { name: 'Create a draft' }).click();
    await main().getByText('Its URL accepts events after you publish it.').waitFor();
    await main().getByLabel('Key', { exact: true }).fill('event.return_id');
    await main().locator('label', { hasText: 'backend' }).click();
    await page.locator('[data-draft="saved"]').waitFor();
    await page.getByRole('button', { name: 'Review and publish' }).click();
    await main().getByRole('button', { name: 'Publish 1 change' }).click();
    await page.getByText(/Published as configuration \d+/).waitFor();
    await go('/workspaces/intake/streams');
    await main().getByText('No rule subscribed · The key backend may send').waitFor();
    await main().getByRole('link', { name: 'returns' }).click();
    await card('Send an event').getByText('return_id').first().waitFor();
    await main().getByRole('button', { name: 'Remove stream' }).click();
    await main().getByText('The draft removes this stream').waitFor();
    await page.locator('[data-draft="saved"]').waitFor();
    await page.getByRole('button', { name: 'Review and publish' }).click();
    await main().getByRole('button', { name: 'Publish 1 change' }).click();
    await page.getByText(/Published as configuration \d+/).waitFor();
    guard.allowStatus(404);
    await go('/workspaces/intake/streams/returns');
    await main().getByRole('heading', { name: 'There is no event stream returns' }).waitFor();
    await expectAccessible(page, 'no such stream');
  });

  it('has every resource that is set up in the portal as its file too', async () => {
    await demo.apply({
      'workspaces/intake/accounts/mail.yaml': 'kind: smtp\nhost: mail.example.com\nport: 587\nfrom: shop@example.com\n',
      'workspaces/intake/integrations/crm.yaml':
        'kind: lookup\nurl: https://crm.example.com/who\nauthorization: { key: { secret: CRM_KEY } }\n',
    });
    for (const [path, words] of [
      ['notifications/order-paid', 'rules:'],
      ['templates/order-paid', 'subject:'],
      ['accounts/mail', 'host: mail.example.com'],
      ['integrations/crm', 'url: https://crm.example.com/who'],
    ] as const) {
      await go(`/workspaces/intake/${path}`);
      await main().getByText('As YAML').click();
      await main().getByRole('group', { name: 'the file' }).getByText(words).waitFor();
      await expectAccessible(page, `${path} as its file`);
    }
  });
});
