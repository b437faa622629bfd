import { describe, expect, it } from 'vitest';
import {
  account,
  auditOf,
  browser,
  people,
  provider,
  publish,
  servers,
  topology,
  withPassword,
} from './sign-in-fixture.ts';

servers();

describe('A person who signs in through the provider', () => {
  it('is signed in by a redirect page with a Strict session cookie, and the sign-in cookie is cleared', async () => {
    const ada = browser();
    const back = await ada.visit('ada', '/sign-in/company?to=/workspaces/shop%3Fstate=FAILED');
    const [[name = '', begun] = []] = ada.jar;
    expect([name, begun?.strict]).toEqual([expect.stringMatching(/^__Host-carillon_sign_in_/), false]);
    const page = await ada.comeBack(back);
    expect(page.statusCode).toBe(200);
    expect(page.headers.refresh).toBe('0;url=/workspaces/shop?state=FAILED');
    const set = [page.headers['set-cookie'] ?? []].flat().find((one) => one.includes('session'));
    expect(set).toMatch(
      /^__Host-carillon_session_\d+=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=86400; Secure$/,
    );
    expect([...ada.jar.keys()]).toEqual([expect.stringContaining('session')]);
    expect(await ada.me()).toMatchObject({ person: { name: 'Ada Lovelace', email: 'ada@example.com' }, owner: false });
  });

  it('is audited under their own id', async () => {
    const ada = browser();
    await ada.signIn('ada');
    const id = (await ada.me()).person?.id;
    expect(await auditOf()).toContainEqual(
      expect.objectContaining({ action: 'session.open', outcome: 'done', target: id, actor: { kind: 'person', id } }),
    );
  });

  it('keeps the same account when their address changes', async () => {
    const [once, again] = [browser(), browser()];
    await once.signIn('ada');
    account('ada', { email: 'lovelace@example.com' });
    await again.signIn('ada');
    expect((await again.me()).person?.id).toBe((await once.me()).person?.id);
  });

  it('is identified by subject, and does not get an existing account with the same address', async () => {
    const ada = browser();
    await ada.signIn('ada');
    account('eve', { email: 'ada@example.com' });
    const eve = browser();
    const page = await eve.signIn('eve');
    expect([page.statusCode, page.body]).toEqual([
      409,
      expect.stringContaining('connect this provider account in your profile'),
    ]);
    expect([...eve.jar.keys()]).toEqual([]);
    const bob = await withPassword('bob@example.com');
    account('mallory', { email: 'BOB@example.com' });
    expect((await browser().signIn('mallory')).statusCode).toBe(409);
    expect((await bob.me()).person?.email).toBe('bob@example.com');
  });

  it('is created once when several browsers sign in at the same time', async () => {
    const browsers = [browser(), browser(), browser()];
    const backs: URL[] = [];
    for (const one of browsers) backs.push(await one.visit('ada'));
    const pages = await Promise.all(browsers.map((one, at) => one.comeBack(backs[at] as URL)));
    expect(pages.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200]);
    expect((await people()).filter(({ email }) => email === 'ada@example.com')).toHaveLength(1);
  });

  it('is signed out at once when an owner disables them', async () => {
    const ada = browser();
    await ada.signIn('ada');
    const id = (await ada.me()).person?.id ?? '';
    await topology.data.people.removeOf('session', id);
    const found = await topology.data.people.find('person', id);
    if (!found) throw new Error('nobody there');
    const body = { ...found.body, state: 'disabled' as const };
    await topology.data.people.replace({ ...found, version: found.version + 1, body });
    expect((await browser().signIn('ada')).statusCode).toBe(401);
  });

  it('is not signed in by an earlier proof if all their sessions were ended meanwhile', async () => {
    const ada = browser();
    await ada.signIn('ada');
    const id = (await ada.me()).person?.id ?? '';
    await publish({ roles: [{ group: 'editors', workspace: 'shop', role: 'editor' }] });
    const store = topology.data.people as Omit<typeof topology.data.people, 'replace'> & {
      replace: (typeof topology.data.people)['replace'];
    };
    const replace = store.replace.bind(store);
    // The roles of groups are noted once it is known who comes, and before the session is there.
    store.replace = async (record) => {
      const done = await replace(record);
      if (record.kind === 'identity') {
        store.replace = replace;
        const found = await store.find('person', id);
        if (!found) throw new Error('nobody there');
        const body = { ...found.body, epoch: found.body.epoch + 1 };
        await replace({ ...found, version: found.version + 1, body });
      }
      return done;
    };
    const late = browser();
    expect((await late.signIn('ada')).statusCode).toBe(200);
    expect(store.replace).toBe(replace);
    expect((await late.call('GET', '/v1/me')).statusCode).toBe(401);
  });

  it('has to sign in again after the configured time', async () => {
    await publish({ session: '1h' });
    const ada = browser();
    await ada.signIn('ada');
    topology.clock.pass(59 * 60_000);
    expect((await ada.call('GET', '/v1/me')).statusCode).toBe(200);
    topology.clock.pass(60_000);
    expect((await ada.call('GET', '/v1/me')).statusCode).toBe(401);
  });
});

