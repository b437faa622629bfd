import { findResource, type Draft } from '@carillon/domain/configuration';
import { beforeEach, describe, expect, it } from 'vitest';
import { saveDraft } from '../src/drafts/save-draft.ts';
import { useDrafts, type Answer } from './draft-fixture.ts';
import { MAIL, PAID } from './resource-fixture.ts';

const under = useDrafts();
const BEGIN = { 'if-none-match': '*' };
const PATH = 'notifications/order-paid/draft';
const REF = { kind: 'notification', name: 'order-paid' };

const current = () => under.fixture.ports.configuration.current();
const number = (name = 'order-paid') => findResource(current(), 'notification', 'shop', name)?.number ?? null;
const bodyNow = () => findResource(current(), 'notification', 'shop', 'order-paid')?.body;
const match = ({ etag }: Pick<Answer, 'etag'>) => ({ 'if-match': etag });
const begin = (body: object | null, url = PATH, based_on = number()) =>
  under.ask('PUT', url, { body, based_on }, BEGIN);
const publish = (...drafts: readonly object[]) => under.ask('POST', 'drafts/publish', { drafts, message: 'why' });
const listed = async (): Promise<readonly Record<string, unknown>[]> =>
  (await under.ask('GET', 'drafts')).body['items'] as Record<string, unknown>[];

beforeEach(async () => {
  for (const draft of (await under.fixture.ports.drafts.list('shop', 100)).items)
    await under.fixture.ports.drafts.remove(draft.ref, draft.revision);
  await under.fixture.ports.configuration.refresh();
});

