import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Control } from '../src/index.ts';
import { KINDS_OF_RESOURCES } from '../src/resources/kinds.ts';
import { accessOf, openControl, personWith } from './control-fixture.ts';
import { planResources } from '../src/resources/plan-resources.ts';
import { MAIL, openResourceFixture, ORDERS, PAID, SHOP, type ResourceFixture } from './resource-fixture.ts';

let fixture: ResourceFixture;
let control: Control;
beforeAll(async () => {
  fixture = await openResourceFixture();
  const ann = personWith('per_ann', ['read', 'configure']);
  ({ control } = await openControl(accessOf(ann), fixture.ports));
  const owner = personWith('per_owner', ['read', 'configure', 'people']);
  const { control: first } = await openControl(accessOf(owner), fixture.ports);
  const made = await first.app.inject({ method: 'PUT', url: '/v1/workspaces/shop', payload: SHOP, headers: NEW });
  expect(made.statusCode).toBe(200);
  await first.app.close();
  for (const [path, body] of [
    ['streams/orders', ORDERS],
    ['templates/order-paid', MAIL],
    ['notifications/order-paid', PAID],
  ] as const) {
    expect(await put(path, body, NEW)).toMatchObject({ status: 200 });
  }
});
afterAll(async () => {
  await control.app.close();
  await fixture.close();
});

const W = '/v1/workspaces/shop';
const NEW = { 'if-none-match': '*' };
type Headers = Readonly<Record<string, string>>;
type Method = 'GET' | 'PUT' | 'POST' | 'DELETE';
async function ask(method: Method, path: string, payload?: unknown, headers: Headers = {}) {
  const url = path.startsWith('/') ? path : `${W}/${path}`;
  const answer = await control.app.inject({
    method,
    url,
    headers: { ...(payload !== undefined && { 'content-type': 'application/json' }), ...headers },
    ...(payload !== undefined && { payload: typeof payload === 'string' ? payload : JSON.stringify(payload) }),
  });
  const isJson = String(answer.headers['content-type']).includes('json');
  const body = isJson ? answer.json<Record<string, unknown>>() : {};
  return { status: answer.statusCode, etag: String(answer.headers.etag), text: answer.body, body };
}
const put = (path: string, body: unknown, headers: Headers) => ask('PUT', path, body, headers);
const get = (path: string, headers?: Headers) => ask('GET', path, undefined, headers);

