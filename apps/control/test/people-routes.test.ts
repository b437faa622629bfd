import { ROLES, TOKEN_SCOPES, type Role, type TokenScope } from '@carillon/domain/people';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { digestOf } from '../src/access/people/secret-tokens.ts';
import { PERMISSIONS, ROLES_WITH, SCOPE_PERMISSIONS, type RoutePermission } from '../src/access/permission.ts';
import { openPeople, PASSWORD, type Browser, type PeopleFixture } from './people-fixture.ts';

const ADA = 'ada@example.com';
/** A workspace that does not exist: requests are refused after their permission check. */
const NOWHERE = 'nowhere';

let fixture: PeopleFixture;
let owner: Browser;
beforeEach(async () => {
  fixture = await openPeople();
  owner = await fixture.owner();
  for (const name of ['shop', 'club']) {
    const { status } = await owner.call('POST', `/v1/workspaces/${name}/api-keys`, { name: 'k', new_workspace: true });
    expect(status).toBe(201);
  }
});
afterEach(() => fixture.control.app.close());

type Route = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly url: string;
  readonly permission: RoutePermission;
};

/** Operations about one workspace, with this one in the place of it. */
function routesOf(name: string): readonly Route[] {
  return Object.entries(fixture.control.description().paths).flatMap(([path, operations]) =>
    Object.entries(operations)
      .filter(() => path.startsWith('/v1/workspaces/{workspace}/'))
      .map(([method, { 'x-carillon-permission': permission = 'people' }]) => ({
        method: method.toUpperCase() as Route['method'],
        url: path.replaceAll(/\{(\w+)\}/g, (_, part: string) => (part === 'workspace' ? name : 'some')),
        permission,
      })),
  );
}

const enoughOf = (permission: RoutePermission): readonly string[] =>
  typeof permission === 'string' ? [permission] : permission;

describe('every operation of a workspace', () => {
  test.each(ROLES)(
    'follows the permissions of the role %s, and is refused in another workspace',
    async (role: Role) => {
      await fixture.addPerson(ADA, { [NOWHERE]: role });
      const ada = await fixture.signedIn(ADA);
      for (const { method, url, permission } of routesOf(NOWHERE)) {
        const may = PERMISSIONS.some((one) => enoughOf(permission).includes(one) && ROLES_WITH[one].includes(role));
        const { status } = await ada.call(method, url);
        expect({ method, url, refused: status === 403 }).toEqual({ method, url, refused: !may });
        expect(status).not.toBe(401);
      }
      for (const { method, url } of routesOf('club')) expect((await ada.call(method, url)).status).toBe(403);
    },
  );

  test.each(TOKEN_SCOPES)('follows the permissions of a token with the scope %s', async (scope: TokenScope) => {
    const made = await owner.call<{ readonly token: string }>('POST', '/v1/tokens', {
      name: 'job',
      scopes: [scope],
      workspaces: ['shop'],
    });
    const program = fixture.browser();
    const headers = { authorization: `Bearer ${made.body.token}` };
    // An export of stores that are not there breaks off.
    for (const { method, url, permission } of routesOf('shop').filter((one) => !one.url.endsWith('/export'))) {
      const may = SCOPE_PERMISSIONS[scope].some((one) => enoughOf(permission).includes(one));
      const { status } = await program.call(method, url, undefined, headers);
      expect({ method, url, refused: status === 403 }).toEqual({ method, url, refused: !may });
    }
    for (const { method, url } of routesOf('club')) {
      expect((await program.call(method, url, undefined, headers)).status).toBe(403);
    }
  });
});

