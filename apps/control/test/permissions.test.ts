import { fastify } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { guard, type PrincipalLimits } from '../src/access/guard.ts';
import { PERMISSIONS, type Permission, type RoutePermission } from '../src/access/permission.ts';
import type { Control } from '../src/index.ts';
import { accessOf, openControl, personWith, TOKEN } from './control-fixture.ts';

type Route = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly url: string;
  /** One of them is enough; empty: no credential is needed. */
  readonly enough: readonly Permission[];
  /** About whoever asks: needs a credential, and no permission. */
  readonly self?: boolean;
};

/** Routes that need a credential and are no part of the description. */
const NO_LIMITS: PrincipalLimits = { requests: () => undefined, processor: { demand: () => undefined } };
const NOWHERE = { known: () => [], newest: async () => [] };

const PAGES: readonly Route[] = [
  { method: 'GET', url: '/v1/openapi.json', enough: ['read'] },
  { method: 'GET', url: '/inbox/messages/msg_1/html', enough: ['bodies'] },
  { method: 'GET', url: '/messages/dlv_1/html', enough: ['bodies'] },
  { method: 'GET', url: '/previews/shop/order-paid/html?event=%7B%7D', enough: ['read'] },
];

/** Every route of the description, with something plausible in each place of its path. */
function routesOf(control: Control): readonly Route[] {
  return Object.entries(control.description().paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, { 'x-carillon-permission': permission = [] }]) => ({
      method: method.toUpperCase() as Route['method'],
      url: path.replaceAll(/\{(\w+)\}/g, (_, name: string) => (name === 'workspace' ? 'shop' : 'some')),
      enough: enoughOf(permission),
      self: permission === 'self',
    })),
  );
}

function enoughOf(permission: RoutePermission): readonly Permission[] {
  if (permission === 'anybody') return [];
  // Routes about the caller accept every credential.
  if (permission === 'self') return PERMISSIONS;
  return typeof permission === 'string' ? [permission] : permission;
}

const ask = async (control: Control, { method, url }: Route, headers: Readonly<Record<string, string>> = {}) => {
  const answer = await control.app.inject({ method, url, headers });
  return { route: `${method} ${url}`, status: answer.statusCode, code: codeOf(answer.body), answer };
};
const codeOf = (body: string): unknown => (body.startsWith('{') ? (JSON.parse(body) as { code?: string }).code : null);

let control: Control;
let routes: readonly Route[];
beforeAll(async () => {
  ({ control } = await openControl());
  routes = [...routesOf(control), ...PAGES];
});
afterAll(() => control.app.close());

const routesWithCredential = (): readonly Route[] => routes.filter(({ enough }) => enough.length > 0);
const closedRoutes = (): readonly Route[] => routesWithCredential().filter(({ self }) => !self);

describe('A route of the management API', () => {
  it('is described with its permission, and only sign-in needs none', () => {
    const known = new Set<string>(PERMISSIONS);
    for (const { url, enough } of routes)
      expect(
        enough.every((one) => known.has(one)),
        url,
      ).toBe(true);
    expect(
      routes
        .filter(({ enough }) => enough.length === 0)
        .map(({ url }) => url)
        .toSorted(),
    ).toEqual([
      '/v1/invitations/accept',
      '/v1/invitations/look',
      '/v1/mailed-links/open',
      '/v1/session',
      '/v1/sign-in',
    ]);
    expect(routes.length).toBeGreaterThan(30);
  });

  it('refuses a missing credential, a wrong credential, and one of another scheme', async () => {
    const wrong: readonly Readonly<Record<string, string>>[] = [
      {},
      { authorization: 'Bearer own_wrong' },
      { authorization: `Bearer ${TOKEN}x` },
      { authorization: `Basic ${TOKEN}` },
      { authorization: TOKEN },
      { cookie: 'carillon_session_0=wrong' },
      { cookie: `carillon_session_0=${TOKEN}` },
    ];
    for (const route of routesWithCredential()) {
      for (const headers of wrong) {
        const { answer, ...seen } = await ask(control, route, headers);
        expect(seen).toEqual({ route: seen.route, status: 401, code: 'unauthorized' });
        expect(answer.headers['www-authenticate']).toMatch(/^Bearer/);
      }
    }
  });

  it.each(PERMISSIONS)(
    'is refused without the permission %s if required, naming the roles that have it',
    async (missing) => {
      const others = PERMISSIONS.filter((one) => one !== missing);
      const { control: limited } = await openControl(accessOf(personWith('ann', others)));
      const needing = closedRoutes().filter(({ enough }) => enough.every((one) => one === missing));
      for (const route of needing) {
        const { answer, ...seen } = await ask(limited, route);
        expect(seen).toEqual({ route: seen.route, status: 403, code: 'forbidden_role' });
        expect(answer.json<{ detail: string }>().detail).toContain(`the permission ${missing}, which have: owner`);
      }
      for (const route of closedRoutes().filter((one) => !needing.includes(one))) {
        expect([401, 403]).not.toContain((await ask(limited, route)).status);
      }
      expect(needing.length).toBeGreaterThan(0);
      await limited.app.close();
    },
  );

  it('is refused without any permission, and open with any sufficient one', async () => {
    const { control: nobody } = await openControl(accessOf(personWith('ann', [])));
    for (const route of closedRoutes())
      expect(await ask(nobody, route)).toMatchObject({ status: 403, code: 'forbidden_role' });
    await nobody.app.close();
    for (const permission of PERMISSIONS) {
      const { control: somebody } = await openControl(accessOf(personWith('ann', [permission])));
      for (const route of closedRoutes().filter(({ enough }) => enough.includes(permission))) {
        const { status } = await ask(somebody, route);
        expect({ ...route, refused: status === 401 || status === 403 }).toEqual({ ...route, refused: false });
      }
      await somebody.app.close();
    }
  });

  it('refuses a person of another workspace, also on routes of the deployment', async () => {
    const { control: limited } = await openControl(accessOf(personWith('ann', PERMISSIONS, 'club')));
    for (const route of closedRoutes()) expect(await ask(limited, route)).toMatchObject({ status: 403 });
    for (const { method, url } of closedRoutes().filter((one) => one.url.startsWith('/v1/workspaces/'))) {
      const own = { method, url: url.replace('/shop', '/club'), enough: [] };
      expect([401, 403]).not.toContain((await ask(limited, own)).status);
    }
    await limited.app.close();
  });

  it('without a declared permission prevents the start', async () => {
    const app = fastify();
    guard(app, accessOf(personWith('ann', PERMISSIONS)), NOWHERE, NO_LIMITS);
    app.get('/v1/declared', { config: { permission: 'read' } }, async () => 'for readers');
    expect(() => app.get('/v1/forgotten', async () => 'for everybody')).toThrow(
      "the route GET /v1/forgotten declares no permission: config: { permission: 'read' }",
    );
    await app.close();
  });

  it('that writes without an audit action prevents the start', async () => {
    const app = fastify();
    guard(app, accessOf(personWith('ann', PERMISSIONS)), NOWHERE, NO_LIMITS);
    app.post('/v1/resend', { config: { permission: 'operate', audit: 'delivery.resend' } }, async () => 'sent');
    app.post('/v1/check', { config: { permission: 'operate', audit: false } }, async () => 'checked');
    expect(() => app.delete('/v1/forgotten', { config: { permission: 'operate' } }, async () => 'gone')).toThrow(
      'the route DELETE /v1/forgotten writes and declares no audit',
    );
    await app.close();
  });
});
