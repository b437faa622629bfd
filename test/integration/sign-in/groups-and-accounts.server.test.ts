import { describe, expect, it } from 'vitest';
import { providerChecks } from '../../../apps/control/src/access/providers/identity-client.ts';
import {
  account,
  asOwner,
  auditOf,
  browser,
  PASSWORD,
  ports,
  provider,
  publish,
  servers,
  topology,
  withPassword,
  control,
} from './sign-in-fixture.ts';

servers();

describe('Groups', () => {
  const ROLES = [
    { group: 'editors', workspace: 'shop', role: 'editor' },
    { group: 'viewers', workspace: 'shop', role: 'viewer' },
    { group: 'viewers', workspace: 'nowhere', role: 'viewer' },
    { group: 'owners', deployment_owner: true },
  ] as const;
  const rolesOf = async (id: string) => (await topology.data.people.find('person', id))?.body.memberships;

  it('grant roles at each sign-in, and withdraw them when the group is gone', async () => {
    await publish({ roles: ROLES });
    const ada = browser();
    await ada.signIn('ada');
    const me = await ada.me();
    const id = me.person?.id ?? '';
    expect(me.workspaces.map(({ workspace }) => workspace)).toEqual(['shop']);
    expect(await rolesOf(id)).toEqual([{ workspace: 'shop', role: 'editor' }]);
    account('ada', { email: 'ada@example.com', groups: 'viewers' });
    await ada.signIn('ada');
    expect(await rolesOf(id)).toEqual([{ workspace: 'shop', role: 'viewer' }]);
    account('ada', { email: 'ada@example.com', groups: [{ name: 'editors' }, 7] });
    await ada.signIn('ada');
    expect(await rolesOf(id)).toEqual([]);
  });

  it('leave alone what an owner gave by hand', async () => {
    await publish({ roles: ROLES });
    account('ada', { email: 'ada@example.com', groups: [] });
    const ada = browser();
    await ada.signIn('ada');
    const id = (await ada.me()).person?.id ?? '';
    const found = await topology.data.people.find('person', id);
    if (!found) throw new Error('nobody there');
    const memberships = [{ workspace: 'shop', role: 'editor' as const }];
    await topology.data.people.replace({ ...found, version: found.version + 1, body: { ...found.body, memberships } });
    account('ada', { email: 'ada@example.com', groups: ['editors', 'viewers'] });
    await ada.signIn('ada');
    expect(await rolesOf(id)).toHaveLength(2);
    account('ada', { email: 'ada@example.com', groups: [] });
    await ada.signIn('ada');
    expect(await rolesOf(id)).toEqual(memberships);
  });

  it('grant and withdraw ownership, but never from the last owner', async () => {
    await publish({ roles: ROLES });
    account('ada', { email: 'ada@example.com', groups: ['owners'] });
    const ada = browser();
    await ada.signIn('ada');
    expect((await ada.me()).owner).toBe(true);
    account('ada', { email: 'ada@example.com', groups: [] });
    await ada.signIn('ada');
    expect((await ada.me()).owner).toBe(true);
    account('bob', { email: 'bob@example.com', groups: ['owners'] });
    await browser().signIn('bob');
    await ada.signIn('ada');
    expect((await ada.me()).owner).toBe(false);
  });

  it('let somebody in of any domain, and the audit tells roles before and after apart', async () => {
    await publish({ allowed_domains: undefined, roles: ROLES });
    account('eve', { email: 'eve@elsewhere.example', groups: ['viewers'] });
    expect((await browser().signIn('eve')).statusCode).toBe(200);
    const [opened] = (await auditOf()).filter(({ action }) => action === 'session.open');
    expect(opened?.['before']).not.toBe(opened?.['after']);
  });
});

const doctorOf = async (step: string) => (await providerChecks(ports)).find((one) => one.step === step);

describe('A failing provider', () => {
  it('is reported as unavailable on a page with a link back, and sign-in works again soon after it recovers', async () => {
    await provider.stop();
    const one = browser();
    const page = await one.call('GET', '/sign-in/company');
    expect([page.statusCode, page.body]).toEqual([503, expect.stringContaining('href="/sign-in"')]);
    expect(await doctorOf('sign-in at company')).toMatchObject({ ok: false });
    await provider.start();
    expect((await one.signIn('ada')).statusCode).toBe(200);
    expect(await doctorOf('sign-in at company')).toMatchObject({ ok: true });
  });

  it('is reported by the doctor, with the missing part', async () => {
    await publish({ client_secret: { secret: 'OTHER_SECRET' } });
    const fix = expect.stringContaining('carillon secret set OTHER_SECRET') as string;
    expect(await doctorOf('sign-in at company')).toMatchObject({ ok: false, detail: fix });
  });

  it('that sends 2 MB is read only up to a limit', async () => {
    const one = browser();
    const back = await one.visit('ada');
    provider.intercept((path, response) => {
      if (path === '/token') response.writeHead(200).end(Buffer.alloc(2_000_000, ' '));
      return path === '/token';
    });
    const page = await one.comeBack(back);
    expect([page.statusCode, page.body]).toEqual([503, expect.stringContaining('larger than 262144 bytes')]);
  });

  it('that rotates its keys between two sign-ins still works', async () => {
    expect((await browser().signIn('ada')).statusCode).toBe(200);
    await provider.rotate(true);
    expect((await browser().signIn('ada')).statusCode).toBe(200);
  });

  it('without its secret gets an error page with the command that sets it', async () => {
    await publish({ client_secret: { secret: 'OTHER_SECRET' } });
    const page = await browser().call('GET', '/sign-in/company');
    expect([page.statusCode, page.body]).toEqual([503, expect.stringContaining('carillon secret set OTHER_SECRET')]);
  });

  it('under an unknown name is not found', async () => {
    expect((await browser().call('GET', '/sign-in/nobody')).statusCode).toBe(404);
    expect((await browser().call('GET', '/sign-in/nobody/callback?code=a&state=b')).statusCode).toBe(404);
  });

  it('is called at most so often a minute for one source', async () => {
    const one = browser();
    for (let at = 0; at < 120; at += 1) expect((await one.call('GET', '/sign-in/company')).statusCode).toBe(303);
    expect((await one.call('GET', '/sign-in/company')).statusCode).toBe(429);
  });
});