describe('A draft', () => {
  it('is saved while typing, each save replacing the previous one, and changes no published resource', async () => {
    const first = await begin({ ...PAID, enabled: false });
    expect(first).toMatchObject({
      status: 200,
      body: { state: 'open', action: 'update', based_on: number(), faults: [] },
    });
    expect(first.etag).toBe(`"d${String(first.body['revision'])}"`);
    const second = await under.ask('PUT', PATH, { body: PAID }, match(first));
    expect(second.body).toMatchObject({ based_on: number(), by: { kind: 'person', id: 'ada' } });
    expect((await under.ask('GET', PATH)).etag).toBe(second.etag);
    expect(bodyNow()?.enabled).toBeUndefined();
  });

  it('is refused if the drafts of its workspace would exceed 4 MiB, but may always shrink', async () => {
    const { drafts } = under.fixture.ports;
    const long = { text: 'x'.repeat(1024 * 1024) };
    for (let at = 0; at < 4; at += 1) {
      const ref = { kind: 'partial', workspace: 'shop', name: `long-${at}` } as const;
      const facts = { basedOn: null, revision: `r${at}`, begun: `r${at}`, by: { kind: 'person', id: 'ada' }, at: 0 };
      await drafts.replace({ ref, body: long, ...facts } as Draft, null);
    }
    const refused = await begin(PAID);
    expect(refused).toMatchObject({ status: 409, body: { code: 'wrong_state' } });
    expect(refused.body['detail']).toContain('at most 4 MiB together');
    const last = { kind: 'partial', workspace: 'shop', name: 'long-3' } as const;
    const wish = { ref: last, body: { text: 'short' } };
    const saved = await saveDraft(wish, { revision: 'r3' }, { kind: 'person', id: 'ada' }, under.fixture.ports);
    expect(saved.body).toEqual({ text: 'short' });
    expect((await drafts.held('shop')).drafts).toBe(4);
  });

  it('is not written over by whoever has not seen it: 412 with who and when', async () => {
    const first = await begin({ ...PAID, enabled: false });
    const bob = await under.as('bob');
    const second = await bob('PUT', PATH, { body: PAID }, match(first));
    for (const headers of [match(first), BEGIN]) {
      const late = await under.ask('PUT', PATH, { body: {}, based_on: number() }, headers);
      expect(late).toMatchObject({ status: 412, body: { code: 'precondition_failed', newer: { by: { id: 'bob' } } } });
    }
    expect((await under.ask('DELETE', PATH, undefined, match(first))).status).toBe(412);
    expect((await under.ask('PUT', PATH, { body: {} })).body).toMatchObject({ code: 'precondition_required' });
    expect((await under.ask('DELETE', PATH, undefined, match(second))).body).toEqual({ discarded: true });
    const after = await under.ask('PUT', PATH, { body: PAID }, match(second));
    expect(after).toMatchObject({ status: 412, body: { newer: { by: null } } });
    expect((await under.ask('GET', PATH)).status).toBe(404);
  });

  it('requires based_on when it is created, and it must be a number that the resource had', async () => {
    const unsaid = await under.ask('PUT', PATH, { body: PAID }, BEGIN);
    expect(unsaid).toMatchObject({ status: 400, body: { detail: expect.stringContaining('based_on') as string } });
    for (const based_on of [(number() ?? 0) + 40, 1]) {
      expect((await begin(PAID, PATH, based_on)).body).toMatchObject({ code: 'invalid_request' });
    }
    expect(
      (await under.ask('PUT', 'notifications/..%2F..%2Fx/draft', { body: PAID, based_on: null }, BEGIN)).status,
    ).toBe(400);
    expect(
      (await under.ask('PUT', 'notification/order-paid/draft', { body: PAID, based_on: null }, BEGIN)).status,
    ).toBe(400);
  });

  it('is saved with mistakes and returns them, but cannot be published with them', async () => {
    const saved = await begin({ ...PAID, rules: { paid: { ...PAID.rules.paid, when: 'event.status ==' } } });
    expect(saved.status).toBe(200);
    expect(saved.body['faults']).toMatchObject([{ kind: 'notification', name: 'order-paid', path: 'rules.paid.when' }]);
    const before = current().number;
    expect(await publish(REF)).toMatchObject({
      status: 400,
      body: { code: 'invalid_configuration', faults: [{ path: 'rules.paid.when' }] },
    });
    expect(current().number).toBe(before);
    expect(await listed()).toHaveLength(1);
  });

  it('is checked together with the other drafts: a notification and its new template are two', async () => {
    const body = { ...PAID, channels: { email: { template: 'fresh' } } };
    expect((await begin(body)).body['faults']).toMatchObject([{ path: 'channels.email.template' }]);
    expect((await begin(MAIL, 'templates/fresh/draft', null)).body['faults']).toEqual([]);
    expect((await under.ask('GET', PATH)).body['faults']).toEqual([]);
    const plan = await under.ask('POST', 'drafts/plan', {});
    expect(plan.body).toMatchObject({
      conflicts: [],
      faults: [],
      changes: [{ action: 'update' }, { action: 'create', resource: 'template shop/fresh' }],
    });
    expect(plan.body['bodies']).toMatchObject([{ ...REF, before: { channels: PAID.channels }, after: body }]);
    expect((plan.body['files'] as { path: string }[]).map(({ path }) => path)).toEqual([
      'workspaces/shop/notifications/order-paid.yaml',
      'workspaces/shop/templates/fresh/email.txt',
      'workspaces/shop/templates/fresh/email.yaml',
    ]);
    const before = current().number;
    const published = await publish(REF, { kind: 'template', name: 'fresh' });
    expect(published.body).toMatchObject({ new_number: before + 1, published: [REF, { name: 'fresh' }] });
    expect(await listed()).toEqual([]);
    const { history } = under.fixture.ports.configuration;
    expect(history.publication(before + 1)?.by).toMatchObject({
      actor: { id: 'ada' },
      origin: 'portal',
      message: 'why',
    });
    await under.apply('notification', 'order-paid', PAID);
  });

  it('can be that the resource goes', async () => {
    await under.apply('template', 'old', MAIL);
    const template = findResource(current(), 'template', 'shop', 'old');
    const saved = await begin(null, 'templates/old/draft', template?.number ?? null);
    expect(saved.body).toMatchObject({ action: 'delete', body: null, faults: [] });
    expect(await publish({ kind: 'template', name: 'old' })).toMatchObject({ status: 200 });
    expect(findResource(current(), 'template', 'shop', 'old')).toBeUndefined();
  });

  it('can be read but not changed by people with read permission only', async () => {
    await begin(PAID);
    const viewer = await under.as('vera', ['read']);
    expect((await viewer('GET', PATH)).status).toBe(200);
    expect((await viewer('PUT', PATH, { body: {} }, BEGIN)).status).toBe(403);
    expect((await viewer('POST', 'drafts/publish', { drafts: [REF] })).status).toBe(403);
  });
});

