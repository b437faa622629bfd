import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { expectAccessible, expectToFit, picture } from '../portal/accessible.ts';
import { startJob } from './jobs.ts';
import { problem, type Call } from './scripted-api.ts';
import { testScreens } from './test-screens.ts';

type Resource = { readonly kind: string; readonly name: string };
type Given = { readonly items: readonly object[] };

const WORKSPACES = 'GET /v1/workspaces';
const PROMOTE = 'POST /v1/workspaces/{workspace}/promote';
const PROMOTIONS = 'POST /v1/workspaces/{workspace}/promotions';
const COPY = 'POST /v1/workspaces/{workspace}/copy';
const DRAFTS = 'GET /v1/workspaces/{workspace}/drafts';
const NOTIFICATIONS = 'GET /v1/workspaces/{workspace}/notifications';
const PLAN = 'POST /v1/workspaces/{workspace}/drafts/plan';
const AT = '/workspaces/shop-test/promote';

const SENT: Resource = { kind: 'notification', name: 'order-sent' };
const MAIL: Resource = { kind: 'template', name: 'order-sent' };
const PARCELS: Resource = { kind: 'stream', name: 'parcels' };
const NOTIFICATION = {
  name: 'Order sent',
  channels: { email: { template: 'order-sent' } },
  rules: {
    sent: {
      stream: 'parcels',
      when: 'event.status == "sent"',
      recipients: { from: 'event', to: { email: 'event.email' }, unique_id: 'event.order_id' },
    },
  },
};