describe('A service token', () => {
  type Made = { readonly id: string; readonly token: string };
  const make = async (more: object) => (await owner.call<Made>('POST', '/v1/tokens', { name: 'job', ...more })).body;
  const me = (token: string) =>
    fixture.browser().call('GET', '/v1/me', undefined, { authorization: `Bearer ${token}` });

  test('is shown once, stored as a digest, records its last use, and ends when revoked', async () => {
    const { id, token } = await make({ scopes: ['read'] });
    const [kept] = await fixture.directory.all('token');
    expect(kept?.key).toBe(digestOf(token));
    expect(JSON.stringify(kept)).not.toContain(token);
    expect((await me(token)).body).toMatchObject({ actor: { kind: 'token', id }, person: null, permissions: ['read'] });
    const listed = await owner.call('GET', '/v1/tokens');
    expect(listed.body).toMatchObject({ items: [{ id, used_at: expect.any(String) as unknown, expired: false }] });
    expect(JSON.stringify(listed.body)).not.toContain(token);
    expect((await owner.call('DELETE', `/v1/tokens/${id}`)).body).toEqual({ removed: true });
    expect((await me(token)).status).toBe(401);
    expect((await owner.call('DELETE', `/v1/tokens/${id}`)).status).toBe(404);
  });

  test('expires, and does not work with a changed letter', async () => {
    const { token } = await make({ scopes: ['read'], expires_in: '1h' });
    expect((await me(token)).status).toBe(200);
    expect((await me(`${token}x`)).status).toBe(401);
    fixture.clock.pass(3_600_000);
    expect((await me(token)).status).toBe(401);
  });

  test('has at most the permissions and workspaces of its creator', async () => {
    await fixture.addPerson(ADA, { shop: 'owner' });
    const ada = await fixture.signedIn(ADA);
    const status = async (more: object) => (await ada.call('POST', '/v1/tokens', { name: 'job', ...more })).status;
    expect(await status({ scopes: ['people'], workspaces: ['shop'] })).toBe(201);
    expect(await status({ scopes: ['read'] })).toBe(403);
    expect(await status({ scopes: ['read'], workspaces: ['shop', 'club'] })).toBe(403);
    await make({ scopes: ['read'], workspaces: ['club'] });
    const { items } = (await ada.call<{ readonly items: readonly Made[] }>('GET', '/v1/tokens')).body;
    expect(items).toHaveLength(1);
    const all = await owner.call<{ readonly items: readonly Made[] }>('GET', '/v1/tokens');
    const other = all.body.items.find(({ id }) => id !== items[0]?.id)?.id ?? '';
    expect((await ada.call('DELETE', `/v1/tokens/${other}`)).status).toBe(404);
    expect((await owner.call('POST', '/v1/tokens', { name: 'x', scopes: ['read'], workspaces: ['shpo'] })).status).toBe(
      400,
    );
  });
});

describe('people', () => {
  test('get workspace roles from its owner, who has no rights over others or the deployment', async () => {
    await fixture.addPerson(ADA, { shop: 'owner' });
    const bob = await fixture.addPerson('bob@example.com', { club: 'viewer' });
    const ada = await fixture.signedIn(ADA);
    // A non-member's name and address stay hidden: a workspace owner must invite them, and a deployment owner can add
    // them.
    const strange = await ada.call('PUT', `/v1/workspaces/shop/members/${bob}`, { roles: ['viewer'] });
    expect(strange).toMatchObject({ status: 404, body: { detail: expect.stringContaining('invite') as unknown } });
    await owner.call('PUT', `/v1/workspaces/shop/members/${bob}`, { roles: ['viewer'] });
    const changed = await ada.call('PUT', `/v1/workspaces/shop/members/${bob}`, { roles: ['editor', 'operator'] });
    expect(changed.body).toMatchObject({ person: bob, roles: ['editor', 'operator'] });
    expect((await ada.call('PUT', `/v1/workspaces/club/members/${bob}`, { roles: ['owner'] })).status).toBe(403);
    expect((await ada.call('PUT', `/v1/people/${bob}`, { owner: true })).status).toBe(403);
    expect((await ada.call('GET', '/v1/people')).status).toBe(403);
    expect((await ada.call('DELETE', `/v1/workspaces/shop/members/${bob}`)).body).toEqual({ removed: true });
    expect((await ada.call('DELETE', `/v1/workspaces/shop/members/${bob}`)).status).toBe(404);
    expect((await owner.call('GET', `/v1/people/${bob}`)).body).toMatchObject({
      memberships: [{ workspace: 'club', role: 'viewer' }],
    });
  });

  test('are disabled, reset and removed with immediate effect, except the last owner', async () => {
    const id = await fixture.addPerson(ADA);
    const ada = await fixture.signedIn(ADA);
    const status = async () => (await ada.call('GET', '/v1/me')).status;
    await owner.call('PUT', `/v1/people/${id}`, { state: 'disabled' });
    expect(await status()).toBe(401);
    await owner.call('PUT', `/v1/people/${id}`, { state: 'active' });
    // Who had the session before may be why she was disabled.
    expect(await status()).toBe(401);
    const back = await fixture.signedIn(ADA);
    expect((await back.call('GET', '/v1/me')).status).toBe(200);
    expect((await owner.call('DELETE', `/v1/people/${id}/credentials`)).status).toBe(200);
    expect((await back.call('GET', '/v1/me')).status).toBe(401);
    const again = await ada.call('POST', '/v1/session', { email: ADA, password: PASSWORD });
    expect(again.status).toBe(401);
    expect((await owner.call('DELETE', `/v1/people/${id}`)).body).toEqual({ removed: true });
    expect((await owner.call('GET', `/v1/people/${id}`)).status).toBe(404);
    const [own = ''] = (await fixture.directory.roster()).owners;
    for (const change of [{ owner: false }, { state: 'disabled' }]) {
      expect((await owner.call('PUT', `/v1/people/${own}`, change)).body).toMatchObject({ code: 'wrong_state' });
    }
    expect((await owner.call('DELETE', `/v1/people/${own}`)).body).toMatchObject({ code: 'wrong_state' });
    expect((await owner.call('GET', '/v1/me')).status).toBe(200);
  });
});
