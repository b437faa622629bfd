import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { expectAccessible, expectToFit } from '../portal/accessible.ts';
import type { Call } from './scripted-api.ts';
import { serveReadStream, serveSources, serveTables, sourceWith } from './scripted-sources.ts';
import { testScreens } from './test-screens.ts';

const CHECK = 'POST /v1/workspaces/{workspace}/expressions/check';
const NOTIFICATION = 'GET /v1/workspaces/{workspace}/notifications/{name}';
const SAVE = 'PUT /v1/workspaces/{workspace}/{kind}/{name}/draft';
const DISCARD = 'DELETE /v1/workspaces/{workspace}/{kind}/{name}/draft';
const EVENTS = 'GET /v1/workspaces/{workspace}/events';
const FIELDS = 'GET /v1/workspaces/{workspace}/streams/{name}/fields';
const TABLES = 'GET /v1/workspaces/{workspace}/integrations/{name}/tables';
const SAMPLE = 'GET /v1/workspaces/{workspace}/rules/{name}/sample';
const TEST = 'POST /v1/workspaces/{workspace}/rules/{name}/test';
const RULE = '/workspaces/shop/notifications/order-paid/rules/paid';
const SOURCE = 'event.status == "paid"';

type Change = { readonly kind: string; readonly condition: { readonly [field: string]: unknown } };

