import type { EventLog } from '@carillon/ports';
import { hash } from 'node:crypto';
import { stringifyJson } from '@carillon/kernel';
import { createDirectWire, createMemoryStores, createMemorySuppressions } from '@carillon/testing/memory';
import { afterEach, expect, test } from 'vitest';
import { REFUSED_SIGN_INS } from '../src/audit/hook.ts';
import { PERMISSIONS } from '../src/access/permission.ts';
import { accessOf, auditEntries as entries, openControl, personWith, TOKEN, type Fixture } from './control-fixture.ts';

let open: Fixture | undefined;
afterEach(() => open?.control.app.close());

const OWNER = { authorization: `Bearer ${TOKEN}` };

async function fixture(...given: Parameters<typeof openControl>): Promise<Fixture> {
  open = await openControl(...given);
  return open;
}

const makeKey = ({ control }: Fixture) =>
  control.app.inject({
    method: 'POST',
    url: '/v1/workspaces/shop/api-keys',
    headers: { ...OWNER, 'user-agent': 'carillon/0.1' },
    payload: { name: 'backend' },
  });

test('A change is audited before it is made and again with its outcome before the response: actor, action, origin and digests', async () => {
  const here = await fixture();
  const answer = await makeKey(here);
  expect(answer.statusCode).toBe(201);
  const [begun, done, ...more] = await entries(here);
  expect(more).toEqual([]);
  expect(begun).toMatchObject({
    actor: { kind: 'cli', id: 'owner' },
    what: 'api_key.create',
    workspace: 'shop',
    from: { address: '127.0.0.1', userAgent: 'carillon/0.1' },
    requestId: answer.headers['x-request-id'],
    outcome: 'begun',
    number: null,
  });
  expect(done).toMatchObject({ id: begun?.id, outcome: 'done', number: 0, target: '2 resources', before: null });
  expect(done?.after).toMatch(/^[0-9a-f]{64}$/);
  expect(JSON.stringify([begun, done])).not.toContain('cln_');
});

test('An address and an opt-out are changed with digests of before and after, by which nobody can try addresses', async () => {
  const wire = createDirectWire();
  const suppressions = createMemorySuppressions().connect(wire);
  const { consents } = createMemoryStores().connect(wire);
  const here = await fixture(undefined, { suppressions, consents });
  await makeKey(here);
  const post = (path: string, payload: object) =>
    here.control.app.inject({ method: 'POST', url: `/v1/workspaces/shop/${path}`, headers: OWNER, payload });
  const which = { channel: 'email', address: 'Ada@example.com' };
  for (const path of ['suppressions', 'suppressions/remove', 'suppressions'])
    expect((await post(path, which)).statusCode).toBe(200);
  for (const opted_out of [true, false]) {
    const said = { person: 'ada@example.com', target: 'all', opted_out };
    expect((await post('consents', said)).statusCode).toBe(200);
  }
  const done = (await entries(here)).filter(({ outcome, what }) => outcome === 'done' && what !== 'api_key.create');
  const begun = (await entries(here)).filter(({ outcome, what }) => outcome === 'begun' && what !== 'api_key.create');
  expect(begun.map(({ target }) => target)).toEqual(done.map(({ target }) => target));
  const [added, removed, again, out, back] = done;
  expect(done.map(({ what }) => what)).toEqual([
    'suppression.add',
    'suppression.remove',
    'suppression.add',
    'consent.set',
    'consent.set',
  ]);
  expect([added?.before, removed?.after, out?.before]).toEqual([null, null, null]);
  expect(added?.after).toBe(removed?.before);
  expect(again?.after).toBe(added?.after);
  expect(out?.after).toBe(back?.before);
  expect(back?.after).not.toBe(out?.after);
  // The same person has the same target, and no name there.
  expect(new Set([added?.target, removed?.target, again?.target]).size).toBe(1);
  expect(out?.target).toBe(back?.target);
  const guessed = hash('sha256', stringifyJson({ ...which, address: 'ada@example.com' }), 'hex');
  expect(JSON.stringify(done).toLowerCase()).not.toMatch(new RegExp(`ada@example|${guessed}`));
});

test('Nothing is changed, and nobody signs in, while the audit cannot be written', async () => {
  const here = await fixture();
  const log = withoutAudit(here.log);
  const shut = await fixture(undefined, { log });
  const answer = await makeKey(shut);
  expect(answer.statusCode).toBe(503);
  expect(answer.json()).toMatchObject({ code: 'audit_unavailable' });
  expect(answer.headers['retry-after']).toBeDefined();
  expect((await here.log.bounds('carillon.config', 0)).end).toBe(0);
  const signIn = await shut.control.app.inject({ method: 'POST', url: '/v1/session', payload: { word: TOKEN } });
  expect(signIn.statusCode).toBe(503);
  expect(signIn.headers['set-cookie']).toBeUndefined();
});