describe('Sign-in is refused', () => {
  const refused = async (one: ReturnType<typeof browser>, back: URL, status: number, words: string) => {
    const page = await one.comeBack(back);
    expect([page.statusCode, page.body]).toEqual([status, expect.stringContaining(words)]);
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
    expect([...one.jar.keys()]).toEqual([]);
    expect((await one.call('GET', '/v1/me')).statusCode).toBe(401);
    return page;
  };

  it('without a verified address', async () => {
    account('ada', { email: 'ada@example.com', email_verified: false });
    const one = browser();
    await refused(one, await one.visit('ada'), 403, 'no verified address');
  });

  it('if the provider does not say that the address is verified, unless the deployment trusts it', async () => {
    account('ada', { email: 'ada@example.com', email_verified: undefined });
    const one = browser();
    await refused(one, await one.visit('ada'), 403, 'no verified address');
    await publish({ email_is_verified: true });
    expect((await one.signIn('ada')).statusCode).toBe(200);
    account('bob', { email: 'bob@example.com', email_verified: false });
    await refused(browser(), await one.visit('bob'), 401, 'started no sign-in');
    expect((await browser().signIn('bob')).statusCode).toBe(403);
  });

  it.each(['ada@evil.example', 'ada@example.com.evil.example', 'ada@sub.example.com', 'ada@evil.example@example.com'])(
    'by the address %s of another domain',
    async (email) => {
      account('ada', { email });
      const one = browser();
      expect((await one.signIn('ada')).statusCode).toBe(403);
      expect([...one.jar.keys()]).toEqual([]);
    },
  );

  it('also to a known person, once their domain is no longer allowed', async () => {
    expect((await browser().signIn('ada')).statusCode).toBe(200);
    await publish({ allowed_domains: ['example.org'] });
    expect((await browser().signIn('ada')).statusCode).toBe(403);
  });

  it('if neither domain nor group is allowed', async () => {
    await publish({ allowed_domains: undefined, roles: [] });
    const one = browser();
    await refused(one, await one.visit('ada'), 403, 'You have no access yet');
  });

  it('in a browser other than the one that started it', async () => {
    const [ada, eve] = [browser(), browser()];
    const back = await ada.visit('ada');
    await refused(eve, back, 401, 'started no sign-in');
    await eve.visit('ada');
    await refused(eve, back, 401, 'state');
  });

  it('for a second use of the same answer', async () => {
    const ada = browser();
    const back = await ada.visit('ada');
    const kept = new Map(ada.jar);
    expect((await ada.comeBack(back)).statusCode).toBe(200);
    const eve = browser();
    for (const [name, cookie] of kept) eve.jar.set(name, cookie);
    await refused(eve, back, 401, 'invalid_grant');
  });

  it('for an answer of one provider at the callback of another', async () => {
    const company = { name: 'company', issuer: provider.issuer, client_id: provider.clientId } as const;
    const secret = { client_secret: { secret: 'OIDC_SECRET' }, allowed_domains: ['example.com'] } as const;
    const other = { ...company, ...secret, name: 'other', issuer: 'https://evil.example' };
    await publish({}, { providers: [{ ...company, ...secret }, other] });
    const one = browser();
    const back = await one.visit('ada');
    const moved = new URL(back);
    moved.pathname = '/sign-in/other/callback';
    await refused(one, moved, 401, 'started no sign-in');
    const again = browser();
    const mixed = await again.visit('ada');
    mixed.searchParams.set('iss', 'https://evil.example');
    await refused(again, mixed, 401, 'iss');
  });

  it.each([
    ['for another audience', { aud: 'somebody-else' }],
    ['with another nonce', { nonce: 'another' }],
    ['of another issuer', { iss: 'https://evil.example' }],
  ])('for a token %s', async (_words, claims) => {
    provider.forge((own) => ({ ...own, ...claims }));
    const one = browser();
    expect((await one.signIn('ada')).statusCode).toBe(401);
    expect([...one.jar.keys()]).toEqual([]);
  });

  it('for a token with an empty sub or a future iat', async () => {
    provider.forge((own) => ({ ...own, sub: '' }));
    const one = browser();
    await refused(one, await one.visit('ada'), 401, 'the sub of the ID token is empty');
    provider.forge((own) => ({ ...own, iat: Math.floor(Date.now() / 1000) + 60 }));
    await refused(one, await one.visit('ada'), 401, 'issued in the future');
  });

  it('but a clock of the provider 20 seconds ahead is accepted', async () => {
    provider.forge((own) => ({ ...own, iat: Math.floor(Date.now() / 1000) + 20 }));
    expect((await browser().signIn('ada')).statusCode).toBe(200);
  });

  it('after more than ten minutes at the provider', async () => {
    const one = browser();
    const back = await one.visit('ada');
    topology.clock.pass(10 * 60_000);
    await refused(one, back, 401, 'within the last 10 minutes');
  });

  it('and audited, with its reason and without a name', async () => {
    account('ada', { email: 'ada@evil.example' });
    await browser().signIn('ada');
    expect(await auditOf()).toContainEqual(
      expect.objectContaining({ action: 'session.open', outcome: 'refused', code: 'forbidden', actor: null }),
    );
    expect(JSON.stringify(await auditOf())).not.toContain('evil.example');
  });

  it('without echoing markup that the provider sent', async () => {
    const one = browser();
    const back = await one.visit('ada');
    back.searchParams.delete('code');
    back.searchParams.set('error', '<script>alert(1)</script>');
    const page = await refused(one, back, 401, 'sent you back');
    expect(page.body).not.toContain('<script');
  });
});
