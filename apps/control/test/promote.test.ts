import { findResource } from '@carillon/domain/configuration';
import { beforeAll, describe, expect, it } from 'vitest';
import { useDrafts } from './draft-fixture.ts';
import { MAIL, ORDERS, PAID } from './resource-fixture.ts';

const under = useDrafts();
const TEST = 'shop-test';
const PROMOTE = `/v1/workspaces/${TEST}/promote`;
const current = () => under.fixture.ports.configuration.current();
const notification = (workspace: string, name = 'order-paid') =>
  findResource(current(), 'notification', workspace, name);
const promote = (wish: object = {}) => under.ask('POST', PROMOTE, wish);
const drafts = async () => (await under.fixture.ports.drafts.list('shop', 100)).items;
const publishAll = async () => {
  const names = (await drafts()).map(({ ref, revision }) => ({ kind: ref.kind, name: ref.name, revision }));
  return under.ask('POST', 'drafts/publish', { drafts: names });
};

beforeAll(async () => {
  await under.apply('workspace', '', { environment: 'test', of: 'shop' }, TEST);
  await under.apply('stream', 'orders', ORDERS, TEST);
  await under.apply('template', 'order-paid', MAIL, TEST);
  await under.apply('notification', 'order-paid', PAID, TEST);
});

describe('Promoting a test environment', () => {
  it('writes nothing if live has the same resources, ignoring their ids', async () => {
    expect(notification(TEST)?.body.id).not.toBe(notification('shop')?.body.id);
    expect(await promote()).toMatchObject({
      status: 200,
      body: { live: 'shop', written: true, drafts: [], unchanged: 3, in_the_way: [], missing: [] },
    });
  });

  it('with check_only returns the planned changes and writes nothing', async () => {
    await under.apply('notification', 'order-paid', { ...PAID, expires: '2h' }, TEST);
    await under.apply('template', 'hello', MAIL, TEST);
    const asked = await promote({ check_only: true });
    expect(asked.body).toMatchObject({
      written: false,
      drafts: [
        { kind: 'notification', workspace: 'shop', name: 'order-paid', action: 'update' },
        { kind: 'template', name: 'hello', action: 'create' },
      ],
      plan: {
        faults: [],
        changes: [{ fields: [{ path: 'expires', before: null, after: '2h' }] }, { action: 'create' }],
        bodies: [{ kind: 'notification', name: 'order-paid', after: { expires: '2h' } }],
      },
    });
    expect(await drafts()).toEqual([]);
  });

  it('creates drafts that are published as a promotion and keep the record of notified people', async () => {
    const before = notification('shop')?.body;
    expect((await promote()).body).toMatchObject({ written: true });
    expect((await promote()).body).toMatchObject({
      in_the_way: [],
      drafts: [{ name: 'order-paid' }, { name: 'hello' }],
    });
    expect(await drafts()).toMatchObject([{ promotedFrom: TEST }, { promotedFrom: TEST }]);
    expect(notification('shop')?.body).toEqual(before);
    const published = await publishAll();
    expect(published.status).toBe(200);
    const after = notification('shop')?.body;
    expect(after).toEqual({ ...before, expires: '2h' });
    const { by } = under.fixture.ports.configuration.history.publication(current().number) ?? {};
    expect(by).toMatchObject({ origin: 'promote', actor: { id: 'ada' } });
    expect((await promote()).body).toMatchObject({ drafts: [], unchanged: 4 });
  });

  it('writes over no draft of somebody else in live', async () => {
    await under.apply('notification', 'order-paid', { ...PAID, expires: '5h' }, TEST);
    const body = { ...PAID, expires: '9h' };
    const url = 'notifications/order-paid/draft';
    const mine = await under.ask(
      'PUT',
      url,
      { body, based_on: notification('shop')?.number },
      { 'if-none-match': '*' },
    );
    expect((await promote()).body).toMatchObject({
      drafts: [],
      in_the_way: [{ name: 'order-paid', by: { id: 'ada' } }],
    });
    expect((await drafts())[0]?.body).toEqual(body);
    await under.ask('DELETE', url, undefined, { 'if-match': mine.etag });
  });

  it('names what live lacks, and copies no account, key or secret', async () => {
    const { topology } = under.fixture;
    const smtp = { kind: 'smtp', host: 'mail.example.com', port: 25, from: 'a@example.com' } as const;
    await topology.publish({ ref: { kind: 'account', workspace: TEST, name: 'mail' }, body: smtp });
    const channels = { email: { template: 'order-paid', accounts: ['mail'] } };
    await under.apply('notification', 'order-paid', { ...PAID, channels }, TEST);
    await under.apply('stream', 'clicks', ORDERS, TEST);
    const { body } = await promote({ check_only: true });
    expect(body).toMatchObject({
      missing: [
        { kind: 'account', name: 'mail', needed_by: ['notification order-paid'] },
        { kind: 'api_key', name: 'backend', needed_by: ['stream clicks'] },
      ],
      plan: { faults: [{ path: 'channels.email.accounts[0]' }] },
    });
    const asked = await promote({ resources: [{ kind: 'account', name: 'mail' }] });
    expect(asked).toMatchObject({ status: 400, body: { detail: expect.stringContaining('never copied') as string } });
    expect((await promote({ resources: [{ kind: 'template', name: 'helo' }] })).status).toBe(404);
  });

  it('leaves what only live has, and says so', async () => {
    await under.apply('template', 'older', MAIL);
    expect((await promote({ check_only: true })).body).toMatchObject({
      only_live: [{ kind: 'template', name: 'older' }],
    });
    expect(findResource(current(), 'template', 'shop', 'older')).toBeDefined();
  });

  it('is refused with its size, before the first draft, if the drafts of live would exceed 4 MiB', async () => {
    const store = under.fixture.ports.drafts;
    const facts = { basedOn: null, revision: 'r', begun: 'r', by: { kind: 'person', id: 'ada' }, at: 0 } as const;
    const filler = { kind: 'partial', workspace: 'shop', name: 'filler' } as const;
    await store.replace({ ref: filler, body: { text: 'x'.repeat(4_100_000) }, ...facts }, null);
    for (const name of ['part-a', 'part-b']) await under.apply('partial', name, { text: 'y'.repeat(60_000) }, TEST);

    const resources = ['part-a', 'part-b'].map((name) => ({ kind: 'partial', name }));
    const refusal = {
      status: 409,
      body: { code: 'wrong_state', detail: expect.stringContaining('0.11 MiB more') as string },
    };
    expect(await promote({ resources })).toMatchObject(refusal);
    expect(await under.ask('POST', `/v1/workspaces/${TEST}/promotions`, { resources })).toMatchObject(refusal);
    expect((await drafts()).map(({ ref }) => ref.name)).toEqual(['filler']);
    await store.remove(filler, 'r');
  });

  it('is refused for a workspace that is not a test environment, and to people who may not configure live', async () => {
    expect(await under.ask('POST', 'promote', {})).toMatchObject({ status: 409, body: { code: 'wrong_state' } });
    const tester = await under.as('tess', ['read', 'configure'], TEST);
    expect((await tester('POST', PROMOTE, {})).body).toMatchObject({ code: 'forbidden_role' });
  });
});

