import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../../support/requirements.ts';
import { expectAccessible } from './accessible.ts';
import { guardPages } from './guard.ts';
import { sharedDemoWith } from './shared-demo.ts';
import { closeContexts, sharedBrowser, type SharedDemo } from './support.ts';

const ORDER = { order_id: 'A-1', status: 'paid', total: 120, customer: { name: 'Ada', email: 'ada@example.com' } };
const NOTIFICATION = '/workspaces/builders/notifications/order-paid';

describeWith('chromium', 'building a notification in the portal', () => {
  let demo: SharedDemo;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let key: string;
  const guard = guardPages(() => (demo ? [demo.control] : []));

  const main = () => page.locator('main');
  const undo = () => page.getByRole('status').getByRole('button', { name: 'Undo' }).last();
  const button = (name: string | RegExp) => main().getByRole('button', { name });
  const go = (path: string) => page.goto(`${demo.control}${path}`);
  const published = async <Body = { rules: { paid: { when: string } } }>(): Promise<Body> =>
    (await demo.ask<{ body: Body }>('/v1/workspaces/builders/notifications/order-paid')).body;
  /** Saves a draft as a colleague would who works over the API. */
  const saveDraft = async (kind: string, name: string, change: (body: never) => object): Promise<void> => {
    const at = `/v1/workspaces/builders/${kind}/${name}`;
    const { body, number } = await demo.ask<{ body: never; number: number }>(at);
    const draft = await fetch(`${demo.control}${at}/draft`, {
      method: 'PUT',
      headers: {
        authorization: `Bearer ${demo.ownerToken}`,
        'content-type': 'application/json',
        'if-none-match': '*',
      },
      body: JSON.stringify({ body: change(body), based_on: number }),
    });
    expect(await draft.json()).toMatchObject({ faults: [] });
  };
  const publish = async (count: string): Promise<void> => {
    await button(`Publish ${count}`).click();
    await page.getByText(/Published as configuration \d+/).waitFor();
  };
  const source = () => main().getByRole('group', { name: 'The same as an expression' });
  /** The draft is on the server. */
  const untilSaved = () => page.locator('[data-draft="saved"]').waitFor();

  beforeAll(async () => {
    [demo, browser] = await Promise.all([sharedDemoWith('builders'), sharedBrowser()]);
    key = await demo.makeKey('builders', 'second');
    await demo.apply({
      'workspaces/builders/streams/orders.yaml': 'key: event.order_id\nsecurity: { api_keys: [backend, second] }\n',
      'workspaces/builders/jwt-providers/auth.yaml':
        'jwks_url: https://auth.example.com/jwks.json\nissuer: https://auth.example.com/\n',
    });
    context = await browser.newContext({
      viewport: { width: 1440, height: 900 },
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    await context.request.post(`${demo.control}/v1/session`, { data: { word: demo.ownerToken } });
    page = await guard.openPage(context);
    page.setDefaultTimeout(30_000);
  });
  afterAll(async () => {
    await closeContexts();
  });
  it('leads from the start page to Secure your endpoint: a key or a provider is chosen, and the code follows at once', async () => {
    await go('/');
    await page.getByRole('link', { name: 'Carillon, workspaces' }).click();
    await main().getByRole('link', { name: 'builders', exact: true }).click();
    await main().getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    await page.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name: 'Notifications' }).click();
    await main().getByRole('link', { name: 'Order paid' }).click();
    await main().getByRole('link', { name: 'Secure your endpoint' }).click();
    const code = main().getByRole('group', { name: 'the code in curl' });
    await expect.poll(() => code.textContent()).toContain('CARILLON_API_KEY');

    await main().locator('label', { hasText: 'JWT provider' }).click();
    // Holders of tokens would choose who is told: the code says so until a claim binds the address.
    guard.allowStatus(400);
    await main().locator('label', { hasText: 'https://auth.example.com/' }).click();
    await main().getByText('Takes effect when you publish.').waitFor();
    await main().getByLabel('Claim', { exact: true }).fill('email');
    await main().getByLabel('Field of the event').fill('event.customer.email');
    await button('Add the claim').click();
    await main().getByText('email = event.customer.email').waitFor();
    await expect.poll(() => code.textContent(), { timeout: 60_000 }).not.toContain('CARILLON_API_KEY');
    await expect.poll(() => code.textContent()).toContain('customer.email must equal the claim email of the token');
    await main().getByRole('tab', { name: 'Go' }).click();
    await main().getByRole('group', { name: 'the code in Go' }).waitFor();
    await expectAccessible(page, 'JWT provider');

    await main().locator('label', { hasText: 'API key' }).click();
    await main().locator('label', { hasText: 'backend' }).click();
    await main().getByRole('tab', { name: 'curl' }).click();
    await expect.poll(() => code.textContent(), { timeout: 60_000 }).toContain('CARILLON_API_KEY');
    await main().locator('label', { hasText: 'second' }).click();
    // Both keys again: that is what counts already, so no draft is left of it.
    const drafts = async () => (await demo.ask<{ items: object[] }>('/v1/workspaces/builders/drafts')).items.length;
    await expect.poll(drafts, { timeout: 60_000 }).toBe(0);
    await expectAccessible(page, 'secure your endpoint');
  });

  it('leads from the start page to the event stream of a rule: URL, minimum fields, code to copy, and an event sent now', async () => {
    await go('/workspaces');
    await main().getByRole('link', { name: 'builders', exact: true }).click();
    await main().getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    await page.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name: 'Notifications' }).click();
    await main().getByRole('link', { name: 'Order paid' }).click();
    await main()
      .getByRole('link', { name: /^Rules/ })
      .click();
    await main().getByRole('link', { name: 'paid', exact: true }).click();
    const stream = main().getByRole('region', { name: 'Event stream' });
    await stream.getByText(`${demo.gateway}/events/builders/orders`).first().waitFor();
    const fields = stream.getByRole('group', { name: 'Required fields' });
    for (const field of ['order_id', 'status', 'total', 'customer.email'])
      await fields.getByText(field, { exact: true }).waitFor();
    for (const [name, word] of [
      ['JavaScript', 'fetch('],
      ['Python', 'import'],
      ['Go', 'package main'],
      ['curl', 'curl -sS'],
    ] as const) {
      await stream.getByRole('tab', { name }).click();
      await expect.poll(() => stream.getByRole('group', { name: `the code in ${name}` }).textContent()).toContain(word);
    }
    await stream.getByRole('tab', { name: 'Many events' }).click();
    const batch = stream.getByRole('group', { name: 'the code for many events' });
    await expect.poll(() => batch.textContent()).toContain('application/x-ndjson');
    await stream.getByRole('tab', { name: 'curl' }).click();
    await stream.getByRole('button', { name: 'Copy the code in curl' }).click();
    expect(await page.evaluate<string>('navigator.clipboard.readText()')).toContain('/events/builders/orders');
    await stream.getByRole('button', { name: 'Send this event now' }).click();
    const sent = stream.getByRole('link', { name: /^evt_/ });
    await sent.waitFor();
    await sent.click();
    await main().getByText('Story').first().waitFor();
    await expect
      .poll(async () => (await demo.ask<{ items: object[] }>('/v1/workspaces/builders/deliveries')).items.length, {
        timeout: 30_000,
      })
      .toBe(1);
  });

  it('edits a rule as a form and as an expression, and keeps parts that the form cannot show as typed', async () => {
    await go(`${NOTIFICATION}/rules/paid`);
    const value = main().getByLabel('Value of condition 2');
    await value.fill('50');
    await value.press('Enter');
    await main().getByText('event.status == "paid" && event.total > 50').waitFor();
    expect(await main().getByLabel('Stream', { exact: true }).inputValue()).toBe('orders');
    await button('Add a condition').click();
    await main().getByLabel('Field of condition 3').fill('event.coupon');
    await main().getByLabel('How condition 3 compares').selectOption('not has');
    await main().getByText('event.total > 50 && !has(event.coupon)').waitFor();

    await main().getByRole('radio', { name: 'Expression' }).click();
    const expression = main().getByRole('textbox', { name: 'Condition' });
    await expression.click();
    await page.keyboard.press('End');
    await page.keyboard.press('ControlOrMeta+End');
    await page.keyboard.type(' && size(event.order_id) > 0 + 1');
    await main().getByRole('radio', { name: 'Form' }).click();
    await main().getByRole('textbox', { name: 'Expression, condition 4' }).waitFor();
    await main().getByRole('button', { name: 'Remove condition 3' }).click();
    const whole = 'event.status == "paid" && event.total > 50 && size(event.order_id) > 0 + 1';
    await main().getByText(whole, { exact: true }).waitFor();
    await untilSaved();
    await expectAccessible(page, 'rule as a form');

    // A mistake is told where it stands, and the form comes back once it is mended.
    await main().getByRole('radio', { name: 'Expression' }).click();
    await expression.click();
    await page.keyboard.press('ControlOrMeta+End');
    await page.keyboard.type(' &&');
    await main().getByRole('region', { name: 'When' }).locator('[data-code-field] p').last().waitFor();
    for (let times = 0; times < 3; times += 1) await page.keyboard.press('Backspace');
    await untilSaved();
    await expectAccessible(page, 'rule as an expression');
  });

  it('tries the draft on an event by the keyboard, and says what decided', async () => {
    await main().getByRole('radio', { name: 'Minimum event' }).click();
    await page.keyboard.press('Control+Enter');
    await main().getByText('Fires: 1 person is notified.').waitFor();
    await main().getByRole('region', { name: 'What ada@example.com would get' }).getByText('Hello').waitFor();
    await main().getByRole('radio', { name: 'Pasted' }).click();
    await main().getByRole('textbox', { name: 'Event as JSON' }).click();
    await page.keyboard.press('ControlOrMeta+A');
    await page.keyboard.insertText(JSON.stringify({ ...ORDER, total: 40 }));
    await page.keyboard.press('Control+Enter');
    await main().getByText('Does not fire: event.total > 50 is false: event.total is 40.').waitFor();
    await expectAccessible(page, 'test bench');
  });

  it('runs and saves what is on the screen while a field still has the focus', async () => {
    guard.allowStatus(404);
    const draft = () => demo.ask<object>('/v1/workspaces/builders/notifications/order-paid/draft').then(JSON.stringify);
    const total = main().getByLabel('Value of condition 2');
    const typeOver = async (text: string): Promise<void> => {
      await total.click();
      await page.keyboard.press('ControlOrMeta+A');
      await page.keyboard.type(text);
    };
    await main().getByRole('radio', { name: 'Form' }).click();
    await main().getByRole('textbox', { name: 'Event as JSON' }).click();
    await page.keyboard.press('ControlOrMeta+A');
    await page.keyboard.insertText(JSON.stringify({ ...ORDER, total: 60 }));
    await typeOver('1000');
    await button(/^Run/).click();
    await main().getByText('Does not fire: event.total > 1000 is false: event.total is 60.').waitFor();
    expect(await main().getByText('Run the test bench again').count()).toBe(0);
    await typeOver('2000');
    await expect.poll(draft, { timeout: 30_000 }).toContain('event.total > 2000');
    expect(await total.evaluate('document.activeElement.getAttribute("aria-label")')).toBe('Value of condition 2');

    // An expression that grows piece by piece stays one line, whatever its pieces mean on the way.
    const expression = main().getByRole('textbox', { name: 'Expression, condition 3' });
    await expression.click();
    const paste = async (text: string): Promise<void> => {
      await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(text)})`);
      await page.keyboard.press('ControlOrMeta+V');
    };
    await page.keyboard.press('ControlOrMeta+A');
    for (const [piece, text] of [
      ['event.total < 3000', 'event.total < 3000'],
      [' && size(event.order_id) > 0 + 1', '(event.total < 3000 && size(event.order_id) > 0 + 1)'],
    ] as const) {
      await paste(piece);
      await source().getByText(`event.status == "paid" && event.total > 2000 && ${text}`, { exact: true }).waitFor();
      expect(await expression.count()).toBe(1);
    }
    await page.keyboard.press('ControlOrMeta+A');
    await paste('size(event.order_id) > 0 + 1');
    await typeOver('50');
    await untilSaved();
    await expect.poll(draft).toContain('event.total > 50 && size');
  });

  it('publishes a rule and a template without any change to the sender', async () => {
    // A draft is gone once it is published, whoever asks for it then.
    guard.allowStatus(404);
    await saveDraft('templates', 'order-paid', (body: { email: object }) => ({
      ...body,
      email: { ...body.email, subject: 'New words for {{ order_id }}' },
    }));
    await go(`${NOTIFICATION}/rules/paid`);
    await button('Review and publish').click();
    await main()
      .getByText(/^Rule paid fires when .*event\.total > 50.*Before: .*more than 100/)
      .waitFor();
    await main()
      .getByText(/^When an event .*event\.total > 50.*notify the customer by email/)
      .waitFor();
    expect(await main().getByRole('link', { name: 'Open', exact: true }).count()).toBe(2);
    expect(await main().getByText('workspaces/builders/').first().isVisible()).toBe(false);
    await main().getByText('Template order-paid').first().waitFor();
    await expectAccessible(page, 'review');
    await page.getByLabel('Description').fill('Smaller orders too');
    await publish('2 changes');
    expect((await published()).rules.paid.when).toContain('event.total > 50');

    await demo.send('builders/orders', key, { ...ORDER, order_id: 'A-77', total: 60 });
    await expect
      .poll(async () => JSON.stringify(await demo.ask('/v1/workspaces/builders/inbox')), { timeout: 30_000 })
      .toContain('New words for A-77');
  });

  it('keeps what was typed when the session ends, and shows who was faster side by side', async () => {
    // A draft is gone once it is published, whoever asks for it then.
    guard.allowStatus(404);
    await go(`${NOTIFICATION}/rules/paid`);
    const value = main().getByLabel('Value of condition 2');
    await value.fill('70');
    await value.press('Enter');
    await source().getByText('event.total > 70').waitFor();
    await untilSaved();
    // Every call of the page is refused until somebody signs in again.
    guard.allowStatus(401);
    // The page may ask for something at any time, and shows the sign-in then: typing has to come first.
    await value.fill('75');
    await context.clearCookies();
    await page.getByRole('heading', { name: 'Sign in to Carillon' }).waitFor();
    await context.request.post(`${demo.control}/v1/session`, { data: { word: demo.ownerToken } });
    await go(`${NOTIFICATION}/rules/paid`);
    await source().getByText('event.total > 75').waitFor();
    await untilSaved();

    // `apply` comes in between.
    await demo.apply({
      'workspaces/builders/notifications/order-paid.yaml': [
        'name: Order paid',
        'category: orders',
        'channels: { email: { template: order-paid } }',
        'rules:',
        '  paid:',
        '    stream: orders',
        '    when: event.total > 5',
        '    recipients: { from: event, to: { email: event.customer.email }, unique_id: event_id }',
        '',
      ].join('\n'),
    });
    await go('/workspaces/builders/drafts');
    await main()
      .getByRole('heading', { name: /was changed by somebody else/ })
      .waitFor();
    expect(await button(/^Publish/).isDisabled()).toBe(true);
    const conflict = main().getByRole('region', { name: /^Conflict/ });
    await conflict.getByText('As YAML').click();
    const fileOf = async (whose: 'Theirs' | 'Mine'): Promise<string | null> =>
      conflict.getByRole('group', { name: new RegExp(`^${whose}: workspaces.builders.notifications`) }).textContent();
    expect(await fileOf('Theirs')).toMatch(/when: event\.total > 5$/m);
    expect(await fileOf('Mine')).toContain('event.total > 75');
    await expectAccessible(page, 'conflict');
    await button('Keep mine').click();
    await main().getByText('Ready').waitFor();
    await publish('1 change');
    expect((await published()).rules.paid.when).toContain('event.total > 75');
    await undo().click();
    await page.getByText('Undone.').waitFor();
    expect((await published()).rules.paid.when).toBe('event.total > 5');
  });

  it('tells the versions, compares any two, and rolls back through review', async () => {
    await go(`${NOTIFICATION}/versions`);
    await main().getByText('Current').waitFor();
    await main().getByText('“Smaller orders too”').waitFor();
    await main().getByText('Rule paid, fires when: changed').waitFor();
    await expectAccessible(page, 'versions');
    await button('Roll back to this version').last().click();
    await page.waitForURL('**/drafts');
    await publish('1 change');
    expect((await published()).rules.paid.when).toBe('event.status == "paid" && event.total > 100');
  });

  it('says which form change no longer fits after signing in again, as text to copy', async () => {
    guard.allowStatus(401, 404);
    await go(`${NOTIFICATION}/rules/paid`);
    // The session ends before the server writes the change into the expression.
    await page.route('**/expressions/check', async (route) => {
      if (!route.request().postData()?.includes('"change"')) return route.fallback();
      await context.clearCookies();
      await page.unroute('**/expressions/check');
      await route.fallback();
    });
    await main().getByLabel('Value of condition 2').fill('90');
    await page.getByRole('heading', { name: 'Sign in to Carillon' }).waitFor();
    await saveDraft('notifications', 'order-paid', (body: { rules: { paid: object } }) => ({
      ...body,
      rules: { paid: { ...body.rules.paid, when: 'event.total > 5' } },
    }));
    await context.request.post(`${demo.control}/v1/session`, { data: { word: demo.ownerToken } });
    await go(`${NOTIFICATION}/rules/paid`);
    const told = main().getByRole('alert');
    await told.getByText('is not in the condition. Somebody else changed the condition in the meantime.').waitFor();
    await expectAccessible(page, 'a dropped change');
    await told.getByRole('button', { name: 'Copy what was dropped' }).click();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(
      'condition 2 becomes: event.total is more than 90',
    );
    await told.getByRole('button', { name: 'Dismiss' }).click();
    await page.reload();
    await source().getByText('event.total > 5').waitFor();
    await expect.poll(() => told.count()).toBe(0);
    await button('Discard').click();
    await page.getByRole('button', { name: 'Discard the draft' }).click();
    await page.getByText('The draft is discarded.').waitFor();
  });

  it('makes a notification from a sentence, publishes it, and sends it to the sandbox', async () => {
    // Its own stream is not there before it is published, and its sample not before its template is.
    guard.allowStatus(400, 404);
    await go('/workspaces/builders/notifications');
    await button('New notification').click();
    const dialog = page.getByRole('dialog', { name: 'New notification' });
    await expectAccessible(page, 'new notification');
    await dialog.getByRole('button', { name: /Invoice overdue/ }).click();
    await dialog.getByText(/When an event comes and status is “overdue”/).waitFor();
    await dialog.getByRole('button', { name: 'Create the draft' }).click();
    await page.waitForURL('**/notifications/invoice-overdue/rules/first*');
    await button('Review and publish').click();
    await main().getByText('Notification invoice-overdue').waitFor();
    // If the new notification is a renamed one, it keeps who was notified.
    await main().getByText('Was it called Order paid before?').waitFor();
    await button('Keep its history').click();
    await main().getByText('Notification order-paid').waitFor();
    await expectAccessible(page, 'a history that is kept');
    await undo().click();
    await main().getByText('Notification order-paid').waitFor({ state: 'detached' });
    await publish('2 changes');
    await go('/workspaces/builders/notifications/invoice-overdue/rules/first');
    await button('Send this event now').click();
    await main().getByRole('link', { name: /^evt_/ }).waitFor();
    await expect
      .poll(async () => JSON.stringify(await demo.ask('/v1/workspaces/builders/inbox')), { timeout: 30_000 })
      .toContain('Invoice overdue');
  });
});
