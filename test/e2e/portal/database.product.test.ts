import { createPostgresDatabase, type PostgresDatabase } from '@carillon/testing/services';
import { untilFound } from '@carillon/testing';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../../support/requirements.ts';
import { sharedServer } from '../../support/shared-servers.ts';
import { readApiDocument } from '../screens/api-document.ts';
import { guardPages } from './guard.ts';
import { sharedDemo } from './shared-demo.ts';
import { closeContexts, sharedBrowser, type SharedDemo } from './support.ts';

const AT = '/workspaces/db';
const TRIED = {
  op: 'update',
  event: { id: 1, status: 'paid', email: 'ada@example.com' },
  previous: { id: 1, status: 'open', email: 'ada@example.com' },
};
const NOTIFICATION = `name: Order paid
channels:
  email: { template: paid }
rules:
  paid:
    stream: orders
    when: event.status == "nothing"
    recipients: { from: event, to: { email: event.email }, unique_id: event_id, variables: { was: previous.status } }
`;

describeWith(['chromium', 'postgres'], 'a database in the portal', () => {
  let demo: SharedDemo;
  let browser: Browser;
  let page: Page;
  let database: PostgresDatabase;
  const operations = readApiDocument();
  const guard = guardPages(() => (demo ? [demo.control] : []));
  const main = () => page.locator('main');
  const region = (name: string) => main().getByRole('region', { name, exact: true });
  const button = (name: string | RegExp) => page.getByRole('button', { name });

  beforeAll(async () => {
    const server = sharedServer('postgres').then(({ url }) => createPostgresDatabase(url));
    [demo, browser, database] = await Promise.all([sharedDemo(), sharedBrowser(), server]);
    await database.run(`
      CREATE TABLE orders (id bigint PRIMARY KEY, status text, email text, card_number text);
      CREATE TABLE log (line text);
      INSERT INTO orders VALUES (1, 'open', 'ada@example.com', '4111');`);
    await demo.makeKey('db', 'backend');
    await demo.apply({
      'workspaces/db/templates/paid/email.yaml': 'subject: Paid, was {{ was }}\nfrom: shop@example.com\n',
      'workspaces/db/templates/paid/email.txt': 'Thank you\n',
    });
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, locale: 'en-GB' });
    await context.request.post(`${demo.control}/v1/session`, { data: { word: demo.ownerToken } });
    page = await guard.openPage(context);
    page.setDefaultTimeout(15_000);
  });
  afterAll(async () => {
    await closeContexts();
    await database?.drop();
  });

  async function setUrl(open: string, url: string): Promise<void> {
    await button(open).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Value').fill(url);
    await dialog.getByRole('button', { name: 'Store the secret' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.locator('[data-draft="saved"]').waitFor();
  }
  /** Asks the product, and holds its answer against the document of the API. */
  async function answer(path: string, query = '', body?: object): Promise<unknown> {
    const at = `/v1/workspaces/db${path}`;
    const method = body ? 'POST' : 'GET';
    const operation = operations.find(({ name, match }) => name.startsWith(method) && match(at) !== null);
    const given = await demo.ask<unknown>(`${at}${query}`, body);
    expect(operation?.checkResponse(200, 'application/json', given), at).toEqual([]);
    return given;
  }
  async function publish(): Promise<void> {
    await button(/^Publish \d+ changes?$/).click();
    await page.getByText(/Published as configuration \d+/).waitFor();
  }

  it('is set up, and its changes notify by a rule of the form', async () => {
    // What only a draft has is not there as a resource yet.
    guard.allowStatus(404);
    const { url: roleUrl, password } = await database.createRole('SUPERUSER REPLICATION');
    const url = `${roleUrl}?sslmode=disable`;

    await page.goto(`${demo.control}${AT}/integrations`);
    await button('Add an integration').click();
    await page.getByRole('radio', { name: 'PostgreSQL database' }).check({ force: true });
    await page.getByLabel('Name', { exact: true }).fill('shop-db');
    await button('Create a draft').click();

    await setUrl('Set the URL', url.replace(password, 'wrong'));
    await button('Check the integration').click();
    await region('Check').getByText('Failed step: refused login').waitFor();
    await setUrl('Set another value', url);
    await button('Check the integration').click();
    await page.locator('[data-state="check-good"]').waitFor();

    const tables = region('Tables');
    await tables.getByRole('button', { name: 'List the tables' }).click();
    await tables.getByRole('group', { name: 'the fix for public.log' }).waitFor();
    await tables.getByText('public.orders').click();
    const full = tables.getByRole('group', { name: 'the SQL for the row before of public.orders' });
    await database.run((await full.textContent()) ?? '');
    await tables.getByRole('button', { name: 'List the tables' }).click();
    await full.waitFor({ state: 'detached' });
    await tables.getByText('Columns', { exact: true }).click();
    await tables.getByText('card_number', { exact: true }).click();
    await tables.getByRole('button', { name: 'Draft the stream' }).click();
    await tables.getByRole('link', { name: 'Review and publish' }).click();
    await publish();

    await page.goto(`${demo.control}${AT}/streams/orders`);
    const source = region('Source');
    await source.getByText('Running').waitFor();
    await source.getByText('read since').waitFor();
    await database.run("UPDATE orders SET status = 'paid' WHERE id = 1");
    const change = region('Newest changes').getByRole('listitem').first();
    await change.getByText('Updated in public.orders').waitFor();
    expect(await change.textContent()).toContain('statusopen → paid');
    await source.getByText('Lag').waitFor();
    await change.getByText('What came in').click();
    await change.getByText('ada@example.com').first().waitFor();
    expect(await change.textContent()).not.toContain('4111');

    await demo.apply({ 'workspaces/db/notifications/order-paid.yaml': NOTIFICATION });
    await page.goto(`${demo.control}${AT}/notifications/order-paid/rules/paid`);
    await main().getByLabel('How condition 1 compares').selectOption({ label: 'changes' });
    await main().getByLabel('Value of condition 1').fill('paid');
    await page
      .getByRole('group', { name: 'The same as an expression' })
      .getByText('changedTo(event.status, "paid")')
      .waitFor();
    await main().getByText('Created rows').click();
    await page.locator('[data-draft="saved"]').waitFor();
    const bench = region('Test bench');
    await bench.getByRole('radio', { name: 'Pasted' }).click();
    await page.locator('[data-code-field="Change as JSON"] .cm-content').click();
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.insertText(JSON.stringify(TRIED));
    await bench.getByRole('button', { name: /^Run/ }).click();
    await bench.getByText('Fires: 1 person is notified.').waitFor();
    const values = await bench
      .getByRole('list', { name: 'Values of the parts' })
      .getByRole('listitem')
      .allTextContents();
    expect(values.slice(1)).toEqual(['event.status"paid"', 'previous.status"open"']);
    await button('Review and publish').click();
    await publish();
    await database.run("UPDATE orders SET status = 'open'; UPDATE orders SET status = 'paid'");
    const subjects = await untilFound('the message', async () => {
      const messages = await demo.inbox<{ readonly subject: string }>('db');
      return messages.length > 0 ? messages.map(({ subject }) => subject) : undefined;
    });
    expect(subjects).toEqual(['Paid, was open']);
    // The scripted tests rest on the document of the API: the product's answers about changes are as it says.
    // The list of events follows the message.
    const lines = await untilFound('the trace of the change', async () => {
      const newest = await answer('/events', '?stream=db/orders&limit=1');
      const [{ id }] = (newest as { readonly items: readonly [{ readonly id: string }] }).items;
      const { steps } = (await answer(`/events/${id}/trace`)) as {
        readonly steps: readonly { readonly lines: string[] }[];
      };
      const found = steps.flatMap((step) => step.lines);
      return found.length > 1 ? found : undefined;
    });
    expect(lines).toEqual(expect.arrayContaining(['  event.status  →  "paid"', '  previous.status  →  "open"']));
    await answer('/sources');
    await answer('/rules/order-paid.paid/test', '', { event: JSON.stringify(TRIED) });
    await page.goto(`${demo.control}${AT}/inbox`);
    await main().getByText('Paid, was open').first().waitFor();
  });
});
