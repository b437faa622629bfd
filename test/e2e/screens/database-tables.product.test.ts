import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { expectAccessible, expectToFit } from '../portal/accessible.ts';
import type { Call } from './scripted-api.ts';
import {
  serveCluster,
  serveDatabase,
  serveReadStream,
  serveSources,
  serveTables,
  serveTopics,
  sourceWith,
} from './scripted-sources.ts';
import { testScreens, type ScreenTest } from './test-screens.ts';

const TABLES = 'GET /v1/workspaces/{workspace}/integrations/{name}/tables';
const CHECK = 'POST /v1/workspaces/{workspace}/integrations/{name}/check';
const SAVE = 'PUT /v1/workspaces/{workspace}/{kind}/{name}/draft';
const DRAFT = 'GET /v1/workspaces/{workspace}/{kind}/{name}/draft';
const DRAFTS = 'GET /v1/workspaces/{workspace}/drafts';
type Api = ScreenTest['api'];

const AT = '/workspaces/shop/integrations/shop-db';

/** Answers each saving of a draft with it, and lists it from then on. */
function serveSavings(api: Api): void {
  const [listed] = api.example(DRAFTS)['items'] as readonly object[];
  const items: { readonly name: string }[] = [];
  const bodies = new Map<unknown, object>();
  const draftOf = (name: unknown) => ({
    ...api.example(SAVE),
    ...items.find((item) => item.name === name),
    body: bodies.get(name),
  });
  api.answer(DRAFTS, () => ({ items, next: null }));
  api.answer(SAVE, ({ params, body }: Call) => {
    const name = params['name'] ?? '';
    bodies.set(name, (body as { body: object }).body);
    items.push({ ...listed, kind: 'stream', name, action: 'create', number: null } as { name: string });
    return draftOf(name);
  });
  api.answer(DRAFT, ({ params }: Call) => draftOf(params['name']));
}

const savings = (api: Api): readonly unknown[] =>
  api.calls(SAVE).map(({ params, body }) => [params['kind'], params['name'], (body as { body: object }).body]);

testScreens('The check of a database', ({ api, open }) => {
  it('shows each problem with the SQL that fixes it, and recommended changes as warnings', async () => {
    serveDatabase(api);
    serveSources(api, sourceWith(api, {}));
    const role = 'ALTER ROLE carillon REPLICATION;';
    const limit = "ALTER SYSTEM SET max_slot_wal_keep_size = '10GB';";
    api.answer(CHECK, {
      steps: [
        { step: 'integration', ok: true, detail: 'kind postgres' },
        { step: 'server', ok: true, detail: 'PostgreSQL 15.18' },
        { step: 'may_not_replicate', ok: false, detail: 'The role may not replicate.', fix: role },
        { step: 'warning', ok: true, detail: 'An unread slot may fill the disk.', fix: limit },
      ],
    });
    const page = await open(AT);
    const check = page.locator('main').getByRole('region', { name: 'Check', exact: true });
    await check.getByRole('button', { name: 'Check the integration' }).click();
    await check.getByText('Failed step: may not replicate').waitFor();
    await check.getByText('The role may not replicate.').waitFor();
    expect(await check.getByRole('group', { name: 'the fix of may not replicate' }).textContent()).toBe(role);
    await check.getByText('An unread slot may fill the disk.').waitFor();
    expect(await check.getByRole('group', { name: 'the fix of warning' }).textContent()).toBe(limit);
    await expectAccessible(page, 'the check of a database');
    await expectToFit(page, 390);
  });
});