describe('apply', () => {
  it('goes through over an open draft, and names it', async () => {
    const body = { ...PAID, expires: '9h' };
    const url = 'notifications/order-paid/draft';
    await under.ask('PUT', url, { body, based_on: notification('shop')?.number }, { 'if-none-match': '*' });
    const { body: exported } = await under.ask('GET', '/v1/configuration/export');
    const files = exported['files'] as Record<string, string>;
    const file = 'workspaces/shop/notifications/order-paid.yaml';
    const changed = { ...files, [file]: `enabled: false\n${files[file]}` };
    const applied = await under.ask('POST', '/v1/configuration/apply', { files: changed, prune: false });
    expect(applied.body).toMatchObject({
      applied: true,
      draft_conflicts: [
        { kind: 'notification', workspace: 'shop', name: 'order-paid', by: { kind: 'person', id: 'ada' } },
      ],
    });
    expect((await drafts())[0]?.body).toEqual(body);
    const again = await under.ask('POST', '/v1/configuration/apply', { files: changed, prune: false });
    expect(again.body).toMatchObject({ applied: false, draft_conflicts: [] });
  });

  it('of a folder that allows real accounts in a test environment needs the permission to decide about people', async () => {
    const files = { [`workspaces/${TEST}/workspace.yaml`]: 'environment: test\nof: shop\nallow_real_accounts: true\n' };
    const refused = await under.ask('POST', '/v1/configuration/apply', { files, prune: false });
    expect(refused).toMatchObject({ status: 403, body: { code: 'forbidden_role' } });
    expect(findResource(current(), 'workspace', TEST, '')?.body.allow_real_accounts).toBeUndefined();
  });
});
