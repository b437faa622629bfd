import { createIdentityProviders } from '@carillon/adapter-openid';
import { createTextSealer } from '@carillon/adapter-system';
import { buildControl, type Control, type ControlPorts } from '@carillon/control';
import type { DeploymentBody, IdentityProviderBody } from '@carillon/domain/configuration';
import { createLoopbackHttp } from '@carillon/testing';
import { startSignInProvider, type SignInProvider } from '@carillon/testing/openid-sign-in';
import { openTopology, type Topology } from '@carillon/testing/topology';
import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';

const PORTAL = 'https://carillon.example.com';
const OWNER_TOKEN = 'own_0123456789abcdefghijklmnopqrstuvwxyz';
const BEHIND_TLS = { 'x-forwarded-proto': 'https', host: 'carillon.example.com' };
export const PASSWORD = 'correct horse battery staple';

export let provider: SignInProvider;
export let topology: Topology;
export let control: Control;
export let ports: ControlPorts;
let http: ReturnType<typeof createLoopbackHttp>;

/** The servers of a file's tests: a real provider, and a control role over stores in memory. */
export function servers(): void {
  beforeAll(async () => {
    http = createLoopbackHttp();
    provider = await startSignInProvider([`${PORTAL}/sign-in/company/callback`, `${PORTAL}/sign-in/other/callback`]);
  });
  afterAll(async () => {
    await provider.stop();
    await http.close();
  });
  beforeEach(async () => {
    provider.accounts.clear();
    account('ada', { email: 'ada@example.com', groups: ['editors'], name: 'Ada Lovelace' });
    topology = await openTopology({ partitions: 1 });
    const key = randomBytes(32);
    ports = {
      ...topology.ports,
      people: topology.data.people,
      factorSealer: createTextSealer(key, 'totp'),
      signInSealer: createTextSealer(key, 'sign-in'),
      identityProviders: createIdentityProviders({ http, clock: topology.clock }),
      secrets: { resolve: async (_: string, name: string) => (name === 'OIDC_SECRET' ? provider.clientSecret : null) },
      readEverywhere: async () => undefined,
    } as unknown as ControlPorts;
    await topology.publish({ ref: { kind: 'workspace', workspace: 'shop', name: '' }, body: { name: 'Shop' } });
    await publish({});
    control = await buildControl(
      {
        version: '0.1.0',
        backend: 'embedded',
        host: '127.0.0.1',
        port: 0,
        eventsUrl: 'http://127.0.0.1:7400/events',
        ownerToken: OWNER_TOKEN,
        portalFolder: '/nowhere',
        docsFolder: '/nowhere',
        trustedProxies: ['127.0.0.1'],
      },
      ports,
    );
  });
  afterEach(async () => {
    provider.forge(null);
    provider.intercept(null);
    await control.app.close();
    await topology.close();
  });
}

export function account(sub: string, claims: Readonly<Record<string, unknown>>): void {
  provider.accounts.set(sub, { email_verified: true, ...claims });
}
export async function publish(
  more: { readonly [Key in keyof IdentityProviderBody]?: IdentityProviderBody[Key] | undefined },
  signIn: Partial<NonNullable<DeploymentBody['sign_in']>> = {},
): Promise<void> {
  const company: IdentityProviderBody = {
    name: 'company',
    title: 'Company account',
    issuer: provider.issuer,
    client_id: provider.clientId,
    client_secret: { secret: 'OIDC_SECRET' },
    scopes: ['email', 'profile', 'groups'],
    allowed_domains: ['example.com'],
  };
  // What is undefined is left out.
  const provided = JSON.parse(JSON.stringify({ ...company, ...more })) as IdentityProviderBody;
  const body = { portal_url: PORTAL, sign_in: { providers: [provided], ...signIn } };
  await topology.publish({ ref: { kind: 'deployment', workspace: '', name: '' }, body });
  await topology.ports.configuration.refresh();
}

/** A browser that keeps cookies; it sends the Strict ones only to what our own pages ask for. */
export function browser() {
  const jar = new Map<string, { readonly value: string; readonly strict: boolean }>();
  async function call(method: 'GET' | 'POST' | 'DELETE', url: string, payload?: object, fromElsewhere = false) {
    const sent = [...jar].filter(([, { strict }]) => !(fromElsewhere && strict));
    const cookie = sent.map(([name, { value }]) => `${name}=${value}`).join('; ');
    const headers = { ...BEHIND_TLS, cookie, ...(method !== 'GET' && { 'x-carillon': '1' }) };
    const answer = await control.app.inject({ method, url, headers, ...(payload && { payload }) });
    for (const set of [answer.headers['set-cookie'] ?? []].flat()) {
      const [pair = '', ...attributes] = set.split('; ');
      const [name = '', value = ''] = pair.split(/=(.*)/s);
      if (attributes.includes('Max-Age=0')) jar.delete(name);
      else jar.set(name, { value, strict: attributes.includes('SameSite=Strict') });
    }
    return answer;
  }
  /** Goes to the provider and comes back; answers the address that it came back to. */
  async function visit(as: string, begin = '/sign-in/company'): Promise<URL> {
    const begun = await call('GET', begin);
    if (begun.statusCode !== 303) throw new Error(`beginning answered ${begun.statusCode}: ${begun.body}`);
    return provider.visit(String(begun.headers.location), as);
  }
  const comeBack = (back: URL) => call('GET', back.pathname + back.search, undefined, true);
  return {
    call,
    visit,
    comeBack,
    jar,
    signIn: async (as: string, begin?: string) => comeBack(await visit(as, begin)),
    me: async () => (await call('GET', '/v1/me')).json<Me>(),
  };
}
type Me = {
  readonly person: { readonly id: string; readonly name: string; readonly email: string } | null;
  readonly owner: boolean;
  readonly workspaces: readonly { readonly workspace: string; readonly permissions: readonly string[] }[];
};

export async function asOwner() {
  const one = browser();
  const { word } = await control.access.makeLink();
  await one.call('POST', '/v1/session', { word });
  return one;
}
export const people = async (): Promise<readonly { readonly id: string; readonly email: string | null }[]> =>
  (await (await asOwner()).call('GET', '/v1/people')).json<{ items: { id: string; email: string | null }[] }>().items;
export const auditOf = async (): Promise<readonly Record<string, unknown>[]> => {
  const headers = { authorization: `Bearer ${OWNER_TOKEN}` };
  const answer = await control.app.inject({ url: '/v1/audit', headers });
  return answer.json<{ items: Record<string, unknown>[] }>().items;
};

export async function withPassword(email: string) {
  const owner = await asOwner();
  const { person } = await owner.me();
  // The first owner becomes somebody with an address and a password.
  await owner.call('POST', '/v1/session', { word: (await control.access.makeLink()).word });
  expect(person).not.toBeNull();
  const headers = { ...BEHIND_TLS, 'x-carillon': '1' };
  const cookie = [...owner.jar].map(([name, { value }]) => `${name}=${value}`).join('; ');
  const ask = (url: string, payload: object) =>
    control.app.inject({ method: 'PUT', url, headers: { ...headers, cookie }, payload });
  expect((await ask('/v1/me', { email })).statusCode).toBe(200);
  expect((await ask('/v1/me/password', { password: PASSWORD })).statusCode).toBe(200);
  const one = browser();
  expect((await one.call('POST', '/v1/session', { email, password: PASSWORD })).statusCode).toBe(200);
  return one;
}
