import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CheckBody } from '@carillon/contracts';
import { startOpenIdProvider, type OpenIdProvider } from '@carillon/testing/openid';
import { makeSigningKey, signToken } from '@carillon/testing/tokens';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openShop, request, shopFiles, writeFiles, type Files, type Shop } from './shop.ts';

const AUDIENCE = 'https://events.example.com';

let provider: OpenIdProvider;
let shop: Shop & { close(): Promise<void> };
beforeAll(async () => {
  provider = await startOpenIdProvider();
  shop = await openShop({ env: { CARILLON_ALLOWED_PRIVATE_ADDRESSES: '127.0.0.1' } });
  await shop.apply(appFiles());
});
afterAll(async () => {
  await shop.close();
  await provider.stop();
});

const appFiles = (more: Files = {}): Files => ({
  ...shopFiles(),
  'workspaces/shop/jwt-providers/auth.yaml': `jwks_url: ${provider.jwksUrl}\nissuer: ${provider.issuer}\naudience: ${AUDIENCE}\n`,
  'workspaces/shop/streams/app.yaml': 'security: { jwt_provider: auth, claims: { sub: event.user_id } }\n',
  ...more,
});

const post = (path: string, credential: string, body: unknown) =>
  request<{ id?: string; code: string; detail: string; pointer?: string }>(
    `${shop.product.gatewayUrl}/events/${path}`,
    {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${credential}` },
      body: JSON.stringify(body),
    },
  );
const check = async (name: string, token?: string): Promise<CheckBody['steps']> => {
  const body = token === undefined ? {} : { token };
  return (await shop.api<CheckBody>('POST', `/v1/workspaces/shop/jwt-providers/${name}/check`, body)).body.steps;
};
const told = (steps: CheckBody['steps']): readonly string[] =>
  steps.map((one) => `${one.ok ? 'ok' : 'FAIL'} ${one.step}`);

describe('A stream that is secured by a JWT provider', () => {
  it('takes events of the holder, and no API key', async () => {
    const ada = await provider.token('ada', AUDIENCE);
    const taken = await post('shop/app', ada, { user_id: 'ada' });
    expect(taken).toMatchObject({ status: 202 });
    expect(await post('shop/app', ada, { user_id: 'bob' })).toMatchObject({
      status: 403,
      body: { code: 'claim_mismatch', pointer: '/user_id' },
    });
    expect(await post('shop/app', shop.key, { user_id: 'ada' })).toMatchObject({
      status: 403,
      body: { code: 'forbidden' },
    });
    expect(await post('shop/orders', ada, { order_id: '1' })).toMatchObject({
      status: 403,
      body: { code: 'forbidden' },
    });
    expect(await shop.story(taken.body.id ?? '')).toContain('no rule listens on this stream');
  });

  it('is exported as it was applied, and applying the export changes nothing', async () => {
    const folder = join(shop.folder, 'exported');
    expect((await shop.run(['export', folder])).code).toBe(0);
    const file = readFileSync(join(folder, 'workspaces/shop/jwt-providers/auth.yaml'), 'utf8');
    expect(file).toBe(`jwks_url: ${provider.jwksUrl}\nissuer: ${provider.issuer}\naudience: ${AUDIENCE}\n`);
    const again = await shop.run(['apply', '-f', folder]);
    expect(again.stdout).toMatch(/nothing|no change/i);
  });

  it('shows a change of the provider field by field, and refuses to lose the provider', async () => {
    const folder = writeFiles(join(shop.folder, 'changed'), appFiles());
    writeFiles(folder, { 'workspaces/shop/jwt-providers/auth.yaml': `jwks_url: ${provider.jwksUrl}\n` });
    const { stdout } = await shop.run(['diff', '-f', folder]);
    expect(stdout).toContain('jwt_provider shop/auth');
    expect(stdout).toContain('audience is left out');
    expect(stdout).toContain('over http');
    const without = { ...appFiles() } as Record<string, string>;
    delete without['workspaces/shop/jwt-providers/auth.yaml'];
    const pruned = await shop.api<{ faults: { message: string }[] }>('POST', '/v1/configuration/plan', {
      files: without,
      prune: true,
    });
    expect(pruned.body.faults.map(({ message }) => message)).toEqual([
      'the JWT provider auth would be removed and is needed here',
    ]);
  });

  it('forgets verified tokens as soon as the provider changes', async () => {
    const ada = await provider.token('ada', AUDIENCE);
    expect((await post('shop/app', ada, { user_id: 'ada' })).status).toBe(202);
    await shop.apply(
      appFiles({
        'workspaces/shop/jwt-providers/auth.yaml': `jwks_url: ${provider.jwksUrl}\naudience: another\n`,
      }),
    );
    const refused = await post('shop/app', ada, { user_id: 'ada' });
    expect(refused).toMatchObject({ status: 401, body: { code: 'unauthorized' } });
    expect(refused.headers.get('www-authenticate')).toContain('error="invalid_token"');
    await shop.apply(appFiles());
    expect((await post('shop/app', ada, { user_id: 'ada' })).status).toBe(202);
  });
});

describe('jwt-provider check', () => {
  const ALL = [
    'provider',
    'key set',
    'token',
    'header',
    'key',
    'signature',
    'required claims',
    'issuer',
    'audience',
    'time',
  ];

  it('explains a good token step by step, and what each stream takes from its holder', async () => {
    const steps = await check('auth', await provider.token('ada', AUDIENCE));
    expect(told(steps)).toEqual([...ALL, 'stream shop/app'].map((step) => `ok ${step}`));
    expect(steps.at(-1)?.detail).toBe('this stream accepts only events in which event.user_id is "ada"');
    expect(steps[1]?.detail).toMatch(/^"key-\d" \(RSA RS256\)/);
  });

  it('without a token says what the key set holds', async () => {
    expect(told(await check('auth'))).toEqual(['ok provider', 'ok key set', 'ok stream shop/app']);
  });

  it('stops at the first thing that is wrong, and says what and why', async () => {
    const other = await check('auth', await provider.token('ada', 'https://another.example.com'));
    expect(told(other)).toContain('FAIL audience');
    expect(other.find(({ ok }) => !ok)?.detail).toContain('(aud "https://another.example.com")');
    const stranger = await check('auth', await signToken(await makeSigningKey('nobody', 'RS256')));
    expect(told(stranger)).toEqual([
      'ok provider',
      'ok key set',
      'ok token',
      'ok header',
      'FAIL key',
      'ok stream shop/app',
    ]);
    expect(told(await check('auth', 'x'.repeat(20_000)))).toContain('FAIL token');
    expect(told(await check('auth', await signToken(await makeSigningKey('a', 'ES384'))))).toContain('FAIL header');
  });

  it('on the command line: the token from a file or a pipe, code 1 where something fails', async () => {
    const token = await provider.token('ada', AUDIENCE);
    const piped = await shop.run(['jwt-provider', 'check', 'auth'], { input: `Bearer ${token}\n` });
    expect(piped).toMatchObject({ code: 0, stderr: '' });
    expect(piped.stdout).toContain(
      'ok    stream shop/app: this stream accepts only events in which event.user_id is "ada"',
    );
    const file = join(writeFiles(shop.folder, { 'token.jwt': `${token.slice(0, -10)}AAAAAAAAAA\n` }), 'token.jwt');
    const broken = await shop.run(['jwt-provider', 'check', 'auth', '--token-file', file]);
    expect(broken.code).toBe(1);
    expect(broken.stdout).toContain('FAIL  signature: its signature was not made with this key');
    const keys = await shop.run(['jwt-provider', 'check', 'auth']);
    expect(keys.code).toBe(0);
    for (const { stdout } of [piped, broken, keys]) expect(stdout).not.toContain(token.slice(0, 30));
    expect((await shop.run(['jwt-provider', 'list'])).stdout).toMatch(
      /auth +http.*jwks +http\S+ +https:\/\/events\.example\.com +stream app/,
    );
  });

  it('of a URL that the operator has not allowed is refused, and names who can allow it', async () => {
    await shop.apply(
      appFiles({ 'workspaces/shop/jwt-providers/inner.yaml': 'jwks_url: https://10.0.0.1/jwks\naudience: x\n' }),
    );
    const steps = await check('inner');
    expect(told(steps)).toEqual(['ok provider', 'FAIL key set', 'ok streams']);
    expect(steps[1]?.detail).toContain('the operator of the deployment can');
    const { stdout, code } = await shop.run(['doctor']);
    expect(code).toBe(1);
    expect(stdout).toMatch(/FAIL {2}JWT provider inner: /);
    expect(stdout).toMatch(/ok {4}JWT provider auth: "key-1"/);
  });
});

describe('An operator', () => {
  it('sees in the metrics how many tokens came to what, and how often keys were fetched', async () => {
    await post('shop/app', 'a.b.c', {});
    const text = await (await fetch(`${shop.product.controlUrl}/metrics`)).text();
    expect(text).toMatch(/carillon_tokens_total\{provider="shop\/auth",result="valid"\} [1-9]/);
    expect(text).toMatch(/carillon_tokens_total\{provider="shop\/auth",result="malformed"\} [1-9]/);
    expect(text).toMatch(/carillon_key_set_fetches_total\{provider="shop\/auth",result="ok"\} [1-9]/);
  });

  it('finds no token in what the process wrote, nor in its data', async () => {
    const token = await provider.token('ada', AUDIENCE);
    await post('shop/app', token, { user_id: 'ada' });
    await check('auth', token);
    const signature = token.split('.')[2] ?? '';
    const files = readdirSync(shop.dataDir).filter((name) => name.startsWith('carillon.db'));
    expect(files.length).toBeGreaterThan(0);
    for (const name of files)
      expect(readFileSync(join(shop.dataDir, name)).includes(signature.slice(0, 30)), name).toBe(false);
    expect(shop.product.stderr()).not.toContain(signature.slice(0, 30));
  });
});
