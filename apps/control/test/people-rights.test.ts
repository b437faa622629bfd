import type { AuditEntry } from '@carillon/domain/audit';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { TOKEN } from './control-fixture.ts';
import { openPeople, PASSWORD, type Browser, type PeopleFixture } from './people-fixture.ts';

const ADA = 'ada@example.com';
const BOB = 'bob@example.com';

let fixture: PeopleFixture;
let owner: Browser;
beforeEach(async () => {
  fixture = await openPeople();
  owner = await fixture.owner();
  for (const name of ['shop', 'club']) {
    await owner.call('POST', `/v1/workspaces/${name}/api-keys`, { name: 'k', new_workspace: true });
  }
});
afterEach(() => fixture.control.app.close());

type Made = { readonly id: string; readonly token: string; readonly expires_at: string | null };
const makeToken = async (by: Browser, body: object, headers = {}) =>
  by.call<Made & { readonly code?: string }>('POST', '/v1/tokens', { name: 'job', ...body }, headers);
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const asked = async (method: 'GET' | 'POST' | 'PUT' | 'DELETE', url: string, token: string, body?: object) =>
  fixture.browser().call(method, url, body, bearer(token));

async function audited(
  what: AuditEntry['what'],
  outcome: AuditEntry['outcome'] = 'done',
): Promise<readonly AuditEntry[]> {
  const records = await fixture.log.read('carillon.audit', 0, 0, 1000);
  return records.flatMap(({ value }) => {
    const read = fixture.codecs.audit.decode(value);
    return read.ok && read.value.kind === 'entry' && read.value.what === what && read.value.outcome === outcome
      ? [read.value]
      : [];
  });
}

describe('A token', () => {
  test('created by an expiring token does not outlive it', async () => {
    const { body: short } = await makeToken(owner, {
      scopes: ['people', 'read'],
      workspaces: ['shop'],
      expires_in: '1h',
    });
    const scope = { scopes: ['people'], workspaces: ['shop'] };
    for (const more of [{}, { expires_in: '30d' }]) {
      const { body } = await makeToken(fixture.browser(), { ...scope, ...more }, bearer(short.token));
      expect(body.expires_at).toBe(short.expires_at);
    }
    const { body: sooner } = await makeToken(fixture.browser(), { ...scope, expires_in: '1m' }, bearer(short.token));
    expect(sooner.expires_at && sooner.expires_at < (short.expires_at ?? '')).toBe(true);
  });

  test('may create another token, up to a chain of five', async () => {
    const scope = { scopes: ['people'], workspaces: ['shop'] };
    let { token } = (await makeToken(owner, scope)).body;
    for (let row = 2; row <= 5; row += 1) {
      ({ token } = (await makeToken(fixture.browser(), scope, bearer(token))).body);
      expect((await asked('GET', '/v1/workspaces/shop/members', token)).status, `${row} in a row`).toBe(200);
    }
    const sixth = await makeToken(fixture.browser(), scope, bearer(token));
    expect(sixth.body).toMatchObject({ status: 403, code: 'forbidden_role' });
  });

  test('may what its maker may at the moment, and rests while they are disabled or have lost the role', async () => {
    const id = await fixture.addPerson(ADA, { shop: 'owner' });
    const { body } = await makeToken(await fixture.signedIn(ADA), { scopes: ['read', 'people'], workspaces: ['shop'] });
    const { body: second } = await makeToken(
      fixture.browser(),
      { scopes: ['people'], workspaces: ['shop'] },
      bearer(body.token),
    );
    const status = async (token: string) => (await asked('GET', '/v1/workspaces/shop/members', token)).status;
    const both = async () => [await status(body.token), await status(second.token)];
    expect(await both()).toEqual([200, 200]);
    await owner.call('PUT', `/v1/people/${id}`, { state: 'disabled' });
    expect(await both()).toEqual([403, 403]);
    await owner.call('PUT', `/v1/people/${id}`, { state: 'active' });
    expect(await both()).toEqual([200, 200]);
    await owner.call('PUT', `/v1/workspaces/shop/members/${id}`, { roles: ['viewer'] });
    expect(await both()).toEqual([403, 403]);
    await owner.call('DELETE', `/v1/people/${id}`);
    expect((await asked('GET', '/v1/workspaces/shop/deliveries', body.token)).status).toBe(403);
  });

  test('with the scope people grants no role above its own, and cannot change deployment owners', async () => {
    const bob = await fixture.addPerson(BOB, { shop: 'viewer' });
    const { body } = await makeToken(owner, { scopes: ['people'] });
    const [own = ''] = (await fixture.directory.roster()).owners;
    const calls = [
      ['PUT', `/v1/workspaces/shop/members/${bob}`, { roles: ['owner'] }, 'forbidden_role'],
      ['DELETE', `/v1/workspaces/shop/members/${bob}`, undefined, 'forbidden_role'],
      ['PUT', `/v1/people/${own}`, { state: 'disabled' }, 'forbidden'],
      ['DELETE', `/v1/people/${own}`, undefined, 'forbidden'],
      ['DELETE', `/v1/people/${own}/credentials`, undefined, 'forbidden'],
      ['POST', '/v1/owner-links', {}, 'forbidden'],
    ] as const;
    for (const [method, url, payload, code] of calls) {
      expect({ url, ...(await asked(method, url, body.token, payload)).body }).toMatchObject({ url, code });
    }
  });
});

