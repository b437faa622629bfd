import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../../support/requirements.ts';
import { guardPages } from './guard.ts';
import { openMember } from './member.ts';
import { total } from './rule-form.ts';
import { sharedDemoWith } from './shared-demo.ts';
import { closeContexts, sharedBrowser, type SharedDemo } from './support.ts';

const WORKSPACE = 'compares';
const AT = `/workspaces/${WORKSPACE}/notifications/order-paid/rules/paid`;

describeWith('chromium', 'comparing an edited rule in the portal', () => {
  let demo: SharedDemo;
  let browser: Browser;
  const guard = guardPages(() => (demo ? [demo.control] : []));

  beforeAll(async () => {
    [demo, browser] = await Promise.all([sharedDemoWith(WORKSPACE), sharedBrowser()]);
    const key = await demo.makeKey(WORKSPACE, 'second');
    await demo.apply({
      [`workspaces/${WORKSPACE}/streams/orders.yaml`]:
        'key: event.order_id\nsecurity: { api_keys: [backend, second] }\n',
    });
    const bob = { name: 'Bob', email: 'bob@example.com', phone: '+4915112345678' };
    await demo.send(`${WORKSPACE}/orders`, key, { order_id: 'C-1', status: 'paid', total: 90, customer: bob });
  });
  afterAll(() => closeContexts());

  it('lets an editor change 100 to 80, see who is added, open one message and publish, by keyboard', async () => {
    // A draft is gone once it is published, whoever asks for it then.
    guard.allowStatus(404);
    const page = await guard.openPage(await openMember(demo, browser, { workspace: WORKSPACE, role: 'editor' }));
    const main = page.locator('main');
    const press = async (role: 'button' | 'link', name: string | RegExp): Promise<void> => {
      await main.getByRole(role, { name }).focus();
      await page.keyboard.press('Enter');
    };
    await page.goto(`${demo.control}${AT}`);
    expect(await total(page).inputValue()).toBe('100');
    await total(page).fill('80');
    await total(page).press('Enter');
    await page.locator('[data-draft="saved"]').waitFor();

    await press('button', 'Review and publish');
    await main.getByText('Nothing is sent.').waitFor();
    await press('button', 'Compare with the last 30 days');
    await main.getByText('this edit would have added messages for 1 person.').waitFor();
    await main.getByRole('list', { name: 'First messages that differ' }).getByText('Added').waitFor();
    await press('link', 'Open the comparison');

    await main.getByRole('list', { name: 'Messages', exact: true }).waitFor();
    await press('button', /^Added bob@example\.com/);
    await main.getByRole('region', { name: 'Before' }).getByText('No message.').waitFor();
    await main.getByRole('region', { name: 'After' }).getByText('bob@example.com').first().waitFor();

    await page.goBack();
    await press('button', 'Publish 1 change');
    await page.getByText(/Published as configuration \d+/).waitFor();
  });

  it('lets an operator send the message that the published edit adds, by keyboard', async () => {
    const page = await guard.openPage(await openMember(demo, browser, { workspace: WORKSPACE, role: 'operator' }));
    await page.goto(`${demo.control}/workspaces/${WORKSPACE}/runs`);
    await page.getByRole('button', { name: /^Done order-paid/ }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Send missing messages' }).focus();
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Send missing messages' });
    await dialog.getByText('1 message to 1 person.').waitFor();
    await dialog.getByLabel('Type 1 to confirm').focus();
    await page.keyboard.type('1');
    await dialog.getByRole('button', { name: 'Send 1' }).and(dialog.locator(':enabled')).focus();
    await page.keyboard.press('Enter');
    await dialog.getByText('Done: 1 of 1.').waitFor();
    await page.goto(`${demo.control}/workspaces/${WORKSPACE}/inbox`);
    await page.getByText('bob@example.com').first().waitFor();
  });
});