describe('a resource over the API', () => {
  it('is shown with its body, its number and who gave it that', async () => {
    const { status, body, etag } = await get('notifications/order-paid');
    expect(status).toBe(200);
    expect(body).toMatchObject({
      kind: 'notification',
      workspace: 'shop',
      name: 'order-paid',
      version: 1,
      updated_by: { kind: 'person', id: 'per_ann', name: null },
      origin: 'portal',
      draft: null,
      body: { ...PAID, id: expect.stringMatching(/^ntf_/) as string },
    });
    expect(etag).toBe(`"${body['number'] as number}"`);
    const list = await get('notifications');
    expect(list.body).toEqual({ items: [body], next: null });
  });

  it('names the last author and the person editing a draft, while these people exist', async () => {
    const by = { kind: 'person', id: 'per_ann' } as const;
    const ref = { kind: 'template', workspace: 'shop', name: 'order-paid' } as const;
    const draft = { ref, body: {}, basedOn: null, begun: 'r1', revision: 'r1', by, at: Date.UTC(2026, 10, 22) };
    await fixture.ports.drafts.replace(draft, null);
    const { people } = fixture.topology.data;
    const person = {
      name: 'Ann',
      email: null,
      state: 'active',
      memberships: [],
      password: null,
      totp: null,
      recoveryCodes: [],
      epoch: 1,
      createdAt: 0,
    } as const;
    const facts = { kind: 'person', id: 'per_ann', version: 1, key: null, of: null, endsAt: null } as const;
    expect(await people.replace({ ...facts, body: person })).toBe('done');
    const ann = { ...by, name: 'Ann' };
    expect((await get('templates/order-paid')).body).toMatchObject({
      updated_by: ann,
      draft: { by: ann, at: '2026-11-22T00:00:00.000Z' },
    });
    await people.remove('person', 'per_ann');
    await fixture.ports.drafts.remove(ref, 'r1');
    expect((await get('templates/order-paid')).body).toMatchObject({ updated_by: { ...by, name: null }, draft: null });
  });

  it('is its file where YAML is asked for', async () => {
    const { text } = await get('streams/orders', { accept: 'application/yaml' });
    expect(text).toBe('key: event.order_id\nsecurity:\n  api_keys:\n    - backend\n');
    const mail = await get('templates/order-paid', { accept: 'application/yaml' });
    expect(mail.text).toBe('email:\n  subject: Order {{ order_id }} is paid\n  text: Thank you.\n');
  });

  it('is replaced only with the newest version in If-Match; others get 412 with the current version', async () => {
    const { etag } = await get('notifications/order-paid');
    const mine = await put('notifications/order-paid', { ...PAID, name: 'Mine' }, { 'if-match': etag });
    expect(mine).toMatchObject({ status: 200, body: { version: 2, body: { name: 'Mine' } } });
    const theirs = await put('notifications/order-paid', { ...PAID, name: 'Theirs' }, { 'if-match': etag });
    expect(theirs).toMatchObject({
      status: 412,
      body: {
        code: 'precondition_failed',
        newer: { number: mine.body['number'], by: { kind: 'person', id: 'per_ann' } },
      },
    });
    expect((await get('notifications/order-paid')).body).toEqual(mine.body);
    const same = await put('notifications/order-paid', { ...PAID, name: 'Mine' }, { 'if-match': mine.etag });
    expect(same).toMatchObject({ status: 200, etag: mine.etag });
  });

  it('is created once by concurrent requests', async () => {
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, at) => put('partials/footer', { text: `by ${at}` }, NEW)),
    );
    expect(answers.filter(({ status }) => status === 412)).toHaveLength(5);
    const winner = answers.find(({ status }) => status === 200);
    expect((await get('partials/footer')).body).toEqual(winner?.body);
  });

  it('refuses a write without If-Match or If-None-Match, or with a malformed value', async () => {
    expect(await put('partials/new', { text: '' }, {})).toMatchObject({
      status: 428,
      body: { code: 'precondition_required' },
    });
    for (const headers of [
      { 'if-match': '*' },
      { 'if-match': 'W/"1"' },
      { 'if-match': '"d3"' },
      { 'if-match': '1' },
      { 'if-none-match': '"1"' },
      { 'if-none-match': '*', 'if-match': '"1"' },
    ] as readonly Headers[]) {
      expect(await put('partials/new', { text: '' }, headers)).toMatchObject({
        status: 400,
        body: { code: 'invalid_request' },
      });
    }
    expect((await get('partials/new')).status).toBe(404);
  });

  it('that was removed is not restored by a stale If-Match, and the answer says that it was removed', async () => {
    await put('partials/gone', { text: 'x' }, NEW);
    const { etag } = await get('partials/gone');
    expect(await ask('DELETE', 'partials/gone', undefined, { 'if-match': '"0"' })).toMatchObject({ status: 412 });
    expect(await ask('DELETE', 'partials/gone', undefined, { 'if-match': etag })).toMatchObject({
      status: 200,
      body: { deleted: true },
    });
    expect((await get('partials/gone')).status).toBe(404);
    const late = await put('partials/gone', { text: 'y' }, { 'if-match': etag });
    expect(late).toMatchObject({ status: 412, body: { newer: { number: null, by: { id: 'per_ann' } } } });
    expect(late.body['detail']).toContain('was removed by person per_ann');
    expect(await ask('DELETE', 'partials/gone', undefined, { 'if-match': etag })).toMatchObject({ status: 412 });
  });

  it('with mistakes is refused with all mistakes by path and fix, and nothing is stored', async () => {
    const { etag, body } = await get('notifications/order-paid');
    const wrong = { ...PAID, chanels: {}, rules: { paid: { ...PAID.rules.paid, when: 'event.status ==' } } };
    const refused = await put('notifications/order-paid', wrong, { 'if-match': etag });
    expect(refused).toMatchObject({ status: 400, body: { code: 'invalid_configuration' } });
    const faults = refused.body['faults'] as readonly { path: string; fix: string; line: number | null }[];
    expect(faults.map(({ path }) => path)).toEqual(['chanels', 'rules.paid.when']);
    expect(faults[0]?.fix).toBe('did you mean channels?');
    expect(faults[1]?.line).toBe(1);
    const plan = await ask('POST', 'notifications/order-paid/check', wrong);
    expect(plan).toMatchObject({ status: 200, body: { faults, changes: [] } });
    expect((await get('notifications/order-paid')).body).toEqual(body);
  });

  it('is planned without being changed', async () => {
    const before = await get('notifications/order-paid');
    const plan = await ask('POST', 'notifications/order-paid/check', { ...PAID, name: 'Other' });
    expect(plan.body).toMatchObject({
      faults: [],
      changes: [
        { action: 'update', resource: 'notification shop/order-paid', fields: [{ path: 'name', after: 'Other' }] },
      ],
      files: [{ path: 'workspaces/shop/notifications/order-paid.yaml' }],
    });
    expect((plan.body['files'] as readonly { text: string }[])[0]?.text).toContain('name: Other');
    // Also where what it refers to is not there yet; of a body whose form is wrong there is none.
    const channels = { email: { template: 'to-come' } };
    const early = await ask('POST', 'notifications/early/check', { ...PAID, channels });
    expect(early.body['faults']).toHaveLength(1);
    expect(early.body['files']).toMatchObject([{ path: 'workspaces/shop/notifications/early.yaml' }]);
    expect((await ask('POST', 'notifications/early/check', { rules: 7 })).body['files']).toEqual([]);
    expect(await get('notifications/order-paid')).toEqual(before);
  });

  it.each([
    ['notifications', '%2e%2e%2e'],
    ['streams', 'order%E2%80%8Fpaid'],
    ['templates', 'Order'],
    ['layouts', 'a%2Fb'],
    ['partials', 'x'.repeat(64)],
  ])('of %s cannot have the name %s', async (segment, name) => {
    const answer = await put(`${segment}/${name}`, {}, NEW);
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_configuration' } });
    expect(answer.body['detail']).toContain('cannot be used; choose another name');
    expect((await get(`${segment}/${name}`)).status).toBe(404);
  });

  it('may have a name that means something to JavaScript', async () => {
    expect(await get('partials/constructor')).toMatchObject({ status: 404 });
    expect(await put('partials/constructor', { text: '' }, NEW)).toMatchObject({ status: 200 });
    expect(await get('partials/constructor')).toMatchObject({ status: 200, body: { body: { text: '' } } });
  });

  it.each([
    ['a key twice', '{"text":"a","text":"b"}', 400, 'duplicate_key'],
    ['a key that means something to JavaScript', '{"__proto__":{"a":1}}', 400, 'forbidden_key'],
    ['levels without end', `{"a":${'['.repeat(5000)}${']'.repeat(5000)}}`, 400, 'too_deep'],
    ['half an object', '{"text":', 400, 'invalid_json'],
    ['more than a MiB', JSON.stringify({ text: 'x'.repeat(1_100_000) }), 413, 'body_too_large'],
    ['nothing', '', 400, 'invalid_configuration'],
    ['a number that doubles cannot hold', '{"text":9007199254740993}', 400, 'invalid_configuration'],
    ['too long a text', JSON.stringify({ text: 'x'.repeat(500_000) }), 400, 'invalid_configuration'],
  ])('is not written by %s', async (_words, payload, status, code) => {
    expect(await put('partials/hostile', payload, NEW)).toMatchObject({ status, body: { code } });
    expect((await get('partials/hostile')).status).toBe(404);
  });

  it('that something needs stays, and says what needs it', async () => {
    const { etag } = await get('templates/order-paid');
    const refused = await ask('DELETE', 'templates/order-paid', undefined, { 'if-match': etag });
    expect(refused).toMatchObject({ status: 400, body: { code: 'invalid_configuration' } });
    expect(refused.body['faults']).toMatchObject([
      { kind: 'notification', name: 'order-paid', path: 'channels.email.template' },
    ]);
  });

  it('has a route for every kind, with pages of a list', async () => {
    for (const { listPath, kind } of KINDS_OF_RESOURCES) {
      if (listPath === null) continue;
      const all = await get(listPath.replace(':workspace', 'shop'));
      expect({ kind, status: all.status }).toEqual({ kind, status: 200 });
    }
    const names: unknown[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const { body } = await get(`partials?limit=1${cursor === '' ? '' : `&cursor=${cursor}`}`);
      const { items, next } = body as { items: { name: string }[]; next: string | null };
      names.push(...items.map(({ name }) => name));
      cursor = next;
    }
    expect(names).toEqual(['constructor', 'footer']);
  });
});

