import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { expectAccessible, expectToFit } from '../portal/accessible.ts';
import type { Call } from './scripted-api.ts';
import {
  serveCluster,
  serveReadStream,
  serveSources,
  serveTables,
  serveTopicStream,
  sourceWith,
} from './scripted-sources.ts';
import { testScreens } from './test-screens.ts';

const EVENTS = 'GET /v1/workspaces/{workspace}/events';
const FIELDS = 'GET /v1/workspaces/{workspace}/streams/{name}/fields';
const TABLES = 'GET /v1/workspaces/{workspace}/integrations/{name}/tables';
const SAVE = 'PUT /v1/workspaces/{workspace}/{kind}/{name}/draft';
const NOTIFICATIONS = 'GET /v1/workspaces/{workspace}/notifications';
const AT = '/workspaces/shop/streams/orders';

testScreens('A stream that reads a database', ({ api, open }) => {
  const main = (page: Page) => page.locator('main');
  const region = (page: Page, name: string) => main(page).getByRole('region', { name, exact: true });

  /** Serves changes of `public.orders`, newest first. */
  function serveChanges(...changes: readonly object[]): void {
    const [event] = api.example(EVENTS)['items'] as readonly object[];
    const full = { op: 'update', table: 'public.orders', fields: [], more: 0, unknown: [], before_known: true };
    const items = changes.map((change, at) => ({
      ...event,
      id: `evt_0GMPXQ2V7T1C9H4B8KJ5N6R3W${at}`,
      change: { ...full, ...change },
    }));
    api.answer(EVENTS, { items, next: null });
  }

  it('shows its source with lag, last change and tables, and neither an address nor an event to send', async () => {
    serveReadStream(api);
    const fix = 'ALTER TABLE public.orders ADD PRIMARY KEY (id);';
    const table = { reason: 'no_identity', sentence: 'public.orders has no key.', fix };
    serveSources(
      api,
      sourceWith(api, {
        lag_seconds: 75,
        sentence: 'Carillon reads the changes, except those of 1 of 2 tables.',
        lag_bytes: 1_534_000,
        last_change_at: '2026-11-28T09:12:04.000Z',
        tables: [
          { table: 'public.orders', since: null, problem: table, lag_records: null, gap: null },
          { table: 'public.users', since: '2026-11-28T09:00:00.000Z', problem: null, lag_records: 340, gap: null },
        ],
      }),
    );
    const page = await open(AT);
    const source = region(page, 'Source');
    await source.getByText('Running').waitFor();
    await source.getByText('except those of 1 of 2 tables').waitFor();
    await source.getByText('1 min 15 s, 1.5 MB not read yet').waitFor();
    await source.getByRole('link', { name: 'shop-db' }).waitFor();
    expect(await source.getByRole('group', { name: 'the fix for public.orders' }).textContent()).toBe(fix);
    // The stream does not read the other table of the source.
    expect(await source.textContent()).not.toContain('public.users');
    await region(page, 'Newest changes').waitFor();
    for (const name of ['URL', 'Send an event', 'Code']) expect(await region(page, name).count()).toBe(0);
    await expectAccessible(page, 'a stream that reads a database');
    await expectToFit(page, 390);
  });

  it('shows the changed fields of its newest changes with both values', async () => {
    serveReadStream(api);
    serveChanges(
      { fields: [{ field: 'status', before: '"open"', after: '"paid"' }], unknown: ['notes'] },
      { fields: [], before_known: false },
      { op: 'create' },
      { fields: [{ field: 'total', before: null, after: '12.5' }], more: 3 },
    );
    const page = await open(AT);
    const changes = region(page, 'Newest changes').getByRole('listitem');
    await changes.first().waitFor();
    const texts = await changes.allTextContents();
    expect(texts[0]).toContain('Updated in public.orders');
    expect(texts[0]).toContain('statusopen → paid');
    expect(texts[0]).toContain('Unknown: notes.');
    expect(texts[1]).toContain('The row before is unknown.');
    expect(texts[2]).toContain('Created in public.orders');
    expect(texts[3]).toContain('totalnothing → 12.5');
    expect(texts[3]).toContain('and 3 more');
    await expectAccessible(page, 'changes of a stream');
  });

  it('has the SQL to copy for each table whose newest update came without the row before', async () => {
    serveReadStream(api);
    serveChanges(
      { table: 'public.payments' },
      { before_known: false },
      { table: 'public.payments', before_known: false },
      { table: 'public.people', op: 'create', before_known: false },
    );
    const page = await open(AT);
    const changes = region(page, 'Newest changes');
    const sql = changes.getByRole('group', { name: 'the SQL for the row before of public.orders' });
    expect(await sql.textContent()).toBe('ALTER TABLE public.orders REPLICA IDENTITY FULL;');
    expect(await changes.getByRole('note').count()).toBe(1);
    await expectAccessible(page, 'changes without the row before');
    await expectToFit(page, 390);
  });

  /** Serves the fields seen of `public.orders`, whose card number is left out. */
  function serveFields(...items: readonly object[]): void {
    const tables = [{ table: 'public.orders', key: 'event.id', without: ['card_number'] }];
    api.answer(FIELDS, { stream: 'shop/orders', source: { integration: 'shop-db', tables }, items, next: null });
  }

  it('shows the table of each field seen', async () => {
    serveReadStream(api);
    const [field] = api.example(FIELDS)['items'] as readonly object[];
    serveFields({ ...field, tables: ['public.orders', 'public.payments'] });
    const page = await open(AT);
    const fields = region(page, 'Fields seen');
    await fields.getByRole('columnheader', { name: 'Table' }).waitFor();
    await fields.getByRole('cell', { name: 'public.orders, public.payments' }).waitFor();
    expect(api.calls(TABLES)).toEqual([]);
    await expectAccessible(page, 'fields seen of a database');
    await expectToFit(page, 390);
  });

  it('lists the columns that its changes will have, with type and key, before the first change', async () => {
    serveReadStream(api);
    serveFields();
    serveTables(api, { table: 'public.orders' }, { table: 'public.people', columns: [['email', 'text']] });
    const page = await open(AT);
    const rows = region(page, 'Fields seen').getByRole('row');
    await rows.first().waitFor();
    expect(await rows.allTextContents()).toEqual([
      'ColumnTypeKeyTable',
      'idbigintkeypublic.orders',
      'statustext–public.orders',
    ]);
    await expectAccessible(page, 'columns of a stream');
    await expectToFit(page, 390);
  });

  it('says who can see the columns, and does not read them for others', async () => {
    serveReadStream(api);
    serveFields();
    const page = await open(AT, { as: 'viewer' });
    await region(page, 'Fields seen')
      .getByText('Only owners and editors of the workspace shop can do this.', { exact: false })
      .waitFor();
    expect(api.calls(TABLES)).toEqual([]);
  });

  it('is edited by its tables, keys and columns to leave out', async () => {
    serveReadStream(api);
    serveSources(api, sourceWith(api, {}));
    serveTables(api, { table: 'public.orders' }, { table: 'public.payments' });
    api.answer(NOTIFICATIONS, { items: [], next: null });
    api.answer(SAVE, ({ body }: Call) => ({
      ...api.example(SAVE),
      kind: 'stream',
      name: 'orders',
      body: (body as { body: object }).body,
    }));
    const page = await open(AT);
    const settings = region(page, 'Settings');
    expect(await settings.getByLabel('Key of public.orders').isDisabled()).toBe(true);
    expect(await settings.getByLabel('Websites that may send events').count()).toBe(0);
    expect(await region(page, 'Who may send').count()).toBe(0);
    expect(api.calls(TABLES)).toEqual([]);
    await settings.getByLabel('Table to add').focus();
    await settings.locator('option[value="public.payments"]').waitFor({ state: 'attached' });
    await settings.getByLabel('Table to add').fill('public.payments');
    await settings.getByRole('button', { name: 'Add the table' }).click();
    expect(await settings.getByLabel('Key of public.payments').inputValue()).toBe('event.id');
    // Without the table in the list the key is left to the person, because it is fixed once it is published.
    await settings.getByLabel('Table to add').fill('public.later');
    await page.keyboard.press('Enter');
    expect(await settings.getByLabel('Key of public.later').inputValue()).toBe('');
    await settings.getByRole('button', { name: 'Remove public.later' }).click();
    await settings.getByLabel('Key of public.payments').fill('event.order_id');
    await settings.getByLabel('Columns to leave out').fill('public.orders.card_number\n');
    await expect
      .poll(() => (api.calls(SAVE).at(-1)?.body as { body?: object } | undefined)?.body)
      .toEqual({
        from: {
          integration: 'shop-db',
          tables: { 'public.orders': 'event.id', 'public.payments': 'event.order_id' },
          without: ['public.orders.card_number'],
        },
      });
    await settings.getByRole('button', { name: 'Remove public.payments' }).click();
    await settings.getByLabel('Key of public.payments').waitFor({ state: 'detached' });
    await expectAccessible(page, 'the settings of a stream that reads a database');
    await expectToFit(page, 390);
  });

  it('of topics shows events, and is edited by its topics and keys', async () => {
    serveCluster(api);
    serveTopicStream(api, 'json');
    serveSources(api, sourceWith(api, { name: 'bus', kind: 'kafka' }));
    api.answer(NOTIFICATIONS, { items: [], next: null });
    api.answer(EVENTS, { items: [], next: null });
    api.answer(SAVE, ({ body }: Call) => ({ ...api.example(SAVE), body: (body as { body: object }).body }));
    const page = await open(AT);
    await region(page, 'Newest events').getByText('Carillon reads a topic from its end').waitFor();
    const settings = region(page, 'Settings');
    expect(await settings.getByLabel('Key of app.public.orders').isDisabled()).toBe(true);
    expect(await settings.getByLabel('Format').isDisabled()).toBe(true);
    // No column is left out of a record that is an event.
    expect(await settings.getByLabel('Columns to leave out').count()).toBe(0);
    await settings.getByLabel('Topic to add').fill('app.public.payments');
    await page.keyboard.press('Enter');
    await expect
      .poll(() => (api.calls(SAVE).at(-1)?.body as { body?: object } | undefined)?.body)
      .toEqual({
        from: {
          integration: 'bus',
          topics: { 'app.public.orders': 'event.id', 'app.public.payments': 'event.id' },
        },
      });
    await expectAccessible(page, 'a stream that reads topics');
    await expectToFit(page, 390);
  });
});