testScreens('A rule on a stream that reads a database', ({ api, open }) => {
  const main = (page: Page) => page.locator('main');
  const condition = { kind: 'compare', path: ['event', 'status'], op: '==', value: 'paid' };

  /** Serves the form of the rule. A change of it replaces its only condition. */
  function serveRule(when = SOURCE): void {
    serveReadStream(api);
    serveSources(api, sourceWith(api, {}));
    const resource = api.example(NOTIFICATION) as { readonly body: { readonly rules: object } };
    const rules = {
      paid: {
        stream: 'orders',
        when,
        recipients: { from: 'event', to: { email: 'event.email' }, unique_id: 'event_id' },
      },
    };
    api.answer(NOTIFICATION, { ...resource, body: { ...resource.body, rules } });
    const conditions = new Map<string, object>([[SOURCE, condition]]);
    api.answer(CHECK, ({ body }: Call) => {
      const { source, change } = body as { readonly source: string; readonly change?: Change };
      const written = change ? `is(${JSON.stringify(change.condition)})` : source;
      if (change) conditions.set(written, change.condition);
      const known = conditions.get(written) ?? { kind: 'expression', source: written };
      const form = { match: 'all', conditions: [{ ...known, start: 0, end: written.length }] };
      return { ...api.example(CHECK), source: written, form, faults: [], warnings: [] };
    });
    api.answer(SAVE, ({ body }: Call) => ({ ...api.example(SAVE), body: (body as { body: object }).body }));
  }

  const changes = (): readonly Change[] =>
    api.calls(CHECK).flatMap(({ body }) => {
      const { change } = body as { readonly change?: Change };
      return change ? [change] : [];
    });
  const savedRule = (): { readonly changes?: readonly string[] } | undefined =>
    (api.calls(SAVE).at(-1)?.body as { body: { rules: { paid: { changes?: readonly string[] } } } } | undefined)?.body
      .rules.paid;

  it('compares a field with the row before by the form', async () => {
    serveRule();
    const page = await open(RULE);
    const compares = main(page).getByLabel('How condition 1 compares');
    await main(page).getByText('Created rows').waitFor();
    // Both values are typed before the server has answered at all.
    const letGo = api.hold(CHECK);
    await compares.selectOption({ label: 'changes' });
    await main(page).getByLabel('Value before of condition 1').focus();
    await page.keyboard.type('open');
    await page.keyboard.press('Tab');
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.type('paid');
    letGo();
    await expect
      .poll(() => changes().at(-1)?.condition)
      .toEqual({ kind: 'changed_from_to', path: ['event', 'status'], from: 'open', value: 'paid', not: false });
    await page.locator('[data-draft="saved"]').waitFor();
    expect(await main(page).getByLabel('Value before of condition 1').inputValue()).toBe('open');
    // An empty field is any value. Text without a letter is typed with its quotes.
    await main(page).getByLabel('Value before of condition 1').fill('""');
    await expect.poll(() => changes().at(-1)?.condition['from']).toBe('');
    await main(page).getByLabel('Value before of condition 1').fill('');
    await expect
      .poll(() => changes().at(-1)?.condition)
      .toEqual({ kind: 'changed_to', path: ['event', 'status'], value: 'paid', not: false });
    await main(page).getByRole('heading', { name: 'When' }).click();
    expect(await main(page).getByLabel('Value before of condition 1').inputValue()).toBe('');
    await expectAccessible(page, 'a condition on a change');
    await expectToFit(page, 390);
    await page.setViewportSize({ width: 1440, height: 900 });
    await main(page).getByLabel('Value of condition 1').fill('');
    await expect
      .poll(() => changes().at(-1)?.condition)
      .toEqual({ kind: 'changed', path: ['event', 'status'], not: false });
    // A change from a value alone is no row.
    await main(page).getByLabel('Value before of condition 1').fill('open');
    await main(page).getByRole('heading', { name: 'When' }).click();
    await main(page).getByText('Enter the value after the change, or empty both.').waitFor();
    await main(page).getByLabel('Value before of condition 1').fill('');
  });

  it('says with the SQL that it cannot fire on a table that sends no row before', async () => {
    const [event] = api.example(EVENTS)['items'] as readonly object[];
    const change = { op: 'update', table: 'public.orders', fields: [], more: 0, unknown: [], before_known: false };
    api.answer(EVENTS, { items: [{ ...event, change }], next: null });
    serveRule('changedTo(event.status, "paid")');
    const page = await open(`${RULE}?view=expression`);
    const when = main(page).getByRole('region', { name: 'When' });
    await when.getByText('ALTER TABLE public.orders REPLICA IDENTITY FULL;').waitFor();
    await expectAccessible(page, 'a rule that needs the row before');
    await expectToFit(page, 390);
    await when.locator('.cm-content').click();
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.press('Delete');
    await page.keyboard.type('event.id > 1');
    await expect.poll(() => when.getByRole('note').count()).toBe(0);
  });

  it('completes the columns of its tables before the first change', async () => {
    serveRule();
    const tables = [{ table: 'public.orders', key: 'event.id', without: ['card_number'] }];
    api.answer(FIELDS, { stream: 'shop/orders', source: { integration: 'shop-db', tables }, items: [], next: null });
    serveTables(api, { table: 'public.orders' }, { table: 'public.people', columns: [['name', 'text']] });
    const page = await open(`${RULE}?view=expression`);
    const address = main(page).getByLabel('Field for Email address');
    await address.locator('option[value="event.status"]').waitFor({ state: 'attached' });
    expect(await address.locator('option').allTextContents()).toEqual(['Choose a field', 'event.id', 'event.status']);
    await page.locator('[data-code-field="Condition"] .cm-content').click();
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.press('Delete');
    await page.keyboard.type('event.');
    await page.locator('.cm-tooltip-autocomplete').getByText('event.status').waitFor();
    expect(await page.locator('.cm-tooltip-autocomplete').textContent()).not.toContain('card_number');
    await main(page).getByRole('radio', { name: 'Form' }).click();
    expect(api.calls(TABLES)).toHaveLength(1);
  });

  it('begins with a column of the table that holds an address, and keeps it when an example is chosen', async () => {
    serveRule();
    const tables = [{ table: 'public.orders', key: 'event.id', without: [] }];
    api.answer(FIELDS, { stream: 'shop/orders', source: { integration: 'shop-db', tables }, items: [], next: null });
    serveTables(api, {
      table: 'public.orders',
      columns: [
        ['id', 'bigint'],
        ['customer_email', 'text'],
      ],
    });
    const page = await open('/workspaces/shop/notifications?new=yes&stream=orders');
    const tell = page.getByRole('dialog').getByLabel('tell', { exact: true });
    await expect.poll(() => tell.inputValue()).toBe('event.customer_email');
    await page.getByRole('button', { name: 'Order paid' }).click();
    expect(await page.getByRole('dialog').getByLabel('Name', { exact: true }).inputValue()).toBe('Order paid');
    expect(await tell.inputValue()).toBe('event.customer_email');
  });

  it('evaluates the changes that are checked, and creates and updates unless the user says otherwise', async () => {
    serveRule();
    const page = await open(RULE);
    const box = (name: string) => main(page).getByRole('checkbox', { name });
    await box('Created rows').waitFor();
    const checked = await Promise.all(['Created', 'Updated', 'Deleted'].map((name) => box(`${name} rows`).isChecked()));
    expect(checked).toEqual([true, true, false]);
    await box('Created rows').uncheck();
    await expect.poll(() => savedRule()?.changes).toEqual(['update']);
    await box('Deleted rows').check();
    await expect.poll(() => savedRule()?.changes).toEqual(['update', 'delete']);
    // The rule is as it was published, which names no changes.
    api.answer(DISCARD, api.example(DISCARD));
    await box('Deleted rows').uncheck();
    await box('Created rows').check();
    await expect.poll(() => api.calls(DISCARD).length).toBe(1);
    await expectAccessible(page, 'the changes of a rule');
  });

  it('is tried on a change with both rows', async () => {
    serveRule();
    api.answer(TEST, api.example(TEST));
    const page = await open(RULE);
    await main(page).getByRole('radio', { name: 'Pasted' }).click();
    const field = main(page).getByRole('textbox', { name: 'Change as JSON' });
    expect(JSON.parse((await field.innerText()) || '{}')).toEqual({ op: 'update', event: {}, previous: {} });
    const change = { op: 'update', event: { status: 'paid' }, previous: { status: 'open' } };
    await page.locator('[data-code-field="Change as JSON"] .cm-content').click();
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.insertText(JSON.stringify(change));
    await main(page).getByRole('button', { name: /^Run/ }).click();
    await expect
      .poll(() => api.calls(TEST).map(({ body }) => JSON.parse((body as { event: string }).event) as object))
      .toEqual([change]);
  });

  it('is tried on the smallest change that fires it', async () => {
    serveRule();
    const change = '{"op":"update","event":{"status":"paid"},"previous":{"status":"open"}}';
    api.answer(SAMPLE, { ...api.example(SAMPLE), event: '{"status":"paid"}', change });
    api.answer(TEST, api.example(TEST));
    const page = await open(RULE);
    await main(page).getByRole('radio', { name: 'Minimum event' }).click();
    await main(page).getByRole('button', { name: /^Run/ }).click();
    await expect.poll(() => api.calls(TEST).map(({ body }) => (body as { event: string }).event)).toEqual([change]);
  });

  it('has neither an address nor an event to send', async () => {
    serveRule();
    const page = await open(RULE);
    const stream = main(page).getByRole('region', { name: 'Event stream' });
    await stream.getByText('reads public.orders of shop-db. You send no events to it.').waitFor();
    expect(await stream.getByRole('heading', { name: 'URL' }).count()).toBe(0);
  });
});