describe('a workspace and the deployment', () => {
  it('change like any other resource; only people who decide about people may change the environment', async () => {
    const { etag } = await get('/v1/workspaces/shop');
    const refused = await put('/v1/workspaces/shop', { ...SHOP, environment: 'test' }, { 'if-match': etag });
    expect(refused).toMatchObject({ status: 403, body: { code: 'forbidden_role' } });
    const renamed = await put('/v1/workspaces/shop', { name: 'Bücher' }, { 'if-match': etag });
    expect(renamed).toMatchObject({ status: 200, body: { body: { name: 'Bücher' } } });
    expect((await get('/v1/deployment')).status).toBe(404);
    const body = { public_url: 'https://notify.example.com' };
    expect(await put('/v1/deployment', body, NEW)).toMatchObject({ status: 200, body: { kind: 'deployment', body } });
  });

  it('are rolled back to another environment only by people who decide about people', async () => {
    const ref = { kind: 'workspace', workspace: 'shop', name: '' } as const;
    for (const body of [{ ...SHOP, environment: 'test' }, SHOP]) {
      const { record } = await planResources({ put: [{ ref, body }], remove: [] }, fixture.ports);
      await fixture.topology.publish(...record);
    }
    const { etag } = await get('/v1/workspaces/shop');
    const number = Number(JSON.parse(etag)) - 1;
    const refused = await ask('POST', '/v1/workspaces/shop/settings/rollback', { number }, { 'if-match': etag });
    expect(refused).toMatchObject({ status: 403, body: { code: 'forbidden_role' } });
    expect((await get('/v1/workspaces/shop')).etag).toBe(etag);
  });

  it('without access are refused on every route', async () => {
    const bob = personWith('per_bob', ['read', 'configure'], 'club');
    const { control: other } = await openControl(accessOf(bob), fixture.ports);
    for (const url of [`${W}/notifications/order-paid`, W, '/v1/deployment', `${W}/versions`]) {
      expect((await other.app.inject({ method: 'GET', url })).statusCode).toBe(403);
    }
    const list = await other.app.inject({ method: 'GET', url: '/v1/workspaces' });
    expect(list.statusCode).toBe(403);
    await other.app.close();
  });
});
