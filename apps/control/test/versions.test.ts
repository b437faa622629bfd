import { findResource } from '@carillon/domain/configuration';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Control } from '../src/index.ts';
import { accessOf, openControl, personWith } from './control-fixture.ts';
import { MAIL, openResourceFixture, ORDERS, PAID, SHOP, type ResourceFixture } from './resource-fixture.ts';

let fixture: ResourceFixture;
let control: Control;
const W = '/v1/workspaces/shop';
const NEW = { 'if-none-match': '*' };
type Headers = Readonly<Record<string, string>>;
async function ask(method: 'GET' | 'PUT' | 'POST' | 'DELETE', path: string, payload?: object, headers: Headers = {}) {
  const url = path.startsWith('/') ? path : `${W}/${path}`;
  const answer = await control.app.inject({ method, url, headers, ...(payload && { payload }) });
  return { status: answer.statusCode, etag: String(answer.headers.etag), body: answer.json<Record<string, unknown>>() };
}
const numberOf = (answer: { body: Record<string, unknown> }): number => answer.body['number'] as number;
const ORDER = 'notifications/order-paid';
const replace = async (path: string, body: object) =>
  ask('PUT', path, body, { 'if-match': (await ask('GET', path)).etag });

let first: number;
let second: number;
beforeAll(async () => {
  fixture = await openResourceFixture();
  const ann = personWith('per_ann', ['read', 'configure', 'people']);
  ({ control } = await openControl(accessOf(ann), fixture.ports));
  await ask('PUT', W, SHOP, NEW);
  await ask('PUT', 'streams/orders', ORDERS, NEW);
  await ask('PUT', 'templates/order-paid', MAIL, NEW);
  first = numberOf(await ask('PUT', ORDER, { ...PAID, name: 'First' }, NEW));
  second = numberOf(await replace(ORDER, { ...PAID, name: 'Second', expires: '24h' }));
});
afterAll(async () => {
  await control.app.close();
  await fixture.close();
});

describe('versions', () => {
  it('are listed newest first, a page at a time, each with who, when and how', async () => {
    const { body } = await ask('GET', `${ORDER}/versions`);
    expect(body).toMatchObject({
      items: [
        { number: second, version: 2, action: 'update', by: { kind: 'person', id: 'per_ann' }, origin: 'portal' },
        { number: first, version: 1, action: 'create', message: null },
      ],
      next: null,
    });
    const page = await ask('GET', `${ORDER}/versions?limit=1`);
    expect(page.body).toMatchObject({ items: [{ number: second }], next: expect.any(String) as string });
    const rest = await ask('GET', `${ORDER}/versions?limit=1&cursor=${String(page.body['next'])}`);
    expect(rest.body).toMatchObject({ items: [{ number: first }], next: null });
    expect((await ask('GET', `${ORDER}/versions?cursor=x`)).status).toBe(400);
    expect((await ask('GET', 'notifications/never/versions')).status).toBe(404);
  });

  it('are read at any number of the configuration, also at one that changed something else', async () => {
    expect((await ask('GET', `${ORDER}/versions/${first}`)).body).toMatchObject({
      number: first,
      body: { name: 'First' },
    });
    await ask('PUT', 'partials/other', { text: '' }, NEW);
    const later = numberOf(await ask('GET', 'partials/other'));
    expect((await ask('GET', `${ORDER}/versions/${later}`)).body).toMatchObject({ number: second });
    expect((await ask('GET', `${ORDER}/versions/0`)).status).toBe(404);
    expect((await ask('GET', `${ORDER}/versions/999999`)).status).toBe(400);
  });

  it('are compared by field and by file, either way round', async () => {
    const { body } = await ask('GET', `${ORDER}/diff?from=${first}&to=${second}`);
    expect(body['fields']).toEqual([
      { path: 'name', before: 'First', after: 'Second' },
      { path: 'expires', before: null, after: '24h' },
    ]);
    expect(body['files']).toMatchObject([{ path: 'workspaces/shop/notifications/order-paid.yaml' }]);
    const back = await ask('GET', `${ORDER}/diff?from=${second}&to=${first}`);
    expect(back.body['fields']).toMatchObject([
      { before: 'Second', after: 'First' },
      { before: '24h', after: null },
    ]);
    const gone = await ask('GET', `${ORDER}/diff?from=0`);
    expect(gone.body).toMatchObject({ files: [{ before: null }] });
  });

  it('of a workspace list everything published in it', async () => {
    const { body } = await ask('GET', 'versions?limit=2');
    expect(body).toMatchObject({
      items: [{ changes: [{ kind: 'partial', name: 'other', action: 'create' }] }, { number: second }],
    });
  });
});