describe('An owner', () => {
  test('who creates an owner link signs in as themselves, and the audit names the person of the link', async () => {
    const id = await fixture.addPerson(BOB);
    await owner.call('PUT', `/v1/people/${id}`, { owner: true });
    const bob = await fixture.signedIn(BOB);
    const { body } = await bob.call<{ word: string }>('POST', '/v1/owner-links', {});
    const opened = await fixture.browser().call('POST', '/v1/session', { word: body.word });
    expect(opened.body).toMatchObject({ person: id });
    expect((await audited('owner_link.create')).map(({ target }) => target)).toEqual([id]);
  });

  test('must be named for a link created on the machine if there are several', async () => {
    const bob = await fixture.addPerson(BOB);
    await fixture.directory.appointOwner(bob);
    const make = (body: object) => asked('POST', '/v1/owner-links', TOKEN, body);
    expect((await make({})).body).toMatchObject({ status: 400, code: 'invalid_request', pointer: '/email' });
    const one = fixture.browser();
    await one.call('POST', '/v1/session', { word: (await make({ email: BOB })).body['word'] });
    expect((await one.call('GET', '/v1/me')).body).toMatchObject({ person: { id: bob } });
  });

  test('who is disabled or removed neither counts as the last owner nor can sign in', async () => {
    const [own = ''] = (await fixture.directory.roster()).owners;
    const id = await fixture.addPerson(BOB);
    // Disabled at the very moment in which somebody makes them an owner.
    await fixture.directory.changePerson(id, (person) => ({ ...person, state: 'disabled' }));
    await expect(fixture.directory.appointOwner(id)).rejects.toMatchObject({ code: 'wrong_state' });
    expect((await fixture.directory.roster()).owners).toEqual([own]);
    // Of a version that let it happen.
    await fixture.directory.changeRoster((roster) => ({ ...roster, owners: [id, 'per_gone', own] }));
    expect((await owner.call('PUT', `/v1/people/${own}`, { owner: false })).body).toMatchObject({
      code: 'wrong_state',
    });
    const { word } = await fixture.access.makeLink();
    expect((await fixture.browser().call('POST', '/v1/session', { word })).body).toMatchObject({ person: own });
  });

  test('is not signed in by a credential that does not say which of several owners is meant', async () => {
    const before = await fixture.access.makeLink();
    const id = await fixture.addPerson(ADA);
    await owner.call('PUT', `/v1/people/${id}`, { owner: true });
    for (const word of [TOKEN, before.word]) {
      const { status, body } = await fixture.browser().call('POST', '/v1/session', { word });
      expect(status).toBe(403);
      expect(body).toMatchObject({
        code: 'forbidden',
        detail: expect.stringContaining('there are 2 owners') as unknown,
      });
    }
    await owner.call('PUT', `/v1/people/${id}`, { owner: false });
    expect((await fixture.browser().call('POST', '/v1/session', { word: TOKEN })).status).toBe(200);
  });

  test('is created through an owner link if no existing owner can sign in', async () => {
    await fixture.directory.changeRoster((roster) => ({ ...roster, owners: ['per_gone'] }));
    const links = [await fixture.access.makeLink()];
    const one = fixture.browser();
    const { body } = await one.call<{ person: string }>('POST', '/v1/session', { word: links[0]?.word });
    expect((await one.call('GET', '/v1/me')).body).toMatchObject({ owner: true, person: { id: body.person } });
  });
});

describe('An unattended session', () => {
  test('cannot delete the account without its password', async () => {
    await fixture.addPerson(ADA);
    const ada = await fixture.signedIn(ADA);
    expect((await ada.call('DELETE', '/v1/me')).body).toMatchObject({ code: 'invalid_request' });
    expect((await ada.call('DELETE', '/v1/me', { current_password: 'wrong' })).body).toMatchObject({
      code: 'forbidden',
    });
    expect((await ada.call('DELETE', '/v1/me', { current_password: PASSWORD })).body).toEqual({ removed: true });
  });
});