describe('The page after the sign-in', () => {
  it.each([
    '//evil.example',
    '/\\evil.example',
    'https://evil.example',
    '/%0d%0aset-cookie:a=b',
    '/\n/evil.example',
    '/.//evil.example',
    'javascript:alert(1)',
    `/${'a'.repeat(600)}`,
  ])('is on this host: %j', async (to) => {
    const one = browser();
    const page = await one.signIn('ada', `/sign-in/company?to=${encodeURIComponent(to)}`);
    expect(page.statusCode).toBe(200);
    expect(String(page.headers.refresh)).toMatch(/^0;url=\/(?:%0d%0aset-cookie:a=b)?$/);
  });
});

describe('Ways to sign in', () => {
  const ways = async () => (await control.app.inject('/v1/sign-in')).json<Record<string, unknown>>();

  it('are told to everybody, without anything else of the provider', async () => {
    expect(await ways()).toEqual({
      passwords: true,
      providers: [{ name: 'company', title: 'Company account', begin: '/sign-in/company' }],
    });
  });

  it('exclude passwords if the deployment disables them, and the owner link still works', async () => {
    await withPassword('bob@example.com');
    await publish({}, { passwords: false });
    expect(await ways()).toMatchObject({ passwords: false });
    const payload = { email: 'bob@example.com', password: PASSWORD };
    expect((await browser().call('POST', '/v1/session', payload)).statusCode).toBe(403);
    expect((await (await asOwner()).call('GET', '/v1/people')).statusCode).toBe(200);
    expect((await browser().signIn('ada')).statusCode).toBe(200);
  });
});

describe('An account of the provider', () => {
  const connect = async (one: ReturnType<typeof browser>, payload: object) =>
    one.call('POST', '/v1/me/identities', { provider: 'company', ...payload });

  it('is connected by whoever is signed in and says their password, and signs in from then on', async () => {
    const bob = await withPassword('bob@example.com');
    account('robert', { email: 'bob@example.com' });
    expect((await connect(bob, {})).statusCode).toBe(400);
    expect((await connect(bob, { current_password: 'wrong' })).statusCode).toBe(403);
    const begun = await connect(bob, { current_password: PASSWORD });
    expect(begun.statusCode).toBe(201);
    const back = await provider.visit(begun.json<{ location: string }>().location, 'robert');
    const page = await bob.comeBack(back);
    expect([page.statusCode, page.headers.refresh]).toEqual([200, '0;url=/settings/profile']);
    const { items } = (await bob.call('GET', '/v1/me/identities')).json<{ items: { id: string }[] }>();
    expect(items).toMatchObject([{ provider: 'company', issuer: provider.issuer }]);
    const again = browser();
    await again.signIn('robert');
    expect((await again.me()).person).toEqual((await bob.me()).person);
    expect(await auditOf()).toContainEqual(expect.objectContaining({ action: 'person.credentials', outcome: 'done' }));
    expect((await bob.call('DELETE', `/v1/me/identities/${items[0]?.id}`)).statusCode).toBe(200);
    expect((await browser().signIn('robert')).statusCode).toBe(409);
  });

  it('is not connected to two people', async () => {
    await browser().signIn('ada');
    const bob = await withPassword('bob@example.com');
    const begun = await connect(bob, { current_password: PASSWORD });
    const back = await provider.visit(begun.json<{ location: string }>().location, 'ada');
    const page = await bob.comeBack(back);
    expect([page.statusCode, page.body]).toEqual([409, expect.stringContaining('belongs to another person')]);
  });

  it('is connected to nobody whose session has ended meanwhile', async () => {
    const bob = await withPassword('bob@example.com');
    account('robert', { email: 'bob@example.com' });
    const begun = await connect(bob, { current_password: PASSWORD });
    const back = await provider.visit(begun.json<{ location: string }>().location, 'robert');
    await bob.call('DELETE', '/v1/session');
    expect((await bob.comeBack(back)).statusCode).toBe(401);
  });

  it('cannot be removed if it is the only way to sign in', async () => {
    const ada = browser();
    await ada.signIn('ada');
    const { items } = (await ada.call('GET', '/v1/me/identities')).json<{ items: { id: string }[] }>();
    expect((await ada.call('DELETE', `/v1/me/identities/${items[0]?.id}`)).statusCode).toBe(409);
    expect((await (await asOwner()).call('DELETE', `/v1/me/identities/${items[0]?.id}`)).statusCode).toBe(404);
  });
});