describe('A draft whose resource changed', () => {
  it('is in conflict: base, theirs and mine, and published only after somebody chose', async () => {
    const base = number();
    const mine = await begin({ ...PAID, expires: '2h' });
    const theirs = await under.apply('notification', 'order-paid', { ...PAID, expires: '3h', enabled: false });
    expect(await listed()).toMatchObject([{ state: 'conflict', based_on: base, number: theirs }]);
    const refused = await publish(REF);
    expect(refused).toMatchObject({
      status: 409,
      body: {
        code: 'draft_conflict',
        conflicts: [
          {
            ...REF,
            base: { number: base },
            theirs: { number: theirs, body: { expires: '3h' } },
            mine: { body: { expires: '2h' } },
          },
        ],
      },
    });
    const [{ fields } = { fields: [] }] = refused.body['conflicts'] as { fields: unknown[] }[];
    expect(fields).toContainEqual({ path: 'expires', base: null, theirs: '3h', mine: '2h' });
    expect(fields).toContainEqual({ path: 'enabled', base: null, theirs: 'false', mine: null });
    expect(bodyNow()).toMatchObject({ expires: '3h' });

    const kept = await under.ask('PUT', PATH, { body: { ...PAID, expires: '2h' }, based_on: theirs }, match(mine));
    expect(kept.body).toMatchObject({ state: 'open', conflict: null });
    expect((await publish({ ...REF, revision: kept.body['revision'] })).status).toBe(200);
    expect(bodyNow()).toMatchObject({ expires: '2h' });
    expect(bodyNow()?.enabled).toBeUndefined();
    await under.apply('notification', 'order-paid', PAID);
  });

  it('holds back the other drafts of the same publish: all or nothing', async () => {
    await begin({ ...PAID, expires: '2h' });
    await begin(MAIL, 'templates/second/draft', null);
    await under.apply('notification', 'order-paid', { ...PAID, expires: '3h' });
    const before = current().number;
    expect((await publish(REF, { kind: 'template', name: 'second' })).status).toBe(409);
    expect(current().number).toBe(before);
    expect(await listed()).toHaveLength(2);
    await under.apply('notification', 'order-paid', PAID);
  });

  it('equal to the published version publishes nothing and is deleted without an audit record', async () => {
    await begin({ ...PAID, expires: '4h' });
    const now = await under.apply('notification', 'order-paid', { ...PAID, expires: '4h' });
    expect(await listed()).toMatchObject([{ state: 'published' }]);
    expect((await publish(REF)).body).toMatchObject({ new_number: null, changes: [] });
    expect(current().number).toBe(now);
    expect(await listed()).toEqual([]);
    await under.apply('notification', 'order-paid', PAID);
  });

  it('is refused if it was saved again after the review', async () => {
    const seen = await begin({ ...PAID, expires: '2h' });
    await under.ask('PUT', PATH, { body: { ...PAID, expires: '9h' } }, match(seen));
    expect((await publish({ ...REF, revision: seen.body['revision'] })).status).toBe(412);
    expect(bodyNow()?.expires).toBeUndefined();
  });
});

describe('The environment of a workspace', () => {
  it('is changed only by people who decide about people', async () => {
    const url = 'settings/draft';
    const now = findResource(current(), 'workspace', 'shop', '')?.number ?? null;
    const saved = await begin({ name: 'Shop', environment: 'test' }, url, now);
    expect(saved.body['faults']).toEqual([]);
    const wanted = { drafts: [{ kind: 'workspace' }] };
    expect(await under.ask('POST', 'drafts/publish', wanted)).toMatchObject({
      status: 403,
      body: { code: 'forbidden_role' },
    });
    const owner = await under.as('olga', ['read', 'configure', 'people']);
    expect((await owner('POST', 'drafts/publish', wanted)).status).toBe(200);
    await under.apply('workspace', '', { name: 'Shop' });
  });
});
