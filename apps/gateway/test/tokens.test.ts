import { CHANGED_BY_OWNER, foldConfiguration, type ResourceChange } from '@carillon/domain/configuration';
import { inSeconds, makeSigningKey, signToken, type TokenParts } from '@carillon/testing/tokens';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { post, type Answer } from './gateway-fixture.ts';
import { GOOD, prepareTokenFixture, type TokenFixture } from './token-fixture.ts';

let fixture: TokenFixture;
beforeEach(async () => {
  fixture = await prepareTokenFixture();
});
afterEach(async () => {
  await fixture.stopGateways();
  await fixture.close();
});

const token = (claims: Readonly<Record<string, unknown>> = {}, parts: TokenParts = {}) =>
  signToken(fixture.signing.auth, { ...parts, claims: { ...GOOD, ...claims } });
const codeOf = ({ status, body }: Answer): string => `${status} ${String(body['code'])}`;
const event = (fields: Readonly<Record<string, unknown>>): string => JSON.stringify(fields);
const recordOf = async (id: unknown) => (await fixture.records()).find((one) => one.headers['event_id'] === id);

describe('a token of the JWT provider of a stream', () => {
  test('appends the event with provider and keyed subject', async () => {
    const gateway = await fixture.start();
    const answer = await post(gateway, 'shop/open', await token({ sub: 'ada@example.com' }), '{"a":1}');
    expect(answer.status).toBe(202);
    const principal = (await recordOf(answer.body['id']))?.headers['principal'] ?? '';
    expect(principal).toMatch(/^jwt_provider:auth\/[0-9A-Z]{26}$/);
    const again = await post(gateway, 'shop/open', await token({ sub: 'ada@example.com', jti: '2' }), '{"a":2}');
    expect((await recordOf(again.body['id']))?.headers['principal']).toBe(principal);
    const other = await post(gateway, 'shop/open', await token({ sub: 'bob' }), '{"a":3}');
    expect((await recordOf(other.body['id']))?.headers['principal']).not.toBe(principal);
    const nobody = await post(gateway, 'shop/open', await token({ sub: undefined }), '{"a":4}');
    expect((await recordOf(nobody.body['id']))?.headers['principal']).toBe('jwt_provider:auth');
  });

  test('fetches the keys once for any number of events', async () => {
    const gateway = await fixture.start();
    const one = await token();
    for (let at = 0; at < 20; at += 1) {
      expect((await post(gateway, 'shop/open', at % 2 ? one : await token({ jti: String(at) }))).status).toBe(202);
    }
    expect(fixture.keySets.auth.requests()).toHaveLength(1);
    expect(fixture.keySets.partner.requests()).toEqual([]);
  });
});

describe('a claim bound by the stream', () => {
  const send = async (claims: Readonly<Record<string, unknown>>, body: Readonly<Record<string, unknown>>) =>
    post(await fixture.start(), 'shop/app', await token(claims), event(body));

  test('accepts an event about the token holder', async () => {
    expect((await send({ sub: 'ada' }, { user_id: 'ada' })).status).toBe(202);
    expect((await send({ sub: '42' }, { user_id: 42 })).status).toBe(202);
  });

  test('is checked for each event of a batch', async () => {
    const gateway = await fixture.start();
    const body = '{"user_id":"ada"}\n{"user_id":"bob"}\n{"user_id":"ada"}';
    const headers = { 'content-type': 'application/x-ndjson' };
    const answer = await post(gateway, 'shop/app', await token({ sub: 'ada' }), body, headers);
    expect(answer.status).toBe(207);
    expect(answer.body['items']).toEqual([
      { id: expect.any(String) as string },
      { problem: expect.objectContaining({ code: 'claim_mismatch', status: 403, line: 2 }) as object },
      { id: expect.any(String) as string },
    ]);
  });

  test.each([
    ['they differ', { sub: 'ada' }, { user_id: 'bob' }],
    ['the field is missing, or neither text nor a whole number', { sub: 'ada' }, {}],
    ['the field is missing, or neither text nor a whole number', { sub: 'ada' }, { user_id: { $eq: 'ada' } }],
    ['the field is missing, or neither text nor a whole number', { sub: 'ada' }, { user_id: ['ada'] }],
    ['the claim is missing, or neither text nor a whole number', { sub: undefined }, { user_id: 'undefined' }],
    ['the claim is missing, or neither text nor a whole number', { sub: { id: 'ada' } }, { user_id: 'ada' }],
  ])('refuses an event for which %s: %j, %j', async (why, claims, body) => {
    const answer = await send(claims, body);
    expect(answer.status).toBe(403);
    expect(answer.body).toMatchObject({
      type: '/docs/errors#claim_mismatch',
      title: 'The token does not match the event',
      code: 'claim_mismatch',
      detail: `The claim sub of the token must equal event.user_id: ${why}.`,
      pointer: '/user_id',
    });
    expect(await fixture.records()).toEqual([]);
  });

  test('is checked after the body was read, and before anything is appended', async () => {
    const gateway = await fixture.start();
    const holder = await token({ sub: 'ada' });
    expect(codeOf(await post(gateway, 'shop/app', holder, '{"user_id":"ada","user_id":"bob"}'))).toBe(
      '400 duplicate_key',
    );
    expect(codeOf(await post(gateway, 'shop/app', holder, '{"user_id":"bob"}', { 'idempotency-key': 'a b' }))).toBe(
      '403 claim_mismatch',
    );
  });
});