testScreens('a test environment and its live workspace', ({ api, guard, open }) => {
  const main = (page: Page) => page.locator('main');

  /** Serves the live workspace shop and its test environment, which differs from it by these resources. */
  function serve(...differing: readonly Resource[]): void {
    api.signIn('deployment owner', ['shop', 'shop-test']);
    const [shop] = (api.example(WORKSPACES) as Given).items;
    const test = { name: 'Shop (test)', environment: 'test', of: 'shop' };
    api.answer(WORKSPACES, { items: [shop, { ...shop, workspace: 'shop-test', body: test }], next: null });
    api.answer(DRAFTS, { items: [], next: null });
    const transferTo = (to: string, given: readonly Resource[], key: string): object => ({
      written: false,
      drafts: given.map((one) => ({ ...one, workspace: to, action: 'create', replaces_newer: false })),
      unchanged: 2,
      in_the_way: [],
      missing: [{ kind: 'api_key', name: key, needed_by: ['notification order-sent'] }],
      plan: {
        faults: [],
        warnings: [],
        changes: [],
        files: given.map(({ kind, name }) => ({
          path: `workspaces/${to}/${kind}s/${name}.yaml`,
          before: null,
          after: 'name: a\n',
        })),
        bodies: given
          .filter(({ kind }) => kind === 'notification')
          .map((one) => ({ ...one, before: null, after: NOTIFICATION })),
      },
    });
    api.answer(PROMOTE, { ...transferTo('shop', differing, 'parcels'), live: 'shop', only_live: [] });
    api.answer(COPY, ({ body }: Call) => {
      const { resources, check_only: isCheck } = body as { resources?: readonly Resource[]; check_only: boolean };
      // All of shop, or the chosen notification with what it needs.
      const needs = resources === undefined ? [SENT] : isCheck ? [SENT, MAIL, PARCELS] : resources;
      return { ...transferTo('shop-test', needs, 'backend'), written: !isCheck, from: 'shop' };
    });
  }
  /** Serves drafts of these resources that came from another workspace. */
  function serveDrafts(from: string, ...drafted: readonly Resource[]): void {
    const [example] = (api.example(DRAFTS) as Given).items;
    const items = drafted.map((one) => ({ ...example, ...one, action: 'create', promoted_from: from }));
    api.answer(DRAFTS, { items, next: null });
    api.answer(PLAN, { ...api.example(PLAN), drafts: items, changes: [], files: [], bodies: [] });
  }

  it('are compared before anything is written, with the resources that live lacks', async () => {
    serve(SENT, MAIL, PARCELS);
    const page = await open('/workspaces/shop');
    await page.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name: 'Versions' }).click();
    await main(page).getByRole('link', { name: 'Test environments' }).click();
    await expectAccessible(page, 'the test environments of a workspace');
    await main(page).getByRole('link', { name: 'Promote shop-test' }).click();
    const wanted = main(page).getByRole('list', { name: 'What would be promoted' });
    for (const name of ['Notification order-sent', 'Template order-sent', 'Stream parcels'])
      await wanted.getByLabel(name).waitFor();
    await main(page)
      .getByText(/^API key parcels, needed by/)
      .waitFor();
    const row = wanted.getByRole('listitem').filter({ has: page.getByLabel('Notification order-sent') });
    await row
      .getByText('When an event of parcels comes and status is “sent”, notify the address in email by email')
      .waitFor();
    const file = row.getByText('workspaces/shop/notifications/order-sent.yaml');
    expect(await file.isVisible()).toBe(false);
    await row.getByText('1 file', { exact: true }).click();
    await file.waitFor();
    await row.getByText('1 file', { exact: true }).click();
    await expectAccessible(page, 'a promotion');
    await picture(page, 'promote');
    await expectToFit(page, 390);
    expect(api.calls(PROMOTE).map(({ body }) => body)).toEqual([{ with_needs: true, check_only: true }]);
    expect(api.calls(PROMOTIONS)).toEqual([]);
  });

  it('promote the chosen resources as drafts by a job, which leads to their review', async () => {
    serve(SENT, MAIL, PARCELS);
    api.answer(PROMOTIONS, () => startJob(api, { action: 'promote', of: 2 }));
    const page = await open(AT);
    await main(page).getByLabel('Notification order-sent').uncheck();
    serveDrafts('shop-test', MAIL, PARCELS);
    await main(page).getByRole('button', { name: 'Make 2 drafts in shop' }).click();
    await main(page).getByText('2 drafts written in shop.').waitFor();
    await expectAccessible(page, 'a promotion that is over');
    await picture(page, 'promoted');
    expect(api.calls(PROMOTIONS).map(({ params, body }) => ({ ...params, body }))).toEqual([
      { workspace: 'shop-test', body: { resources: [MAIL, PARCELS] } },
    ]);
    await main(page).getByRole('link', { name: 'Review and publish in shop' }).click();
    await main(page).getByText('from shop-test').first().waitFor();
  });

  it('are promoted from the drafts page and from each notification of the test environment', async () => {
    serve(SENT);
    const page = await open('/workspaces/shop-test/drafts');
    await main(page).getByRole('link', { name: 'Promote to shop' }).click();
    await page.waitForURL(`**${AT}`);
    await page.goto(`${api.url}/workspaces/shop-test/notifications/order-sent`);
    await main(page).getByRole('link', { name: 'Promote to shop' }).click();
    await main(page).getByText('Only the notification order-sent and what it needs.').waitFor();
    await main(page).getByLabel('Notification order-sent').waitFor();
    expect(api.calls(PROMOTE).at(-1)?.body).toEqual({ resources: [SENT], with_needs: true, check_only: true });
    await page.goto(`${api.url}/workspaces/shop/notifications/order-paid`);
    await main(page).getByRole('heading', { name: 'Order paid', level: 1 }).waitFor();
    expect(
      await main(page)
        .getByRole('link', { name: /^Promote/ })
        .count(),
    ).toBe(0);
  });

  it('copy a chosen notification of the live workspace with what it needs, as drafts', async () => {
    serve();
    const [notification] = (api.example(NOTIFICATIONS) as Given).items;
    api.answer(NOTIFICATIONS, { items: [{ ...notification, name: SENT.name, body: NOTIFICATION }], next: null });
    const page = await open('/workspaces/shop-test');
    await page.getByRole('link', { name: 'Update from shop' }).click();
    const copied = main(page).getByRole('list', { name: 'What would be copied' });
    await copied.getByLabel('Notification order-sent').waitFor();
    await main(page).getByText('Chosen notifications').click();
    await main(page).getByRole('group', { name: 'Notifications of shop' }).getByText('Order sent').click();
    for (const name of ['Notification order-sent', 'Template order-sent', 'Stream parcels'])
      await copied.getByLabel(name).waitFor();
    await main(page)
      .getByText(/^API key backend, needed by/)
      .waitFor();
    const row = copied.getByRole('listitem').filter({ has: page.getByLabel('Notification order-sent') });
    await row.getByText(/^When an event of parcels comes/).waitFor();
    await expectAccessible(page, 'a copy of a live workspace');
    await picture(page, 'copy');
    await expectToFit(page, 390);
    await page.setViewportSize({ width: 1440, height: 900 });
    serveDrafts('shop', SENT, MAIL, PARCELS);
    await main(page).getByRole('button', { name: 'Make 3 drafts in shop-test' }).click();
    await page.waitForURL('**/workspaces/shop-test/drafts');
    await page.getByText('3 drafts copied from shop.').waitFor();
    expect(api.calls(COPY).map(({ body }) => body)).toEqual([
      { with_needs: true, check_only: true },
      { resources: [SENT], with_needs: true, check_only: true },
      { resources: [SENT, MAIL, PARCELS], with_needs: false, check_only: false },
    ]);
  });

  it('are told apart by a line on every page of the test environment', async () => {
    serve();
    const page = await open('/workspaces/shop-test');
    const line = page.getByText('Test environment of shop: its messages stay in the inbox.');
    for (const screen of ['', '/deliveries', '/notifications']) {
      await page.goto(`${api.url}/workspaces/shop-test${screen}`);
      await line.waitFor();
      await expectAccessible(page, `a test environment at ${screen}`);
    }
    await page.getByRole('main').getByRole('link', { name: 'shop', exact: true }).first().click();
    await page.waitForURL('**/workspaces/shop');
    await line.waitFor({ state: 'detached' });
  });

  it('begin with a word on how to make the test environment', async () => {
    const page = await open('/workspaces/shop/promote');
    await main(page).getByRole('heading', { name: 'shop has no test environment' }).waitFor();
    await expectAccessible(page, 'no test environment');
  });

  it('are not compared for a viewer, who reads that the role does not allow it', async () => {
    serve(SENT);
    api.signIn('viewer', ['shop', 'shop-test']);
    const page = await open(AT);
    await page.getByText(/Only owners .*can do this/).waitFor();
    expect(await page.getByRole('button', { name: /^Make/ }).count()).toBe(0);
    await expectAccessible(page, 'promotion for a viewer');
    expect(api.calls(PROMOTE)).toEqual([]);
  });

  it('keep the frame while they are compared, say what went wrong and ask again', async () => {
    serve(SENT);
    guard.allowStatus(400);
    api.answer(PROMOTE, problem(400, 'invalid_request', 'The configuration cannot be read.'));
    const release = api.hold(PROMOTE);
    const page = await open(AT);
    await main(page).getByRole('status', { name: 'Loading what would be promoted' }).waitFor();
    release();
    await main(page).getByText('When you ask for help, name the request req_1.').waitFor();
    await expectAccessible(page, 'a promotion that cannot be read');
    serve(SENT);
    await main(page).getByRole('button', { name: 'Try again' }).click();
    await main(page).getByLabel('Notification order-sent').waitFor();
  });
});
