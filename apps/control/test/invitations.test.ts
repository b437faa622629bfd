import type { ResourceBodies } from '@carillon/domain/configuration';
import { givenIds, type Wish } from '@carillon/testing/given';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { digestOf } from '../src/access/people/secret-tokens.ts';
import { openPeople, PASSWORD, type Browser, type PeopleFixture } from './people-fixture.ts';
import { publishWishes } from './control-fixture.ts';

const ADA = 'ada@example.com';
const BOB = 'bob@example.com';
const DAY = 24 * 3_600_000;

type Made = { readonly id: string; readonly word: string; readonly link: string; readonly mailed: string };
type Answer = Record<string, unknown> & { readonly code?: string; readonly detail?: string };

let fixture: PeopleFixture;
let owner: Browser;
beforeEach(async () => {
  fixture = await openPeople();
  await publish(['shop', 'club']);
  owner = await fixture.owner();
});
afterEach(() => fixture.control.app.close());

async function publish(names: readonly string[], deployment?: ResourceBodies['deployment']): Promise<void> {
  const wishes: readonly Wish[] = [
    ...names.map((workspace) => ({ ref: { kind: 'workspace' as const, workspace, name: '' }, body: {} })),
    ...(deployment ? [{ ref: { kind: 'deployment' as const, workspace: '', name: '' }, body: deployment }] : []),
  ];
  await publishWishes(fixture, wishes);
}

const SHOP_EDITOR = { email: BOB, memberships: [{ workspace: 'shop', role: 'editor' }] };
const invite = async (by: Browser = owner, body: object = SHOP_EDITOR) =>
  by.call<Made & Answer>('POST', '/v1/invitations', body);
const accept = (who: Browser, word: string, more: object = { name: 'Bob', password: PASSWORD }) =>
  who.call<Answer>('POST', '/v1/invitations/accept', { word, ...more });