test('A change whose outcome cannot be written says that it was begun', async () => {
  const here = await fixture();
  let writes = 0;
  const log: EventLog = {
    ...here.log,
    append: (records) => {
      if (records[0]?.topic === 'carillon.audit' && (writes += 1) > 1) return Promise.reject(new Error('away'));
      return here.log.append(records);
    },
  };
  const answer = await makeKey(await fixture(undefined, { log }));
  expect(answer.statusCode).toBe(503);
  expect(answer.json<{ detail: string }>().detail).toContain('its start is in the audit log');
  expect(answer.body).not.toContain('cln_once');
  expect((await entries(here)).map(({ outcome }) => outcome)).toEqual(['begun']);
});

test('A refused change is audited with the refusal as outcome; a body that fails validation is not audited', async () => {
  const here = await fixture();
  await makeKey(here);
  expect((await makeKey(here)).statusCode).toBe(409);
  expect((await entries(here)).slice(2)).toMatchObject([
    { outcome: 'begun' },
    { outcome: 'refused', code: 'conflict', number: null },
  ]);
  const bad = { method: 'POST', url: '/v1/workspaces/shop/api-keys', headers: OWNER, payload: {} } as const;
  expect((await here.control.app.inject(bad)).statusCode).toBe(400);
  expect(await entries(here)).toHaveLength(4);
});

test('A refusal for a missing permission is audited with the requested route and workspace', async () => {
  const here = await fixture(accessOf(personWith('per_ann', ['read'])));
  await here.control.app.inject({ method: 'DELETE', url: '/v1/workspaces/shop/api-keys/backend' });
  await here.control.app.inject({ method: 'GET', url: '/v1/workspaces/shop/suppressions' });
  expect(await entries(here)).toMatchObject([
    {
      what: 'access.refused',
      actor: { kind: 'person', id: 'per_ann' },
      workspace: 'shop',
      target: 'DELETE /v1/workspaces/:workspace/api-keys/:name',
      outcome: 'refused',
      code: 'forbidden_role',
    },
    { what: 'access.refused', target: 'GET /v1/workspaces/:workspace/suppressions' },
  ]);
});

test('Sign-in, sign-out and a wrong password are audited, and no record contains a password', async () => {
  const here = await fixture();
  const signIn = (word: string) => here.control.app.inject({ method: 'POST', url: '/v1/session', payload: { word } });
  await signIn('guess-of-somebody');
  const { headers } = await signIn(TOKEN);
  const cookie = String(headers['set-cookie']).split(';')[0] ?? '';
  await here.control.app.inject({ method: 'DELETE', url: '/v1/session', headers: { cookie, 'x-carillon': '1' } });
  const told = await entries(here);
  expect(told.map(({ what, outcome, code }) => [what, outcome, code])).toEqual([
    ['session.open', 'refused', 'unauthorized'],
    ['session.open', 'done', null],
    ['session.close', 'begun', null],
    ['session.close', 'done', null],
  ]);
  expect(told[0]?.actor).toBeNull();
  expect(told[1]?.actor).toMatchObject({ kind: 'person' });
  expect(JSON.stringify(told)).not.toMatch(/guess-of-somebody|own_/);
});

test('A flood of wrong passwords leaves one audit record per answered attempt', async () => {
  const here = await fixture();
  for (let guess = 0; guess < 50; guess += 1) {
    await here.control.app.inject({ method: 'POST', url: '/v1/session', payload: { word: `guess ${guess}` } });
  }
  expect(await entries(here)).toHaveLength(10);
});

test('Audit records of refused sign-ins are limited per minute for each address and in total; successful sign-ins are always recorded', async () => {
  const here = await fixture();
  const signIn = (remoteAddress: string, payload: object, more: object = {}) =>
    here.control.app.inject({ method: 'POST', url: '/v1/session', remoteAddress, payload, headers: { ...more } });
  // A page of somebody else sends a browser here: refused before anything is looked at.
  const foreign = { origin: 'https://elsewhere.example.com', 'sec-fetch-site': 'cross-site' };
  const refused = async (address: string) =>
    expect((await signIn(address, { word: 'x' }, foreign)).statusCode).toBe(403);
  for (let guess = 0; guess < 50; guess += 1) await refused('203.0.113.9');
  expect(await entries(here)).toHaveLength(REFUSED_SIGN_INS.fromOne);
  for (let guess = 0; guess < 250; guess += 1) await refused(`198.51.100.${guess}`);
  expect(await entries(here)).toHaveLength(REFUSED_SIGN_INS.inAll);
  expect((await signIn('203.0.113.9', { word: TOKEN })).statusCode).toBe(200);
  expect((await entries(here)).at(-1)).toMatchObject({ what: 'session.open', outcome: 'done' });
  here.clock.pass(REFUSED_SIGN_INS.span);
  await refused('203.0.113.9');
  expect(await entries(here)).toHaveLength(REFUSED_SIGN_INS.inAll + 2);
});

test('Requests that change nothing and show no contents are not audited', async () => {
  const here = await fixture(accessOf(personWith('per_ann', PERMISSIONS)));
  await makeKey(here);
  const before = (await entries(here)).length;
  await here.control.app.inject({ method: 'POST', url: '/v1/configuration/plan', payload: { files: [] } });
  await here.control.app.inject({ method: 'GET', url: '/v1/openapi.json' });
  expect(await entries(here)).toHaveLength(before);
});