describe('a rollback', () => {
  it('creates a new version with the old body and current ids, and the history says so', async () => {
    const before = findResource(fixture.ports.configuration.current(), 'notification', 'shop', 'order-paid');
    const { etag } = await ask('GET', ORDER);
    const asked = await ask('POST', `${ORDER}/rollback`, { number: first, check_only: true });
    expect(asked.body).toMatchObject({ applied: false, faults: [], changes: [{ action: 'update' }] });
    const message = 'It was too late';
    const done = await ask('POST', `${ORDER}/rollback`, { number: first, message }, { 'if-match': etag });
    expect(done).toMatchObject({ status: 200, body: { applied: true, gone: [] } });
    const after = findResource(fixture.ports.configuration.current(), 'notification', 'shop', 'order-paid');
    expect(after?.body.name).toBe('First');
    expect(after?.body.id).toBe(before?.body.id);
    expect((await ask('GET', `${ORDER}/versions?limit=1`)).body).toMatchObject({
      items: [{ number: done.body['new_number'], version: 3, origin: 'rollback', message }],
    });
    const late = await ask('POST', `${ORDER}/rollback`, { number: second }, { 'if-match': etag });
    expect(late).toMatchObject({ status: 412, body: { newer: { number: done.body['new_number'] } } });
    expect((await ask('POST', `${ORDER}/rollback`, { number: second })).status).toBe(428);
  });

  it('is refused if it would change a field that is fixed at creation, and changes nothing', async () => {
    const path = 'streams/moved';
    const made = numberOf(await ask('PUT', path, ORDERS, NEW));
    const { etag } = await ask('GET', path);
    await ask('DELETE', path, undefined, { 'if-match': etag });
    await ask('PUT', path, { ...ORDERS, key: 'event.id' }, NEW);
    const now = await ask('GET', path);
    const refused = await ask('POST', `${path}/rollback`, { number: made }, { 'if-match': now.etag });
    expect(refused).toMatchObject({
      status: 400,
      body: { code: 'invalid_configuration', faults: [{ path: 'key', expected: 'event.id' }] },
    });
    expect(await ask('GET', path)).toEqual(now);
  });

  it('names removed resources that the old body refers to, and restores them on request', async () => {
    const path = 'notifications/news';
    await ask('PUT', 'layouts/plain', { text: 'Dear reader,\n{{{body}}}' }, NEW);
    await ask('PUT', 'templates/news', { email: { subject: 'News', text: 'x', layout: 'plain' } }, NEW);
    const body = { ...PAID, channels: { email: { template: 'news' } } };
    const made = numberOf(await ask('PUT', path, body, NEW));
    await replace(path, PAID);
    for (const one of ['templates/news', 'layouts/plain']) {
      const { etag } = await ask('GET', one);
      expect(await ask('DELETE', one, undefined, { 'if-match': etag })).toMatchObject({ status: 200 });
    }
    const gone = [
      { kind: 'template', name: 'news' },
      { kind: 'layout', name: 'plain' },
    ];
    const asked = await ask('POST', `${path}/rollback`, { number: made, check_only: true });
    expect(asked.body).toMatchObject({ gone, faults: [{ path: 'channels.email.template' }] });
    const { etag } = await ask('GET', path);
    const alone = await ask('POST', `${path}/rollback`, { number: made }, { 'if-match': etag });
    expect(alone).toMatchObject({ status: 400, body: { code: 'invalid_configuration' } });
    const all = { number: made, with_references: true };
    expect(await ask('POST', `${path}/rollback`, all, { 'if-match': etag })).toMatchObject({
      status: 200,
      body: { gone },
    });
    expect((await ask('GET', 'templates/news')).body).toMatchObject({ body: { email: { layout: 'plain' } } });
    expect((await ask('GET', 'layouts/plain')).status).toBe(200);
  });

  it('recreates a removed resource under its former id, so that nobody is notified twice', async () => {
    const path = 'notifications/again';
    const made = await ask('PUT', path, PAID, NEW);
    await ask('DELETE', path, undefined, { 'if-match': made.etag });
    expect((await ask('GET', path)).status).toBe(404);
    const back = await ask('POST', `${path}/rollback`, { number: numberOf(made) }, NEW);
    expect(back).toMatchObject({ status: 200, body: { applied: true } });
    expect((await ask('GET', path)).body['body']).toEqual(made.body['body']);
  });
});
