import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { startOpenIdProvider, type OpenIdProvider } from '@carillon/testing/openid';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { chapter } from './places.ts';
import { startCarillon, type Carillon } from './support.ts';

/*
 * 10. Tokens
 *
 * A web page or an app cannot keep an API key secret. But it has a token for its user, signed by an identity provider. A
 * stream can take those instead: Carillon fetches the provider's public keys, and a claim of the token can be bound to a
 * field of the event, so that Ada speaks for Ada and for nobody else.
 */

chapter('10. Tokens', (newHome) => {
  let provider: OpenIdProvider;
  let carillon: Carillon;
  beforeAll(async () => {
    provider = await startOpenIdProvider();
    const home = await newHome();
    // Key sets come from public addresses by https; what else may be named, the operator says at the start.
    await writeFile(join(home.folder, 'start.yaml'), 'allowed_private_addresses: [127.0.0.1]\n');
    carillon = await startCarillon(home, ['--config', 'start.yaml']);
  });
  afterAll(async () => {
    await carillon.leave();
    await provider.stop();
  });

  const AUDIENCE = 'https://events.example.com';
  const write = async (path: string, text: string): Promise<void> => {
    const file = join(carillon.folder, 'carillon-demo/workspaces/shop', path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
  };
  const send = (token: string, user: string) =>
    carillon.post('shop/clicks', JSON.stringify({ user_id: user }), { authorization: `Bearer ${token}` });

  it('is configured with a file for the provider and a stream that accepts its tokens', async () => {
    await write('streams/clicks.yaml', 'security: { jwt_provider: auth, claims: { sub: event.user_id } }\n');
    await write('jwt-providers/auth.yaml', `jwks_url: ${provider.jwksUrl}\nissuer: ${provider.issuer}\n`);
    const { out } = await carillon.command(['diff', '-f', 'carillon-demo']);
    expect(out).toContain('tokens for other services are accepted too');
    await write(
      'jwt-providers/auth.yaml',
      `jwks_url: ${provider.jwksUrl}\nissuer: ${provider.issuer}\naudience: ${AUDIENCE}\n`,
    );
    await carillon.apply();
  });

  it('refuses to hand a stream to token holders whose rule writes to whatever address an event names', async () => {
    // A folder with this one file: the rule that would become an open mail sender is on the server.
    const part = join(carillon.folder, 'part/workspaces/shop/streams/orders.yaml');
    await mkdir(dirname(part), { recursive: true });
    await writeFile(part, 'key: event.order_id\nsecurity: { jwt_provider: auth, claims: { sub: event.user_id } }\n');
    const { code, out } = await carillon.command(['apply', '-f', 'part', '--yes']);
    expect(code, out).toBe(2);
    expect(out).toContain('workspaces/shop/streams/orders.yaml:2:1 everybody with a token of auth');
    expect(out).toContain('who is notified of order-paid');
    expect(out).toContain('open_recipients: true');
  });

  it('tries a token before anybody depends on it, and explains each step', async () => {
    const token = await provider.token('ada', AUDIENCE);
    const { code, out } = await carillon.command(['jwt-provider', 'check', 'auth'], token);
    expect(code, out).toBe(0);
    expect(out).toContain('signature: made with this key');
    expect(out).toContain('stream shop/clicks: this stream accepts only events in which event.user_id is "ada"');

    const elsewhere = await provider.token('ada', 'https://billing.example.com');
    const wrong = await carillon.command(['jwt-provider', 'check', 'auth'], elsewhere);
    expect(wrong.code).toBe(1);
    expect(wrong.out).toContain('FAIL  audience: its `aud` does not hold the configured audience');
  });

  it('lets the holder of a token speak for itself, and for nobody else', async () => {
    const token = await provider.token('ada', AUDIENCE);
    expect((await send(token, 'ada')).status).toBe(202);
    expect(await send(token, 'bob')).toMatchObject({
      status: 403,
      body: { code: 'claim_mismatch', pointer: '/user_id' },
    });
  });

  it('accepts one kind of credential per stream: an API key or a token', async () => {
    expect((await send(carillon.key, 'ada')).body['code']).toBe('forbidden');
    const token = await provider.token('ada', AUDIENCE);
    const answer = await carillon.post('shop/orders', '{}', { authorization: `Bearer ${token}` });
    expect(answer.body['code']).toBe('forbidden');
  });

  it('goes on while the provider is away: its keys are known', async () => {
    const token = await provider.token('bob', AUDIENCE);
    await provider.stop();
    expect((await send(token, 'bob')).status).toBe(202);
    await provider.start();
  });
});