test('A client that says much of itself is cut short', async () => {
  const here = await fixture();
  await here.control.app.inject({
    method: 'POST',
    url: '/v1/session',
    headers: { 'user-agent': 'x'.repeat(5_000) },
    payload: { word: TOKEN },
  });
  expect((await entries(here))[0]?.from.userAgent).toHaveLength(200);
});

function withoutAudit(log: EventLog): EventLog {
  return {
    ...log,
    append: (records) =>
      records.some(({ topic }) => topic === 'carillon.audit')
        ? Promise.reject(new Error('the log is away'))
        : log.append(records),
  };
}

test('Reading a stored message is audited under the workspace of the message, whichever route was used', async () => {
  const inbox = createMemoryStores().connect().inbox;
  const html = '<p>Hello</p>';
  const message = {
    channel: 'email',
    to: 'ada@example.com',
    from: { name: 'Shop', address: 'shop@example.com' },
    subject: 'Hello',
    html,
    text: 'Hello',
    messageId: '<dlv_1.1@example.com>',
  } as const;
  await inbox.put({ id: 'msg_1', workspace: 'shop', deliveryId: 'dlv_1', message, at: 1 });
  const here = await fixture(undefined, { inbox });
  for (const url of ['/v1/inbox/msg_1', '/inbox/messages/msg_1/html', '/v1/inbox/msg_2']) {
    await here.control.app.inject({ method: 'GET', url, headers: OWNER });
  }
  const told = await entries(here);
  expect(told.map(({ what, workspace, target, outcome }) => [what, workspace, target, outcome])).toEqual([
    ['inbox.read', 'shop', 'msg_1', 'done'],
    ['inbox.read', 'shop', 'msg_1', 'done'],
  ]);
  expect(JSON.stringify(told)).not.toContain('ada@example.com');
});

test('The audit list shows each action once with its outcome, newest first, filtered, in pages without gaps or repeats', async () => {
  const here = await fixture();
  for (const name of ['one', 'two', 'three']) {
    await here.control.app.inject({
      method: 'POST',
      url: '/v1/workspaces/shop/api-keys',
      headers: OWNER,
      payload: { name },
    });
    here.clock.pass(1_000);
  }
  type Shown = { items: readonly { target: string; outcome: string; at: string }[]; next: string | null };
  const list = async (query: string) => {
    const answer = await here.control.app.inject({ method: 'GET', url: `/v1/audit?${query}`, headers: OWNER });
    expect(answer.statusCode).toBe(200);
    return answer.json<Shown>();
  };
  const whole = await list('action=api_key.create');
  expect(whole).toMatchObject({
    items: [
      { target: 'api_key:shop/three', outcome: 'done' },
      { target: 'api_key:shop/two', outcome: 'done' },
      { target: '2 resources', outcome: 'done' },
    ],
    next: null,
  });
  const paged: unknown[] = [];
  // A cursor that goes nowhere ends the test, and does not keep it.
  for (let cursor: string | null = ''; cursor !== null && paged.length <= whole.items.length;) {
    const page: Shown = await list(`limit=1${cursor === '' ? '' : `&cursor=${cursor}`}`);
    paged.push(...page.items);
    cursor = page.next;
  }
  expect(paged).toEqual(whole.items);
  expect((await list('target=api_key:shop/two')).items).toHaveLength(1);
  expect((await list('actor=per_ann')).items).toEqual([]);
  expect((await list(`from=${whole.items[1]?.at}&to=${whole.items[0]?.at}`)).items).toHaveLength(1);
  const wrong = await here.control.app.inject({ method: 'GET', url: '/v1/audit?action=api_key.made', headers: OWNER });
  expect(wrong.statusCode).toBe(400);
  expect(wrong.json<{ detail: string }>().detail).toContain('there is no action api_key.made');
});

test('A person with access to the audit of one workspace sees no records of other workspaces or the deployment', async () => {
  const club = personWith('per_ann', ['audit'], 'club');
  let who = personWith('per_bob', PERMISSIONS);
  const here = await fixture({ ...accessOf(who), who: async () => who });
  for (const workspace of ['shop', 'club']) {
    await here.control.app.inject({
      method: 'POST',
      url: `/v1/workspaces/${workspace}/api-keys`,
      payload: { name: 'backend', new_workspace: true },
    });
  }
  await here.control.app.inject({ method: 'POST', url: '/v1/owner-links', payload: {} });
  who = club;
  const answer = await here.control.app.inject({ method: 'GET', url: '/v1/audit' });
  const seen = answer.json<{ items: readonly { workspace: string | null }[] }>().items;
  expect(seen.map(({ workspace }) => workspace)).toEqual(['club']);
  const other = await here.control.app.inject({ method: 'GET', url: '/v1/workspaces/shop/audit' });
  expect(other.statusCode).toBe(403);
});