describe('the right status', () => {
  test('is 403 for a valid credential of the workspace that the stream does not accept, of either kind', async () => {
    const gateway = await fixture.start();
    const partner = await signToken(fixture.signing.partner);
    const answers = {
      'a token, where API keys are taken': await post(gateway, 'shop/orders', await token()),
      'a token of another provider': await post(gateway, 'shop/app', partner),
      'an API key, where tokens are taken': await post(gateway, 'shop/app', fixture.keys.backend),
      'another API key': await post(gateway, 'shop/private', fixture.keys.backend),
    };
    for (const [what, answer] of Object.entries(answers))
      expect([what, codeOf(answer)]).toEqual([what, '403 forbidden']);
  });

  test('404 for a good token of the workspace on a path that is not there', async () => {
    const gateway = await fixture.start();
    expect(codeOf(await post(gateway, 'shop/nowhere', await token()))).toBe('404 not_found');
  });

  test('the same 401 for a stranger’s token wherever it is sent', async () => {
    const gateway = await fixture.start();
    const stranger = await signToken(await makeSigningKey('a-1'), { claims: GOOD });
    const blog = await signToken(fixture.signing.blog, { claims: GOOD });
    const comparable = ({ status, body, headers }: Answer) => [
      status,
      { ...body, request_id: null },
      headers.get('www-authenticate'),
    ];
    const refused = comparable(await post(gateway, 'shop/app', stranger));
    expect([refused[0], refused[2]]).toEqual([401, 'Bearer realm="carillon"']);
    for (const path of ['shop/app', 'shop/open', 'shop/partner', 'shop/orders', 'shop/nowhere', 'nobody/nowhere']) {
      expect(comparable(await post(gateway, path, stranger))).toEqual(refused);
      expect(comparable(await post(gateway, path, blog))).toEqual(refused);
      expect(comparable(await post(gateway, path, 'a.b.c'))).toEqual(refused);
    }
  });

  test('is the same for a token holder on every path of the workspace', async () => {
    const gateway = await fixture.start();
    const old = await token({ exp: inSeconds(-3600) });
    for (const path of ['shop/app', 'shop/partner', 'shop/orders', 'shop/nowhere']) {
      const answer = await post(gateway, path, old);
      expect(codeOf(answer)).toBe('401 unauthorized');
      expect(answer.body['detail']).toContain('it has expired');
      expect(answer.headers.get('www-authenticate')).toBe(
        'Bearer realm="carillon", error="invalid_token", error_description="it has expired"',
      );
    }
  });

  test('503 with Retry-After, and never 401, while the keys were never fetched', async () => {
    fixture.keySets.auth.behave({ status: 500 });
    const gateway = await fixture.start();
    const answer = await post(gateway, 'shop/app', await token(), event({ user_id: 'ada' }));
    expect(codeOf(answer)).toBe('503 keys_unavailable');
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(20);
    expect(codeOf(await post(gateway, 'shop/nowhere', await token()))).toBe('503 keys_unavailable');
    // The other provider can say no by itself.
    expect(codeOf(await post(gateway, 'shop/partner', await token()))).toBe('401 unauthorized');
  });

  test('the checks come in their order: each refusal hides the ones after it', async () => {
    const gateway = await fixture.start({ maxBodyBytes: 64 });
    const large = `{"user_id":"${'x'.repeat(100)}`;
    const broken = { 'content-type': 'text/plain' };
    expect(codeOf(await post(gateway, 'shop/app', 'a.b.c', large, broken))).toBe('401 unauthorized');
    expect(codeOf(await post(gateway, 'shop/nowhere', await token(), large, broken))).toBe('404 not_found');
    expect(codeOf(await post(gateway, 'shop/orders', await token(), large, broken))).toBe('403 forbidden');
    expect(codeOf(await post(gateway, 'shop/app', await token(), large, broken))).toBe('415 unsupported_media_type');
    expect(codeOf(await post(gateway, 'shop/app', await token(), large))).toBe('413 body_too_large');
    expect(codeOf(await post(gateway, 'shop/app', await token(), '{'))).toBe('400 invalid_json');
    expect(codeOf(await post(gateway, 'shop/app', await token(), '{}'))).toBe('403 claim_mismatch');
  });
});

