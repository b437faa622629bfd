import { findResource } from '@carillon/domain/configuration';
import { beforeAll, describe, expect, it } from 'vitest';
import { useDrafts } from './draft-fixture.ts';
import { MAIL, ORDERS, PAID } from './resource-fixture.ts';

const under = useDrafts();
const TEST = 'shop-test';
const COPY = `/v1/workspaces/${TEST}/copy`;
const current = () => under.fixture.ports.configuration.current();
const copy = (request: object = {}) => under.ask('POST', COPY, request);
const drafts = async () => (await under.fixture.ports.drafts.list(TEST, 100)).items;
const namesOf = (body: Readonly<Record<string, unknown>>) =>
  (body['drafts'] as readonly { kind: string; name: string }[]).map(({ kind, name }) => `${kind}/${name}`);
const publishAll = async () => {
  const names = (await drafts()).map(({ ref, revision }) => ({ kind: ref.kind, name: ref.name, revision }));
  return under.ask('POST', `/v1/workspaces/${TEST}/drafts/publish`, { drafts: names });
};

beforeAll(async () => {
  const { topology } = under.fixture;
  const smtp = { kind: 'smtp', host: 'mail.example.com', port: 25, from: 'a@example.com' } as const;
  await topology.publish({ ref: { kind: 'account', workspace: 'shop', name: 'mail' }, body: smtp });
  await under.apply('template', 'news', MAIL);
  await under.apply('stream', 'clicks', ORDERS);
  await topology.publish({ ref: { kind: 'partial', workspace: 'shop', name: 'foot' }, body: { text: 'Thank you.' } });
  await under.apply('template', 'order-paid', {
    email: { subject: 'Paid', from: 'a@example.com', text: '{{> foot}}' },
  });
  const channels = { email: { template: 'order-paid', accounts: ['mail'] } };
  await under.apply('notification', 'order-paid', { ...PAID, channels });
  await under.apply('workspace', '', { environment: 'test', of: 'shop' }, TEST);
});

describe('Copying a live workspace into its test environment', () => {
  it('copies the chosen notification with its dependencies, and writes nothing with check_only', async () => {
    const chosen = { resources: [{ kind: 'notification', name: 'order-paid' }], with_needs: true, check_only: true };
    const { status, body } = await copy(chosen);
    expect(status).toBe(200);
    expect(body).toMatchObject({ from: 'shop', written: false });
    expect(namesOf(body).toSorted()).toEqual([
      'notification/order-paid',
      'partial/foot',
      'stream/orders',
      'template/order-paid',
    ]);
    expect(await drafts()).toEqual([]);
  });

  it('makes drafts of everything, without accounts and keys, that are published although the account is missing', async () => {
    const { body } = await copy();
    expect(body).toMatchObject({
      written: true,
      unchanged: 0,
      in_the_way: [],
      missing: [
        { kind: 'account', name: 'mail', needed_by: ['notification order-paid'] },
        { kind: 'api_key', name: 'backend' },
      ],
      plan: { faults: [] },
    });
    expect(namesOf(body)).toContain('template/news');
    expect(await drafts()).toHaveLength(6);
    expect((await publishAll()).status).toBe(200);
    const [live, test] = ['shop', TEST].map((workspace) =>
      findResource(current(), 'notification', workspace, 'order-paid'),
    );
    expect(test?.body.channels).toEqual(live?.body.channels);
    expect(test?.body.id).not.toBe(live?.body.id);
    expect(findResource(current(), 'account', TEST, 'mail')).toBeUndefined();
    // A copy is no promotion in the history of the test environment.
    const { by } = under.fixture.ports.configuration.history.publication(current().number) ?? {};
    expect(by?.origin).toBe('portal');
    expect((await under.ask('POST', `/v1/workspaces/${TEST}/promote`, {})).body).toMatchObject({ drafts: [] });
  });

  it('updates what live changed, and marks what the test environment changed after live', async () => {
    await under.apply('template', 'news', { email: { subject: 'News of live', text: 'News.' } });
    await under.apply('template', 'order-paid', { email: { subject: 'Tried', text: 'Paid.' } }, TEST);
    expect((await copy({ check_only: true })).body).toMatchObject({
      drafts: [
        { name: 'news', action: 'update', replaces_newer: false },
        { name: 'order-paid', action: 'update', replaces_newer: true },
      ],
      unchanged: 4,
    });
  });

  it('is refused for a live workspace, and to a person who may not read live', async () => {
    expect(await under.ask('POST', 'copy', {})).toMatchObject({ status: 409, body: { code: 'wrong_state' } });
    const tester = await under.as('tess', ['read', 'configure'], TEST);
    expect(await tester('POST', COPY, {})).toMatchObject({ status: 403, body: { code: 'forbidden_role' } });
    expect(await drafts()).toEqual([]);
  });
});
