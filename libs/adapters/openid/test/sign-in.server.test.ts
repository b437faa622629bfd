import { createIdentityProviders } from '@carillon/adapter-openid';
import type { Result } from '@carillon/kernel';
import type { IdentityClient, ProofFailure } from '@carillon/ports';
import { settableClock } from '@carillon/testing/given';
import { createLoopbackHttp } from '@carillon/testing';
import { startSignInProvider, type SignInProvider } from '@carillon/testing/openid-sign-in';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

const BACK = 'https://carillon.example.com/v1/sign-in/company/callback';
const WANTED = ['email', 'email_verified', 'groups'];
const TWO_MEGABYTES = Buffer.alloc(2_000_000, ' ');

let provider: SignInProvider;
let client: IdentityClient;
const http = createLoopbackHttp();
const clock = settableClock();
/** A provider client without cached state of earlier tests. */
const fresh = () => createIdentityProviders({ http, clock });

beforeAll(async () => {
  provider = await startSignInProvider([BACK]);
  provider.accounts.set('ada', { email: 'ada@example.com', email_verified: true, groups: ['editors'], name: 'Ada' });
  const { issuer, clientId, clientSecret } = provider;
  client = { issuer, clientId, clientSecret, scopes: ['email', 'groups'], redirectUri: BACK };
});
afterEach(() => {
  provider.forge(null);
  provider.intercept(null);
});
afterAll(async () => {
  await provider.stop();
  await http.close();
});

const valueOf = <Value>(result: Result<Value, ProofFailure>): Value => {
  if (!result.ok) throw new Error(`${result.error.reason}: ${result.error.detail}`);
  return result.value;
};
async function begun(identities = fresh(), account = 'ada') {
  const { location, proof } = valueOf(await identities.begin(client));
  const back = await provider.visit(location, account);
  return { identities, proof, back, location: new URL(location) };
}
const failure = (reason: ProofFailure['reason'], detail: RegExp | string) => ({
  ok: false,
  error: { reason, detail: expect.stringMatching(detail) as unknown },
});

describe('signing in at an OpenID provider', () => {
  it('identifies a person with the provider’s claims', async () => {
    const { identities, proof, back } = await begun();
    expect(back.origin + back.pathname).toBe(BACK);
    expect(await identities.finish(client, proof, back.search, WANTED)).toMatchObject({
      ok: true,
      value: {
        issuer: provider.issuer,
        subject: 'ada',
        claims: { email: 'ada@example.com', email_verified: true, groups: ['editors'] },
      },
    });
  });

  it('uses the code flow with random PKCE, state and nonce', async () => {
    const [one, two] = [await begun(), await begun()];
    const asked = Object.fromEntries(one.location.searchParams);
    expect(asked).toMatchObject({ response_type: 'code', code_challenge_method: 'S256', scope: 'openid email groups' });
    for (const key of ['state', 'nonce', 'verifier'] as const) {
      expect(one.proof[key]).toMatch(/^[\w-]{43}$/);
      expect(one.proof[key]).not.toBe(two.proof[key]);
    }
    expect(one.location.href).not.toContain(one.proof.verifier);
  });

  it('requests user info only if the ID token lacks the claims', async () => {
    const before = provider.asked('/me');
    provider.forge((claims) => ({ ...claims, email: 'ada@example.com', email_verified: false, groups: [] }));
    const { identities, proof, back } = await begun();
    const found = valueOf(await identities.finish(client, proof, back.search, WANTED));
    expect(provider.asked('/me')).toBe(before);
    expect(found.claims).toMatchObject({ email_verified: false, groups: [] });
  });

  it('caches a provider’s metadata for five minutes', async () => {
    const path = '/.well-known/openid-configuration';
    const before = provider.asked(path);
    const identities = fresh();
    await Promise.all([identities.begin(client), identities.begin(client), identities.begin(client)]);
    await identities.begin(client);
    expect(provider.asked(path)).toBe(before + 1);
    clock.pass(5 * 60_000);
    await identities.begin(client);
    expect(provider.asked(path)).toBe(before + 2);
  });
});