describe('the provider of a token', () => {
  /** A gateway that tells which providers were asked to verify; nothing is signed by any of them. */
  async function asking() {
    const asked: string[] = [];
    const gateway = await fixture.start(
      {},
      {
        tokens: {
          async verify({ name }) {
            asked.push(name);
            return { kind: 'refused', fault: 'signature', detail: 'not signed', signed: false };
          },
        },
      },
    );
    return async (path: string, claims: Readonly<Record<string, unknown>>): Promise<string> => {
      const answer = await post(gateway, path, await token(claims));
      expect(codeOf(answer)).toBe('401 unauthorized');
      return asked.splice(0).join();
    };
  }
  const provider = (name: string, issuer?: string): ResourceChange => ({
    ref: { kind: 'jwt_provider', workspace: 'shop', name },
    based_on: name === 'partner' ? 1 : null,
    body: { jwks_url: fixture.keySets.auth.url, ...(issuer !== undefined && { issuer }) },
  });
  const withProviders = (...changes: readonly ResourceChange[]): void => {
    const record = { id: 'req_3', at: '2026-01-01T00:00:00.000Z', by: CHANGED_BY_OWNER, changes };
    fixture.configuration.current = foldConfiguration(fixture.configuration.current, record, 2).configuration;
  };

  test('is chosen by the issuer before any signature is checked: one provider, if each has its own issuer', async () => {
    const others = Array.from({ length: 9 }, (_, at) => provider(`other-${at}`, `https://${at}.example/`));
    withProviders(provider('partner', 'https://partner.example/'), ...others);
    const ask = await asking();
    expect(await ask('shop/app', {})).toBe('auth');
    expect(await ask('shop/app', { iss: 'https://7.example/' })).toBe('other-7');
    expect(await ask('shop/nowhere', { iss: 'https://7.example/' })).toBe('other-7');
    expect(await ask('shop/nowhere', { iss: 'https://stranger.example/' })).toBe('');
    // Its holder may be told what is wrong, if the stream's own provider did sign it.
    expect(await ask('shop/app', { iss: 'https://stranger.example/' })).toBe('auth');
    expect(await ask('shop/app', { iss: ['https://7.example/'] })).toBe('auth');
  });

  test('is one of at most three if providers name no issuer', async () => {
    withProviders(...Array.from({ length: 9 }, (_, at) => provider(`other-${at}`)));
    const ask = await asking();
    expect((await ask('shop/app', {})).split(',')).toHaveLength(3);
    expect(await ask('shop/app', {})).toMatch(/^auth,/);
  });
});