testScreens('The tables of a database', ({ api, open }) => {
  const card = (page: Page) => page.locator('main').getByRole('region', { name: 'Tables', exact: true });
  const settings = (page: Page, table: string) => card(page).getByRole('group', { name: `Settings of ${table}` });

  async function openTables(serveMore = (): void => undefined): Promise<Page> {
    serveDatabase(api);
    serveSources(api, sourceWith(api, {}));
    serveMore();
    const page = await open(AT);
    await card(page).getByRole('button', { name: 'List the tables' }).click();
    return page;
  }

  it('become one stream each, with the primary key as key and without the columns that are left out', async () => {
    serveTables(api, { table: 'public.orders' }, { table: 'crm.contacts', columns: [['email', 'text', 'key']] });
    const page = await openTables();
    serveSavings(api);
    await card(page).getByText('public.orders').click();
    await card(page).getByText('crm.contacts').click();
    const orders = settings(page, 'public.orders');
    const key = orders.getByLabel('Key', { exact: true }).locator('option:checked');
    expect(await key.textContent()).toBe('event.id');
    await orders.getByText('Columns', { exact: true }).click();
    expect(await orders.getByRole('checkbox', { name: /^id/ }).isDisabled()).toBe(true);
    await orders.getByText('card_number', { exact: true }).click();
    await expectAccessible(page, 'chosen tables');
    await expectToFit(page, 390);
    await card(page).getByRole('button', { name: 'Draft 2 streams' }).click();
    await card(page).getByRole('list', { name: 'New streams' }).getByRole('link', { name: 'orders' }).waitFor();
    expect(savings(api)).toEqual([
      ['streams', 'crm-contacts', { from: { integration: 'shop-db', tables: { 'crm.contacts': 'event.email' } } }],
      [
        'streams',
        'orders',
        {
          from: {
            integration: 'shop-db',
            tables: { 'public.orders': 'event.id' },
            without: ['public.orders.card_number'],
          },
        },
      ],
    ]);
  });

  it('become one stream together if the user chooses so', async () => {
    serveTables(
      api,
      { table: 'public.orders' },
      {
        table: 'public.payments',
        columns: [
          ['id', 'bigint', 'key'],
          ['order_id', 'bigint'],
        ],
      },
    );
    const page = await openTables();
    serveSavings(api);
    await card(page).getByText('public.orders').click();
    await card(page).getByText('public.payments').click();
    await settings(page, 'public.payments').getByLabel('Key', { exact: true }).selectOption('order_id');
    await card(page).getByText('One stream for all tables').click();
    await card(page).getByLabel('Name of the stream').fill('order-flow');
    await card(page).getByRole('button', { name: 'Draft the stream' }).click();
    await card(page).getByRole('link', { name: 'order-flow' }).waitFor();
    expect(savings(api)).toEqual([
      [
        'streams',
        'order-flow',
        {
          from: {
            integration: 'shop-db',
            tables: { 'public.orders': 'event.id', 'public.payments': 'event.order_id' },
          },
        },
      ],
    ]);
  });

  it('show the SQL for a table that cannot be read, and for a table without previous rows', async () => {
    const fix = 'ALTER TABLE public.log ADD PRIMARY KEY (id);';
    serveTables(
      api,
      {
        table: 'public.log',
        identity: 'nothing',
        problem: {
          reason: 'no_identity',
          sentence: 'public.log has neither a primary key nor a replica identity.',
          fix,
        },
      },
      { table: 'public.Order Items', identity: 'key' },
    );
    const page = await openTables();
    expect(
      await card(page)
        .getByRole('checkbox', { name: /^public\.log/ })
        .isDisabled(),
    ).toBe(true);
    expect(await card(page).getByRole('group', { name: 'the fix for public.log' }).textContent()).toBe(fix);
    await card(page).getByText('public.Order Items').click();
    const sql = card(page).getByRole('group', { name: 'the SQL for the row before of public.Order Items' });
    expect(await sql.textContent()).toBe('ALTER TABLE public."Order Items" REPLICA IDENTITY FULL;');
    await expectAccessible(page, 'tables with problems');
  });

  it('stay chosen while they are listed again, and lose their warning once FULL is set', async () => {
    serveTables(api, { table: 'public.orders', identity: 'key' });
    const page = await openTables();
    await card(page).getByText('public.orders').click();
    const sql = card(page).getByRole('group', { name: 'the SQL for the row before of public.orders' });
    await sql.waitFor();
    serveTables(api, { table: 'public.orders', identity: 'full' });
    await card(page).getByRole('button', { name: 'List the tables' }).click();
    await sql.waitFor({ state: 'detached' });
    await settings(page, 'public.orders').waitFor();
  });

  it('say why the database cannot be reached', async () => {
    serveDatabase(api);
    api.answer(TABLES, {
      items: [],
      next: null,
      problem: { reason: 'refused_login', sentence: 'The database refuses user or password.', fix: null },
    });
    const page = await openTables();
    await card(page).getByText('The database refuses user or password.').waitFor();
  });

  it('are found by name among many', async () => {
    serveTables(api, ...Array.from({ length: 300 }, (_, at) => ({ table: `public.t${String(at).padStart(3, '0')}` })));
    const page = await openTables();
    await card(page).getByText('These are 100 of 300 tables.').waitFor();
    await card(page).getByLabel('Find a table').fill('t29');
    await card(page).getByText('public.t299').waitFor();
    expect(await card(page).getByRole('list', { name: 'Tables' }).getByRole('listitem').count()).toBe(10);
  });

  it('do not take a name that another stream has', async () => {
    serveTables(api, { table: 'public.orders' });
    const page = await openTables(() => serveReadStream(api));
    await card(page).getByText('public.orders').click();
    expect(await card(page).getByLabel('Name of the stream').inputValue()).toBe('orders-2');
    await card(page).getByLabel('Name of the stream').fill('orders');
    await card(page).getByText('This name is already in use.').waitFor();
    expect(await card(page).getByRole('button', { name: 'Draft the stream' }).isDisabled()).toBe(true);
  });
});