describe('a sign-in response of an OpenID provider is refused', () => {
  const refused = async (
    change: (given: Awaited<ReturnType<typeof begun>>) => void | Promise<void>,
    reason: ProofFailure['reason'],
    detail: RegExp | string,
  ) => {
    const given = await begun();
    await change(given);
    const { identities, proof, back } = given;
    expect(await identities.finish(client, proof, back.search, WANTED)).toEqual(failure(reason, detail));
  };

  it('with the nonce of another sign-in', () =>
    refused((given) => void (given.proof = { ...given.proof, nonce: 'another' }), 'invalid', 'nonce'));
  it('with the state of another sign-in', () =>
    refused((given) => void (given.proof = { ...given.proof, state: 'another' }), 'invalid', 'state'));
  it('with the PKCE verifier of another sign-in', () =>
    refused((given) => void (given.proof = { ...given.proof, verifier: 'a'.repeat(43) }), 'invalid', 'invalid_grant'));
  it('with another issuer', () =>
    refused(({ back }) => back.searchParams.set('iss', 'https://evil.example'), 'invalid', 'iss'));
  it('without an issuer, if the provider announces it', () =>
    refused(({ back }) => back.searchParams.delete('iss'), 'invalid', 'iss'));
  it('without a code', () => refused(({ back }) => back.searchParams.delete('code'), 'invalid', 'code'));
  it('with a duplicate parameter', () =>
    refused(({ back }) => back.searchParams.append('state', 'b'), 'invalid', 'state'));

  it.each([
    ['for another audience', { aud: 'somebody-else' }, 'aud'],
    ['for several without saying who asked', { aud: ['carillon', 'somebody-else'] }, 'aud'],
    ['of another issuer', { iss: 'https://evil.example' }, 'iss'],
    ['with another nonce', { nonce: 'another' }, 'nonce'],
    ['without a nonce', { nonce: undefined }, 'nonce'],
    ['that has ended', { exp: 1_000_000_000 }, 'exp'],
    ['without a subject', { sub: undefined }, 'sub'],
  ])('with an ID token %s', (_words, claims, detail) =>
    refused(
      () => provider.forge((own) => ({ ...own, ...claims }) as typeof own),
      'invalid',
      new RegExp(`\\b${detail}\\b`),
    ),
  );

  it('with an ID token signed by a foreign key', () =>
    refused(() => provider.forge((claims) => claims, 'unknown'), 'invalid', /key|JWT/));

  it('on its second use', async () => {
    const { identities, proof, back } = await begun();
    valueOf(await identities.finish(client, proof, back.search, WANTED));
    expect(await identities.finish(client, proof, back.search, WANTED)).toEqual(failure('invalid', 'invalid_grant'));
  });

  it('for a person the provider rejects', async () => {
    const { identities, proof, back } = await begun(fresh(), 'nobody');
    expect(await identities.finish(client, proof, back.search, WANTED)).toEqual(failure('declined', 'access_denied'));
  });

  it('if our client secret is wrong, without revealing it', async () => {
    const { identities, proof, back } = await begun();
    const found = await identities.finish({ ...client, clientSecret: 'hunter2' }, proof, back.search, WANTED);
    expect(found).toEqual(failure('invalid', 'client_secret'));
    expect(JSON.stringify(found)).not.toContain('hunter2');
  });
});

describe('rotated signing keys of an OpenID provider', () => {
  it('are accepted at once, even with cached old keys', async () => {
    const identities = fresh();
    const before = await begun(identities);
    valueOf(await identities.finish(client, before.proof, before.back.search, WANTED));
    await provider.rotate(true);
    const { proof, back } = await begun(identities);
    expect(valueOf(await identities.finish(client, proof, back.search, WANTED)).subject).toBe('ada');
  });

  it('are rejected once they are no longer published', async () => {
    await provider.rotate(true);
    const { identities, proof, back } = await begun();
    provider.forge((claims) => claims, 'oldest');
    expect(await identities.finish(client, proof, back.search, WANTED)).toMatchObject({ ok: false });
  });
});

describe('a misbehaving OpenID provider', () => {
  const PATHS = ['/token', '/jwks', '/me'];

  it.each(PATHS)('is read only up to 256 KiB at %s', async (path) => {
    const { identities, proof, back } = await begun();
    provider.intercept((asked, response) => {
      if (asked !== path) return false;
      response.writeHead(200, { 'content-type': 'application/json' }).end(TWO_MEGABYTES);
      return true;
    });
    const found = await identities.finish(client, proof, back.search, WANTED);
    expect(found).toEqual(failure('unavailable', 'larger than 262144 bytes'));
  });

  it('is read only up to 256 KiB for its metadata', async () => {
    provider.intercept((_path, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(TWO_MEGABYTES);
      return true;
    });
    expect(await fresh().begin(client)).toEqual(failure('unavailable', 'larger'));
  });

  it.each([...PATHS, '/.well-known/openid-configuration'])('counts as unavailable if %s fails', async (path) => {
    const { proof, back } = await begun();
    provider.intercept((asked, response) => {
      if (asked === path) response.writeHead(502).end('<h1>Bad gateway</h1>');
      return asked === path;
    });
    expect(await fresh().finish(client, proof, back.search, WANTED)).toEqual(failure('unavailable', '502'));
  });

  it.each(['/token', '/.well-known/openid-configuration'])('is given up if %s never ends', async (path) => {
    const { proof, back } = await begun();
    const open: { destroy(): void }[] = [];
    provider.intercept((asked, response) => {
      if (asked !== path) return false;
      response.writeHead(200, { 'content-type': 'application/json' }).write('{');
      open.push(response);
      return true;
    });
    expect(await fresh().finish(client, proof, back.search, WANTED)).toMatchObject({
      error: { reason: 'unavailable' },
    });
    for (const response of open) response.destroy();
  });

  it('is not followed to redirects', async () => {
    const { identities, proof, back } = await begun();
    provider.intercept((asked, response) => {
      if (asked === '/token') response.writeHead(302, { location: 'http://169.254.169.254/latest' }).end();
      return asked === '/token';
    });
    expect(await identities.finish(client, proof, back.search, WANTED)).toMatchObject({ ok: false });
  });

  it('may not use the metadata of another issuer', async () => {
    provider.intercept((_path, response) => {
      const body = { issuer: 'https://evil.example', authorization_endpoint: 'https://evil.example/auth' };
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
      return true;
    });
    expect(await fresh().begin(client)).toMatchObject({ ok: false, error: { reason: 'invalid' } });
  });

  it('counts as unavailable during an outage, and works afterwards', async () => {
    const identities = fresh();
    await provider.stop();
    expect(await identities.begin(client)).toMatchObject({ ok: false, error: { reason: 'unavailable' } });
    await provider.start();
    const { proof, back } = await begun(identities);
    expect(valueOf(await identities.finish(client, proof, back.search, WANTED)).subject).toBe('ada');
  });

  it('is not called at a forbidden address', async () => {
    const found = await fresh().begin({ ...client, issuer: 'http://169.254.169.254' });
    expect(found).toEqual(failure('unavailable', 'may connect to'));
  });
});