describe('An invitation', () => {
  test('makes a person with name, password and roles, and signs them in', async () => {
    const { status, body } = await invite();
    expect(status).toBe(201);
    expect(body.mailed).toBe('no_account');
    expect(body.link).toMatch(/^http:\/\/localhost:\d+\/invitation#inv_/);
    const bob = fixture.browser();
    const look = await bob.call('POST', '/v1/invitations/look', { word: body.word });
    expect(look.body).toMatchObject({
      email: BOB,
      owner: false,
      has_account: false,
      memberships: SHOP_EDITOR.memberships,
    });
    expect((await accept(bob, body.word)).body).toMatchObject({ ok: true, way: 'invitation' });
    const me = await bob.call('GET', '/v1/me');
    expect(me.body).toMatchObject({
      person: { name: 'Bob', email: BOB, has_password: true },
      owner: false,
      workspaces: [{ workspace: 'shop', permissions: ['read', 'bodies', 'configure'] }],
    });
    await fixture.signedIn(BOB);
  });

  test('is stored as a digest, and neither the list nor the audit contains its secret', async () => {
    const { body } = await invite();
    const [kept] = await fixture.directory.all('invitation');
    expect(kept?.key).toBe(digestOf(body.word));
    const listed = (await owner.call('GET', '/v1/invitations')).body;
    expect(listed).toMatchObject({ items: [{ id: body.id, email: BOB, used: false }] });
    expect(JSON.stringify([kept, listed])).not.toContain(body.word);
  });

  test('can be accepted once, even if two browsers open it at once', async () => {
    const { body } = await invite();
    const [one, other] = [fixture.browser(), fixture.browser()];
    const both = await Promise.all([accept(one, body.word), accept(other, body.word)]);
    expect(both.map(({ status }) => status).toSorted((a, b) => a - b)[0]).toBe(200);
    expect(both.filter(({ status }) => status === 200)).toHaveLength(1);
    expect((await accept(fixture.browser(), body.word)).status).toBe(404);
    const everybody = await fixture.directory.all('person');
    expect(everybody.filter((person) => person.body.email === BOB)).toHaveLength(1);
    expect((await owner.call('GET', '/v1/invitations')).body).toMatchObject({ items: [{ used: true }] });
  });

  test('expires after seven days, when it is revoked, and when the clock is before its creation', async () => {
    const { body: late } = await invite();
    fixture.clock.pass(7 * DAY);
    owner = await fixture.owner();
    expect((await accept(fixture.browser(), late.word)).body).toMatchObject({ code: 'not_found' });
    const { body: gone } = await invite();
    expect((await owner.call('DELETE', `/v1/invitations/${gone.id}`)).body).toEqual({ removed: true });
    expect((await accept(fixture.browser(), gone.word)).status).toBe(404);
    expect((await owner.call('DELETE', `/v1/invitations/${gone.id}`)).status).toBe(404);
    const { body: early } = await invite();
    fixture.clock.pass(-8 * DAY);
    expect((await accept(fixture.browser(), early.word)).status).toBe(404);
  });

  test('interrupted before the person was created continues when it is opened again, unless the person was removed', async () => {
    const { body } = await invite();
    const [record] = await fixture.directory.all('invitation');
    if (!record) throw new Error('there is an invitation');
    const personId = givenIds.derive('person', 'invitation', record.id);
    await fixture.people.replace({ ...record, version: 2, body: { ...record.body, usedBy: personId } });
    expect((await accept(fixture.browser(), body.word)).body).toMatchObject({ person: personId });
    await owner.call('DELETE', `/v1/people/${personId}`);
    expect((await accept(fixture.browser(), body.word)).status).toBe(404);
  });

  test('to an existing account gives its owner the roles after signing in, and nobody else', async () => {
    const id = await fixture.addPerson(BOB, { club: 'viewer' });
    await fixture.addPerson(ADA);
    const { body } = await invite();
    const look = await fixture.browser().call('POST', '/v1/invitations/look', { word: body.word });
    expect(look.body).toMatchObject({ has_account: true });
    expect((await accept(fixture.browser(), body.word)).body).toMatchObject({ code: 'conflict' });
    expect((await accept(await fixture.signedIn(ADA), body.word, {})).body).toMatchObject({ code: 'conflict' });
    expect((await accept(await fixture.signedIn(BOB), body.word, {})).body).toEqual({
      ok: true,
      person: id,
      way: 'invitation',
    });
    expect((await owner.call('GET', `/v1/people/${id}`)).body).toMatchObject({
      memberships: [
        { workspace: 'club', role: 'viewer' },
        { workspace: 'shop', role: 'editor' },
      ],
    });
    expect((await accept(await fixture.signedIn(BOB), body.word, {})).status).toBe(404);
  });

  test('of a deployment owner lets a person without credentials in again; an invitation of another person does not', async () => {
    const id = await fixture.addPerson(BOB, { shop: 'viewer' });
    await fixture.addPerson(ADA, { shop: 'owner' });
    await owner.call('DELETE', `/v1/people/${id}/credentials`);
    const { body: others } = await invite(await fixture.signedIn(ADA));
    expect((await accept(fixture.browser(), others.word)).body).toMatchObject({ code: 'conflict' });
    const { body } = await invite();
    const look = await fixture.browser().call('POST', '/v1/invitations/look', { word: body.word });
    expect(look.body).toMatchObject({ has_account: false });
    expect((await accept(fixture.browser(), body.word)).body).toMatchObject({ ok: true, person: id });
    await fixture.signedIn(BOB);
    const { body: later } = await invite();
    expect((await accept(fixture.browser(), later.word)).body).toMatchObject({ code: 'conflict' });
  });

  test('gives whoever signs in by an identity provider alone no password', async () => {
    const id = await fixture.addPerson(BOB, { shop: 'viewer' });
    await owner.call('DELETE', `/v1/people/${id}/credentials`);
    const identity = { issuer: 'https://id.example.com', subject: 'bob', personId: id, boundAt: 0 };
    const bound = { ...identity, granted: [], grantedOwner: false };
    await fixture.people.replace({
      kind: 'identity',
      id: 'bob at the provider',
      version: 1,
      key: null,
      of: id,
      endsAt: null,
      body: bound,
    });
    const { body } = await invite();
    const look = await fixture.browser().call('POST', '/v1/invitations/look', { word: body.word });
    expect(look.body).toMatchObject({ has_account: true });
    expect((await accept(fixture.browser(), body.word)).body).toMatchObject({ code: 'conflict' });
    expect((await fixture.people.find('person', id))?.body.password).toBeNull();
  });

  test('makes an owner of the deployment where an owner says so', async () => {
    const { body } = await invite(owner, { email: BOB, owner: true });
    const bob = fixture.browser();
    await accept(bob, body.word);
    expect((await bob.call('GET', '/v1/me')).body).toMatchObject({ owner: true });
  });

  test('grants only roles that the inviter may grant, and only in workspaces that exist', async () => {
    await fixture.addPerson(ADA, { shop: 'owner' });
    const ada = await fixture.signedIn(ADA);
    expect((await invite(ada)).status).toBe(201);
    for (const body of [
      { email: BOB, owner: true },
      { email: BOB, memberships: [{ workspace: 'club', role: 'viewer' }] },
      { email: BOB, memberships: [...SHOP_EDITOR.memberships, { workspace: 'club', role: 'viewer' }] },
    ]) {
      expect((await invite(ada, body)).body).toMatchObject({ code: 'forbidden_role' });
    }
    expect(
      (await invite(owner, { email: BOB, memberships: [{ workspace: 'shpo', role: 'viewer' }] })).body,
    ).toMatchObject({
      code: 'invalid_request',
      detail: 'memberships: there is no workspace shpo; did you mean shop?',
    });
    expect((await invite(owner, { email: BOB })).body).toMatchObject({
      code: 'invalid_request',
      detail: expect.stringContaining('memberships') as unknown,
    });
    expect((await invite(owner, { email: 'no address' })).status).toBe(400);
    const { body: made } = await owner.call<{ token: string }>('POST', '/v1/tokens', {
      name: 'hr',
      scopes: ['people'],
    });
    const program = { authorization: `Bearer ${made.token}` };
    const byToken = (body: object) => fixture.browser().call('POST', '/v1/invitations', body, program);
    expect((await byToken({ email: BOB, owner: true })).body).toMatchObject({ code: 'forbidden' });
    expect((await byToken(SHOP_EDITOR)).body).toMatchObject({ code: 'forbidden_role' });
  });

  test('grants only what the inviter may still grant when it is opened', async () => {
    const id = await fixture.addPerson(ADA, { shop: 'owner' });
    const ada = await fixture.signedIn(ADA);
    const { body } = await invite(ada);
    await owner.call('PUT', `/v1/people/${id}`, { state: 'disabled' });
    expect((await accept(fixture.browser(), body.word)).status).toBe(404);
    await owner.call('PUT', `/v1/people/${id}`, { state: 'active' });
    expect((await accept(fixture.browser(), body.word)).status).toBe(200);
  });

  test('is seen and ended in the workspaces that it is for', async () => {
    await fixture.addPerson(ADA, { club: 'owner' });
    const ada = await fixture.signedIn(ADA);
    const { body } = await invite();
    expect((await ada.call('GET', '/v1/invitations')).body).toEqual({ items: [], next: null });
    expect((await ada.call('DELETE', `/v1/invitations/${body.id}`)).status).toBe(404);
  });

  test('asks for a good password and a name, and stays good', async () => {
    const { body } = await invite();
    const who = fixture.browser();
    expect((await accept(who, body.word, { name: 'Bob', password: 'short' })).status).toBe(400);
    expect((await accept(who, body.word, {})).body).toMatchObject({
      code: 'invalid_request',
      detail: expect.stringContaining('name') as unknown,
    });
    expect((await accept(who, body.word)).status).toBe(200);
  });

  test('is not accepted by a page of somebody else, and wrong words are told to wait', async () => {
    const { body } = await invite();
    const foreign = { origin: 'https://evil.example' };
    const answer = await fixture
      .browser()
      .call('POST', '/v1/invitations/accept', { word: body.word, name: 'Bob', password: PASSWORD }, foreign);
    expect(answer.body).toMatchObject({ code: 'cross_site' });
    const statuses: number[] = [];
    for (let i = 0; i < 12; i += 1) statuses.push((await accept(fixture.browser(), `inv_${i}`)).status);
    expect(statuses.slice(0, 10).every((status) => status === 404)).toBe(true);
    expect(statuses.slice(10)).toEqual([429, 429]);
    expect((await accept(fixture.browser(), body.word)).status).toBe(200);
  });

  test('leads to portal_url where there is one', async () => {
    await publish([], { portal_url: 'https://carillon.example.com/' });
    expect((await invite()).body.link).toMatch(/^https:\/\/carillon\.example\.com\/invitation#inv_/);
  });
});

test('Where passwords are switched off nobody sets one, in a session or by an invitation', async () => {
  await fixture.addPerson(ADA, { shop: 'viewer' });
  const ada = await fixture.signedIn(ADA);
  const { body } = await invite();
  await publish([], {
    sign_in: { passwords: false, providers: [{ name: 'company', issuer: 'https://id.example.com', client_id: 'c' }] },
  });
  const next = { password: 'another horse battery staple', current_password: PASSWORD };
  expect((await ada.call('PUT', '/v1/me/password', next)).body).toMatchObject({ status: 403, code: 'forbidden' });
  expect((await accept(fixture.browser(), body.word)).body).toMatchObject({ status: 400, pointer: '/password' });
  const bob = fixture.browser();
  expect((await accept(bob, body.word, { name: 'Bob' })).status).toBe(200);
  expect((await bob.call('PUT', '/v1/me/password', { password: PASSWORD })).status).toBe(403);
  const hashes = (await fixture.directory.all('person')).map((one) => [one.body.email, one.body.password?.hash]);
  expect(hashes.find(([email]) => email === BOB)).toEqual([BOB, undefined]);
});