testScreens('The topics of a Kafka cluster', ({ api, open }) => {
  const card = (page: Page) => page.locator('main').getByRole('region', { name: 'Topics', exact: true });

  async function openTopics(): Promise<Page> {
    serveCluster(api);
    serveSources(api);
    const page = await open('/workspaces/shop/integrations/bus');
    await card(page).getByRole('button', { name: 'List the topics' }).click();
    return page;
  }

  it('become streams with their keys and their format, and name the streams that read them', async () => {
    const sentence = 'app.public.log is compacted away.';
    serveTopics(
      api,
      { topic: 'app.public.log', problem: { reason: 'no_topic', sentence, fix: null } },
      { topic: 'app.public.orders' },
      { topic: 'app.public.payments', partitions: 1 },
    );
    const page = await openTopics();
    serveSavings(api);
    const box = (name: string) => card(page).getByRole('checkbox', { name });
    await card(page).getByText('app.public.orders', { exact: true }).click();
    await card(page).getByText('app.public.payments', { exact: true }).click();
    await card(page).getByText(sentence).waitFor();
    expect(await box('app.public.log').isDisabled()).toBe(true);
    await card(page).getByLabel('Key of app.public.payments').fill('event.order_id');
    await card(page).getByText('A record is a change of a row').click();
    await card(page).getByText('One stream for all topics').click();
    await card(page).getByLabel('Name of the stream').fill('orders');
    await expectAccessible(page, 'chosen topics');
    await expectToFit(page, 390);
    await card(page).getByRole('button', { name: 'Draft the stream' }).click();
    await card(page).getByRole('link', { name: 'Review and publish' }).waitFor();
    const topics = { 'app.public.orders': 'event.id', 'app.public.payments': 'event.order_id' };
    expect(savings(api)).toEqual([['streams', 'orders', { format: 'debezium', from: { integration: 'bus', topics } }]]);
    // The draft names its stream now, and still does on the next visit.
    await box('app.public.orders 3 partitions · in the stream orders').waitFor();
    await page.reload();
    await card(page).getByRole('button', { name: 'List the topics' }).click();
    await box('app.public.payments 1 partition · in the stream orders').waitFor();
  });

  it('say why the cluster cannot be reached', async () => {
    const problem = { reason: 'refused_login', sentence: 'The Kafka cluster refuses user or password.', fix: null };
    api.answer('GET /v1/workspaces/{workspace}/integrations/{name}/topics', { items: [], next: null, problem });
    const page = await openTopics();
    await card(page).getByText(problem.sentence).waitFor();
  });
});
