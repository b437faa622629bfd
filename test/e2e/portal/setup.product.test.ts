import { startScriptedPartner, startScriptedSmtp } from '@carillon/testing';
import { answerTwilio, startScriptedTwilio, type ScriptedTwilio } from '@carillon/testing/providers';
import type { ScriptedPartner, ScriptedSmtp } from '@carillon/testing';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../../support/requirements.ts';
import { expectAccessible, expectToFit } from './accessible.ts';
import { guardPages } from './guard.ts';
import { moveTo } from './moves.ts';
import { sharedDemoWith } from './shared-demo.ts';
import { closeContexts, sharedBrowser, type SharedDemo } from './support.ts';

/** Where pictures of each screen are kept for somebody to look at; unset: none are taken. */
const PICTURES = process.env['PORTAL_PICTURES'];

describeWith('chromium', 'what a workspace is set up with, in a browser', () => {
  let demo: SharedDemo;
  let browser: Browser;
  let page: Page;
  let smtp: ScriptedSmtp;
  let twilio: ScriptedTwilio;
  let partner: ScriptedPartner;
  const guard = guardPages(() => [demo.control]);

  beforeAll(async () => {
    [demo, browser, smtp, twilio, partner] = await Promise.all([
      sharedDemoWith('senders'),
      sharedBrowser(),
      startScriptedSmtp(),
      startScriptedTwilio(),
      startScriptedPartner(),
    ]);
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, locale: 'en-GB' });
    await context.request.post(`${demo.control}/v1/session`, { data: { word: demo.ownerToken } });
    page = await guard.openPage(context);
  });
  afterAll(async () => {
    await closeContexts();
    await Promise.all([smtp?.stop(), twilio?.stop(), partner?.stop()]);
  });

  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const main = () => page.locator('main');
  const heading = (name: string) => main().getByRole('heading', { name, exact: true, level: 1 }).waitFor();
  const reached = new Set<string>();
  /** Opens a screen of the navigation: by links from the start page the first time, and then by its address. */
  async function openScreen(screen: 'Accounts' | 'Cadence' | 'Integrations'): Promise<void> {
    if (reached.has(screen)) {
      await moveTo(page, `${demo.control}/workspaces/senders/${screen.toLowerCase()}`);
      return heading(screen);
    }
    reached.add(screen);
    await page.goto(demo.control);
    await page.getByRole('link', { name: 'Workspaces', exact: true }).first().click();
    await main().getByRole('link', { name: 'senders', exact: true }).click();
    await main().getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    await page.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name: screen, exact: true }).click();
    await heading(screen);
  }
  async function setSecret(open: string, value: string): Promise<void> {
    await button(open).click();
    await page.getByRole('dialog').getByLabel('Value').fill(value);
    await button('Store the secret').click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  }
  async function publish(): Promise<void> {
    await button('Review and publish').click();
    await heading('Review and publish').catch(() => undefined);
    await page.getByRole('button', { name: /^Publish \d+ changes?$/ }).click();
    await page
      .getByText(/is published|are published|Published/)
      .first()
      .waitFor();
  }
  async function picture(name: string): Promise<void> {
    if (PICTURES === undefined) return;
    for (const [width, height] of [
      [1440, 900],
      [390, 844],
    ] as const) {
      await page.setViewportSize({ width, height });
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        await page.screenshot({ path: `${PICTURES}/${name}-${width}-${colorScheme}.png`, fullPage: true });
      }
    }
    await page.setViewportSize({ width: 1440, height: 900 });
  }
  async function look(name: string): Promise<void> {
    await picture(name);
    await expectAccessible(page, name);
    await expectToFit(page, 390, 768);
    await page.evaluate('document.adoptedStyleSheets = []');
    await page.setViewportSize({ width: 1440, height: 900 });
  }

  it('draws the example week of a workspace without history, and the effect of a changed cadence', async () => {
    await openScreen('Cadence');
    await page.locator('[data-ground]').waitFor();
    await button('Add a limit').click();
    await page.getByLabel('At most').fill('1');
    await page.getByText('With this draft:').waitFor();
    await page.getByRole('img', { name: /^After: / }).waitFor();
    await page.getByText('Show as table').click();
    await page.getByRole('columnheader', { name: 'Dropped, after' }).waitFor();
    await look('cadence');
    await button('Discard').click();
    await button('Discard the draft').click();
    await page.getByRole('img', { name: /^As published: / }).waitFor();
  });

  it('adds an email account beside the default one, checks it as a draft, and puts it first', async () => {
    // What only a draft has is not there as a resource yet.
    guard.allowStatus(404);
    await openScreen('Accounts');
    await look('accounts-none');
    await button('Add an account').click();
    await page.getByRole('radio', { name: 'Email by SMTP' }).check({ force: true });
    await page.getByLabel('Name', { exact: true }).fill('own-mail');
    await button('Create a draft').click();
    await heading('own-mail');
    // Nothing is wrong before a field was left, and then that field alone.
    await page.getByLabel('Server', { exact: true }).focus();
    expect(await main().locator('[aria-invalid="true"]').count()).toBe(0);
    await page.keyboard.press('Tab');
    await main().getByText('Server: not filled in yet.').waitFor();
    expect(await main().locator('[aria-invalid="true"]').count()).toBe(1);
    await page.getByLabel('Server', { exact: true }).fill('127.0.0.1');
    await page.getByLabel('Port', { exact: true }).fill('1');
    await page.getByLabel('Sender', { exact: true }).fill('Shop <shop@example.com>');
    await page.getByText('More settings').click();
    await page.getByRole('button', { name: /Encryption/ }).click();
    await page.getByRole('option', { name: 'None: clear text' }).click();
    await page.locator('[data-draft="saved"]').waitFor();
    await button('Check the account').click();
    // The first step that fails stands open, with what it means.
    await page.locator('[data-state="check-bad"]').waitFor();
    expect(await page.locator('details[open] summary [data-state], ol details[open]').count()).toBe(1);
    await look('account-failing');
    await page.getByLabel('Port', { exact: true }).fill(String(smtp.port));
    await page.locator('[data-draft="saved"]').waitFor();
    await button('Check the account').click();
    await page.locator('[data-state="check-good"]').waitFor();
    expect(smtp.accepted).toEqual([]);
    await publish();

    await openScreen('Accounts');
    await button('Add an account').click();
    await page.getByLabel('Name', { exact: true }).fill('backup-mail');
    await button('Create a draft').click();
    await heading('backup-mail');
    await page.getByLabel('Server', { exact: true }).fill('127.0.0.1');
    await page.getByLabel('Port', { exact: true }).fill(String(smtp.port));
    await page.getByLabel('Sender', { exact: true }).fill('Shop <shop@example.com>');
    await page.locator('[data-draft="saved"]').waitFor();
    await publish();

    await openScreen('Accounts');
    await main().getByRole('link', { name: 'own-mail' }).click();
    await button('Use this account: own-mail for Email of order-paid').click();
    await main().getByText('First', { exact: false }).first().waitFor();
    await page.locator('[data-user-draft="saved"]').first().waitFor();
    await openScreen('Accounts');
    await main().getByRole('link', { name: 'backup-mail' }).click();
    await button('Use as fallback: backup-mail for Email of order-paid').click();
    const order = page.getByRole('list', { name: 'Accounts for Email of order-paid, by priority' });
    await expect.poll(() => order.getByRole('listitem').allTextContents()).toHaveLength(2);
    await look('account-priority');
    await button('Move up backup-mail for Email of order-paid').click();
    await expect
      .poll(async () => (await order.getByRole('listitem').first().textContent()) ?? '')
      .toContain('backup-mail');
    await button('Move down backup-mail for Email of order-paid').click();
    await expect
      .poll(async () => (await order.getByRole('listitem').first().textContent()) ?? '')
      .toContain('own-mail');
    await page.locator('[data-user-draft="saved"]').first().waitFor();
    await page.getByRole('link', { name: /Draft: 1/ }).click();
    await page.getByRole('button', { name: /^Publish \d+ changes?$/ }).click();
    const accounts = async (): Promise<unknown> => {
      type Body = { body: { channels: { email: { accounts?: string[] } } } };
      return (await demo.ask<Body>('/v1/workspaces/senders/notifications/order-paid')).body.channels.email.accounts;
    };
    await expect.poll(accounts).toEqual(['own-mail', 'backup-mail']);
    // It is used: the next message goes over it.
    const key = await demo.makeKey('senders', 'setup');
    await demo.apply({
      'workspaces/senders/streams/orders.yaml': 'key: event.order_id\nsecurity: { api_keys: [backend, setup] }\n',
    });
    const customer = { name: 'Ada', email: 'ada@example.com' };
    await demo.send('senders/orders', key, { order_id: 'S-1', status: 'paid', total: 120, customer });
    await expect.poll(() => smtp.accepted.length, { timeout: 30_000 }).toBe(1);
  });

  it('adds an own SMS number beside the default one and checks it', async () => {
    // What only a draft has is not there as a resource yet.
    guard.allowStatus(404);
    twilio.answers(answerTwilio(200, { sid: `AC${'0'.repeat(32)}`, status: 'active' }));
    await openScreen('Accounts');
    await button('Add an account').click();
    await page.getByRole('radio', { name: 'SMS by Twilio' }).check({ force: true });
    await page.getByLabel('Name', { exact: true }).fill('own-number');
    await button('Create a draft').click();
    await heading('own-number');
    await page.getByLabel('Account SID').fill(`AC${'0'.repeat(32)}`);
    await setSecret('Set the auth token', 'token-1');
    await page.getByText('fingerprint').waitFor();
    await page.getByLabel('Number', { exact: true }).fill('+4915112345678');
    await page.getByText('More settings').click();
    await page.getByLabel('URL instead of the provider’s').fill(twilio.url);
    await page.locator('[data-draft="saved"]').waitFor();
    await button('Check the account').click();
    await page.locator('[data-state="check-good"]').waitFor();
    await look('account-sms');
    await publish();
  });

  it('adds a lookup endpoint of a partner with key and scheme, and checks it with sample ids', async () => {
    // What only a draft has is not there as a resource yet.
    guard.allowStatus(404);
    partner.follow(({ headers, userIds }, response) => {
      if (headers['authorization'] === 'Basic key-1') {
        return userIds.map((id) => ({ to: { email: `${id}@example.com` }, variables: { user_id: id } }));
      }
      response.writeHead(401).end();
      return undefined;
    });
    await openScreen('Integrations');
    await look('integrations-none');
    await button('Add an integration').click();
    await page.getByLabel('Name', { exact: true }).fill('crm');
    await button('Create a draft').click();
    await heading('crm');
    await page.getByLabel('URL', { exact: true }).fill(partner.url);
    await setSecret('Set the key', 'key-1');
    await page.getByLabel('Path of the user id').fill('variables.user_id');
    await page.getByLabel('Sample user ids').fill('ada bob');
    await page.locator('[data-draft="saved"]').waitFor();
    await button('Check the integration').click();
    await page.locator('[data-state="check-bad"]').waitFor();
    await page.getByText('the partner takes Basic').waitFor();
    await look('integration-scheme');
    await page
      .getByRole('button', { name: /^Scheme|Scheme$/ })
      .first()
      .click();
    await page.getByRole('option', { name: 'Basic' }).click();
    await page.locator('[data-draft="saved"]').waitFor();
    await button('Check the integration').click();
    await page.locator('[data-state="check-good"]').waitFor();
    await page.getByText('answer', { exact: true }).first().click();
    await page.getByText('user id ada: email yes').waitFor();
    await publish();
  });

  it('tests a rule with a fresh answer of the partner after the person confirms the request', async () => {
    await demo.apply({
      'workspaces/senders/notifications/asked.yaml': [
        'name: Asked',
        'channels: { email: { template: order-paid } }',
        'rules:',
        '  r:',
        '    stream: orders',
        '    when: event.total > 100',
        '    recipients: { from: lookup, integration: crm, user_ids: event.watchers }',
        '',
      ].join('\n'),
    });
    await moveTo(page, `${demo.control}/workspaces/senders/notifications/asked/rules/r`);
    await page.getByRole('radio', { name: 'Pasted' }).click();
    await page.getByRole('textbox', { name: 'Event as JSON' }).click();
    await page.keyboard.press('ControlOrMeta+A');
    await page.keyboard.insertText(JSON.stringify({ total: 120, order_id: 'A-1', watchers: ['ada', 'bob'] }));
    const calls = partner.calls.length;
    await page.keyboard.press('Control+Enter');
    await page.getByText('Fires, and asks crm about ada, bob.').waitFor();
    await button('Ask crm now…').click();
    await page.getByRole('dialog', { name: 'Ask crm about 2 people?' }).waitFor();
    expect(partner.calls).toHaveLength(calls);
    await expectAccessible(page, 'asking a partner');
    await button('Ask about 2 people').click();
    await page.getByText('Fires: 2 people are notified.').waitFor();
    await page.getByText('answered: 200, an array of 2.').waitFor();
    await page.getByRole('region', { name: 'What bob@example.com would get' }).waitFor();
    expect(partner.calls).toHaveLength(calls + 1);
  });

  it('adds a platform with cohorts: address and secret to paste, check, and the first sync watched as it comes', async () => {
    // What only a draft has is not there as a resource yet.
    guard.allowStatus(404);
    await openScreen('Integrations');
    await button('Add an integration').click();
    await page.getByRole('radio', { name: 'Cohorts from your own program' }).check({ force: true });
    await page.getByLabel('Name', { exact: true }).fill('feed');
    await button('Create a draft').click();
    await heading('feed');
    const address = `${demo.gateway}/cohorts/senders/feed`;
    await page.getByText(address).waitFor();
    await button('Make the secret').click();
    await button('Store the secret').click();
    await page.getByRole('dialog', { name: 'Paste the secret at the platform now' }).waitFor();
    const secret = (await page.getByRole('group', { name: 'the secret' }).textContent()) ?? '';
    expect(secret).toMatch(/^[0-9a-f]{64}$/);
    await expectAccessible(page, 'secret shown once');
    await button('Done').click();
    await page.locator('[data-draft="saved"]').waitFor();
    await button('Check the integration').click();
    await page.getByText('nothing has arrived yet').waitFor({ state: 'attached' });
    await publish();
    await openScreen('Integrations');
    await main().getByRole('link', { name: 'feed' }).click();
    await page.getByText('No report yet', { exact: true }).waitFor();
    await look('integration-waiting');
    const say = async (page_: number): Promise<number> =>
      (
        await fetch(address, {
          method: 'POST',
          headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
          body: JSON.stringify({
            cohort: 'vip',
            name: 'VIP <b>',
            action: 'replace',
            session: 's1',
            page: page_,
            pages: 2,
            user_ids: [`u${page_}a`, `u${page_}b`],
          }),
        })
      ).status;
    await expect.poll(() => say(1), { timeout: 30_000 }).toBe(202);
    await page.getByText('Sync under way: page 1 of 2').waitFor();
    await look('integration-sync');
    expect(await say(2)).toBe(202);
    await page.getByText('Sync under way').waitFor({ state: 'detached' });
    await expect.poll(() => main().locator('dd').allTextContents()).toContain('4');
    await openScreen('Integrations');
    await main().locator('[data-state="check-good"]').first().waitFor();
    await look('integrations');
  });

  it('says which partner does not answer, since when, how many events wait, and which', async () => {
    partner.follow((_call, response) => {
      response.writeHead(503).end();
      return undefined;
    });
    const { id } = await demo.ask<{ id: string }>('/v1/workspaces/senders/streams/orders/send', {
      event: JSON.stringify({ status: 'open', order_id: 'A-9', total: 120, watchers: ['ada'] }),
    });
    await expect
      .poll(async () => (await demo.ask<{ items: object[] }>('/v1/workspaces/senders/waiting')).items, {
        timeout: 30_000,
      })
      .toMatchObject([{ integration: 'crm', events: 1, last_failure: { status: 503 } }]);
    const words = /crm has not answered since .*503.*, 1 event waits, (?:next attempt|a call is under way)/;
    await moveTo(page, `${demo.control}/workspaces/senders`);
    await page.getByRole('region', { name: 'Needs your attention' }).getByText(words).waitFor();
    await openScreen('Integrations');
    await look('integrations-silent');
    await page.getByRole('list', { name: 'Partners that do not answer' }).getByText(words).click();
    await page.getByRole('region', { name: 'Waiting events' }).getByRole('link', { name: id }).waitFor();
    await look('integration-silent');
  });
});