describe('The audit', () => {
  test('records the affected person, and digests of the roles before and after', async () => {
    const id = await fixture.addPerson(BOB, { shop: 'viewer' });
    const member = `/v1/workspaces/shop/members/${id}`;
    for (const roles of [['owner'], ['viewer'], ['owner']]) await owner.call('PUT', member, { roles });
    await owner.call('DELETE', member);
    const changes = await audited('member.change');
    expect(changes.map(({ target, workspace }) => [target, workspace])).toEqual(changes.map(() => [id, 'shop']));
    const [first, second, third] = changes;
    expect(first?.before).not.toBe(first?.after);
    expect([first?.after, first?.before]).toEqual([second?.before, second?.after]);
    expect(third?.after).toBe(first?.after);
    expect((await audited('member.remove'))[0]).toMatchObject({ target: id, before: first?.after });
    await owner.call('PUT', `/v1/people/${id}`, { owner: true });
    await owner.call('PUT', `/v1/people/${id}`, { owner: false });
    const [made, unmade] = await audited('person.change');
    expect([made?.before, made?.after]).toEqual([unmade?.after, unmade?.before]);
    expect(made?.before).not.toBe(made?.after);
  });

  test('tells which token was made and ended, and with what', async () => {
    const made: string[] = [];
    for (const body of [{ scopes: ['read'] }, { scopes: ['people'] }, { scopes: ['read'], workspaces: ['shop'] }]) {
      made.push((await makeToken(owner, body)).body.id);
    }
    const created = await audited('token.create');
    expect(created.map(({ target }) => target)).toEqual(made);
    expect(new Set(created.map(({ after }) => after)).size).toBe(3);
    await owner.call('DELETE', `/v1/tokens/${made[0]}`);
    expect((await audited('token.revoke'))[0]).toMatchObject({ target: made[0], before: created[0]?.after });
  });

  test('records which person accepted which invitation, and nothing for a wrong invitation secret', async () => {
    const { body } = await owner.call<{ id: string; word: string }>('POST', '/v1/invitations', {
      email: BOB,
      memberships: [{ workspace: 'shop', role: 'editor' }],
    });
    const who = { name: 'Bob', password: PASSWORD };
    await fixture.browser().call('POST', '/v1/invitations/accept', { word: 'inv_wrong', ...who });
    const { body: opened } = await fixture
      .browser()
      .call<{ person: string }>('POST', '/v1/invitations/accept', { word: body.word, ...who });
    expect(await audited('invitation.create')).toMatchObject([{ target: body.id }]);
    const accepted = await audited('invitation.accept');
    expect(accepted).toMatchObject([{ target: body.id, actor: { kind: 'person', id: opened.person } }]);
    const everything = JSON.stringify(await fixture.log.read('carillon.audit', 0, 0, 1000));
    for (const secret of [BOB, body.word]) expect(everything).not.toContain(secret);
  });

  test('names the account of a failed sign-in, and nothing about an address without an account', async () => {
    const id = await fixture.addPerson(ADA);
    const guess = (email: string) =>
      fixture.browser().call('POST', '/v1/session', { email, password: 'not the right one' });
    await guess(ADA);
    await guess(BOB);
    const refused = await audited('session.open', 'refused');
    expect(refused).toMatchObject([
      { actor: null, target: id },
      { actor: null, target: null },
    ]);
    for (const email of [ADA, BOB]) expect(JSON.stringify(refused)).not.toContain(email);
  });

  test('names the session of a refused cross-site request', async () => {
    const id = await fixture.addPerson(ADA);
    const ada = await fixture.signedIn(ADA);
    for (const headers of [{ origin: 'http://localhost:9999' }, { 'x-carillon': '' }]) {
      expect((await ada.call('PUT', '/v1/me', { name: 'Mallory' }, headers)).status).toBe(403);
    }
    const told = { actor: { kind: 'person', id }, target: 'PUT /v1/me', code: 'cross_site' };
    expect(await audited('access.refused', 'refused')).toMatchObject([told, told]);
  });

  test('has no name and no address of whoever changes theirs', async () => {
    await fixture.addPerson(ADA);
    const ada = await fixture.signedIn(ADA);
    await ada.call('PUT', '/v1/me', { name: 'Ada Lovelace' });
    const [change] = await audited('person.change');
    expect(change?.before).not.toBe(change?.after);
    expect(JSON.stringify(change)).not.toContain('Lovelace');
  });
});
