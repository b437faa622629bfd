import { createHmac, createPublicKey } from 'node:crypto';
import { forgeToken, inSeconds, makeSigningKey, signToken, startKeySetServer } from '@carillon/testing/tokens';
import type { KeySetServer, SigningKey, TokenParts } from '@carillon/testing/tokens';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { post, rawConnection, type Answer } from './gateway-fixture.ts';
import { GOOD, prepareTokenFixture, type TokenFixture } from './token-fixture.ts';

/*
 * The attacks of RFC 8725 and their relatives, each by HTTP against a gateway, each with the whole of its answer. What a
 * stranger can make is answered alike; what only the provider can sign says what is wrong with it.
 */

let fixture: TokenFixture;
/** Serves the attacker's keys wherever a header might lead us. */
let canary: KeySetServer;
let mallory: SigningKey;
let rsa: SigningKey;
beforeAll(async () => {
  fixture = await prepareTokenFixture();
  mallory = await makeSigningKey('m-1');
  rsa = await makeSigningKey('r-1', 'RS256');
  fixture.keySets.auth.publish(fixture.signing.auth, rsa);
  canary = await startKeySetServer(mallory);
});
afterEach(() => fixture.stopGateways());
afterAll(async () => {
  await canary.close();
  await fixture.close();
});

const CLAIMS = () => ({ sub: 'ada', ...GOOD, exp: inSeconds(300) });
const sign = (parts: TokenParts = {}, key = fixture.signing.auth) =>
  signToken(key, { ...parts, claims: { ...CLAIMS(), ...parts.claims } });

const answerOf = ({ status, body, headers }: Answer): unknown => ({
  status,
  body: { ...body, request_id: null },
  challenge: headers.get('www-authenticate'),
});
const problem = (detail: string, description: string | null): unknown => ({
  status: 401,
  body: {
    type: '/docs/errors#unauthorized',
    title: 'No valid credential',
    status: 401,
    code: 'unauthorized',
    detail,
    request_id: null,
  },
  challenge: `Bearer realm="carillon"${description === null ? '' : `, error="invalid_token", error_description="${description}"`}`,
});
const STRANGER = () =>
  problem('Send a valid API key or token of this workspace as Authorization: Bearer <API key or token>.', null);
const signedBut = (fault: string) =>
  problem(`The token is signed by a provider of this workspace and cannot be used: ${fault}. Send a new one.`, fault);

/** Sends it, looks that nothing came of it, and answers the answer. */
async function attack(token: string): Promise<unknown> {
  const before = (await fixture.records()).length;
  const gateway = await fixture.start();
  const answer = await post(gateway, 'shop/app', token, '{"user_id":"ada"}');
  expect(await fixture.records()).toHaveLength(before);
  expect(answer.text).not.toContain(token.slice(0, 40));
  return answerOf(answer);
}

const header = (more: object) => ({ alg: 'ES256', kid: fixture.signing.auth.kid, typ: 'JWT', ...more });
const hmac = (secret: string | Buffer, head: object = {}): string => {
  const unsigned = forgeToken({ alg: 'HS256', typ: 'JWT', ...head }, CLAIMS(), '').slice(0, -1);
  return `${unsigned}.${createHmac('sha256', secret).update(unsigned).digest('base64url')}`;
};
const pem = (key: SigningKey): string =>
  createPublicKey({ key: key.publicJwk, format: 'jwk' }).export({ type: 'spki', format: 'pem' }).toString();

test('a valid token is accepted, so that each attack below is refused for its own reason', async () => {
  const gateway = await fixture.start();
  expect((await post(gateway, 'shop/app', await sign(), '{"user_id":"ada"}')).status).toBe(202);
  expect((await post(gateway, 'shop/app', await sign({}, rsa), '{"user_id":"ada"}')).status).toBe(202);
});

describe('a token that anybody can make gets the same answer as no credential', () => {
  test.each<[string, () => string | Promise<string>]>([
    ['alg none, without signature', () => forgeToken({ alg: 'none' }, CLAIMS(), '')],
    ['alg none, with some signature', () => forgeToken({ alg: 'none' }, CLAIMS())],
    ['alg None', () => forgeToken({ alg: 'None' }, CLAIMS())],
    ['alg nOnE and the kid of a key', () => forgeToken(header({ alg: 'nOnE' }), CLAIMS())],
    ['no alg', () => forgeToken(header({ alg: undefined }), CLAIMS())],
    ['a list as alg', () => forgeToken(header({ alg: ['ES256'] }), CLAIMS())],
    ['HS256 with the public RSA key in PEM as the secret', () => hmac(pem(rsa), { kid: rsa.kid })],
    ['HS256 with the public EC key in PEM as the secret', () => hmac(pem(fixture.signing.auth), { kid: 'a-1' })],
    ['HS256 with the JWK as the secret', () => hmac(JSON.stringify(rsa.publicJwk), { kid: rsa.kid })],
    ['HS256 with the modulus as the secret', () => hmac(Buffer.from(rsa.publicJwk.n ?? '', 'base64url'))],
    ['HS256 with an empty secret', () => hmac('')],
    ['ES256 under the name of an RSA key', () => sign({ header: { kid: rsa.kid } })],
    ['RS256 under the name of an EC key', () => sign({ header: { kid: fixture.signing.auth.kid } }, rsa)],
    ['an empty signature', () => forgeToken(header({}), CLAIMS(), '')],
    ['a signature of zeros', () => forgeToken(header({}), CLAIMS(), Buffer.alloc(64).toString('base64url'))],
    [
      'a DER signature of zeros',
      () => forgeToken(header({}), CLAIMS(), Buffer.from('3006020100020100', 'hex').toString('base64url')),
    ],
    [
      'other claims under a true signature',
      async () =>
        (await sign()).replace(
          /\.[^.]+\./,
          `.${Buffer.from(JSON.stringify({ ...CLAIMS(), sub: 'root' })).toString('base64url')}.`,
        ),
    ],
    ['another key under a known kid', () => sign({ header: { kid: fixture.signing.auth.kid } }, mallory)],
    ['a kid that is a path', () => sign({ header: { kid: '../../../../../../dev/null' } }, mallory)],
    ['a kid that is an absolute path, HS256 with its content', () => hmac('', { kid: '/dev/null' })],
    ['a kid that is SQL', () => sign({ header: { kid: "x' UNION SELECT 'key' -- " } }, mallory)],
    ['a kid that is a command', () => sign({ header: { kid: '|/usr/bin/id' } }, mallory)],
    ['a kid that is an address', () => sign({ header: { kid: canary.url } }, mallory)],
    ['a kid with line breaks', () => sign({ header: { kid: 'a-1\r\nx: y' } }, mallory)],
    ['a kid called __proto__', () => sign({ header: { kid: '__proto__' } }, mallory)],
    ['a kid that is an object', () => forgeToken(header({ kid: { $ne: null } }), CLAIMS())],
    ['a kid of 8 KB', () => sign({ header: { kid: 'k'.repeat(8000) } }, mallory)],
    ['jku: the attacker’s key set', () => sign({ header: { jku: canary.url } }, mallory)],
    ['jku, with the kid of a true key', () => sign({ header: { jku: canary.url, kid: 'a-1' } }, mallory)],
    ['x5u: the attacker’s certificate', () => forgeToken(header({ x5u: canary.url, kid: 'm-1' }), CLAIMS())],
    ['jwk: the attacker’s key itself', () => sign({ header: { jwk: mallory.publicJwk } }, mallory)],
    ['jwk, with the kid of a true key', () => sign({ header: { jwk: mallory.publicJwk, kid: 'a-1' } }, mallory)],
    ['x5c: the attacker’s chain', () => forgeToken(header({ x5c: ['MIIB'], kid: 'm-1' }), CLAIMS())],
    ['a critical extension', () => sign({ header: { crit: ['urn:example:test'], 'urn:example:test': true } })],
    ['an unencoded payload (b64: false)', () => forgeToken(header({ b64: false, crit: ['b64'] }), CLAIMS())],
    ['the type of a logout token', () => sign({ header: { typ: 'logout+jwt' } })],
    ['the type of a proof of possession', () => sign({ header: { typ: 'dpop+jwt' } })],
    ['the type of a security event', () => sign({ header: { typ: 'secevent+jwt' } })],
    ['a type that is no text', () => forgeToken(header({ typ: ['JWT'] }), CLAIMS())],
    ['a header that names alg twice', () => forgeToken('{"alg":"none","alg":"ES256","kid":"a-1"}', CLAIMS())],
    [
      'a claim that stands there twice',
      () =>
        sign({
          claimsText: `{"sub":"bob","sub":"ada","iss":"${GOOD.iss}","aud":"${GOOD.aud}","exp":${inSeconds(300)}}`,
        }),
    ],
    [
      'exp twice, the second one later',
      () =>
        sign({ claimsText: `{"sub":"ada","iss":"${GOOD.iss}","aud":"${GOOD.aud}","exp":1,"exp":${inSeconds(300)}}` }),
    ],
    [
      'a name that only escapes make equal',
      () =>
        sign({
          claimsText: `{"sub":"bob","\\u0073ub":"ada","iss":"${GOOD.iss}","aud":"${GOOD.aud}","exp":${inSeconds(300)}}`,
        }),
    ],
    [
      'a claim called __proto__',
      () =>
        sign({
          claimsText: `{"__proto__":{"sub":"ada"},"iss":"${GOOD.iss}","aud":"${GOOD.aud}","exp":${inSeconds(300)}}`,
        }),
    ],
    [
      'objects nested 500 deep',
      () => sign({ claimsText: `{"sub":${'{"a":'.repeat(500)}1${'}'.repeat(500)},"exp":${inSeconds(300)}}` }),
    ],
    [
      'an exp beyond doubles',
      () => sign({ claimsText: `{"sub":"ada","iss":"${GOOD.iss}","aud":"${GOOD.aud}","exp":1e999}` }),
    ],
    ['claims that are a list', () => sign({ claimsText: '["exp",9999999999]' })],
    ['claims that are no JSON', () => sign({ claimsText: 'exp=9999999999' })],
    ['claims that are not UTF-8', () => forgeToken(header({}), CLAIMS()).replace(/\.[^.]+\./, '._w.')],
    ['five parts: an encrypted token', async () => `${await sign()}.AAAA.AAAA`],
    ['a token in a token', async () => sign({ claimsText: await sign() })],
    ['a token with a line in it', async () => `${(await sign()).slice(0, 20)}=${(await sign()).slice(20)}`],
  ])('%s', async (_what, make) => {
    expect(await attack(await make())).toEqual(STRANGER());
  });

  test('and the gateway never calls the URL in the token', () => {
    expect(canary.requests()).toEqual([]);
  });

  test('and the gateway fetches keys from the provider a bounded number of times', () => {
    expect(fixture.keySets.auth.asked()).toBeLessThanOrEqual(2);
    expect(fixture.keySets.partner.asked()).toBeLessThanOrEqual(2);
  });
});

describe('a signed but invalid token gets its own reason', () => {
  test.each<[string, string, Readonly<Record<string, unknown>>]>([
    ['no exp', 'a claim is missing: `exp`', { exp: undefined }],
    ['exp: null', 'a claim that has to be a number is none: `exp`', { exp: null }],
    ['exp as text', 'a claim that has to be a number is none: `exp`', { exp: '9999999999' }],
    ['exp as an object', 'a claim that has to be a number is none: `exp`', { exp: { valueOf: 9_999_999_999 } }],
    ['expired', 'it has expired', { exp: inSeconds(-3600) }],
    ['exp negative', 'it has expired', { exp: -1 }],
    ['not valid yet', 'it is not valid yet', { nbf: inSeconds(3600) }],
    ['nbf as text', 'a claim that has to be a number is none: `nbf`', { nbf: 'tomorrow' }],
    ['another issuer', 'its `iss` is not the configured issuer', { iss: 'https://evil.example/' }],
    ['the issuer with something behind it', 'its `iss` is not the configured issuer', { iss: `${GOOD.iss}evil` }],
    ['the issuer in a list', 'its `iss` is not the configured issuer', { iss: [GOOD.iss] }],
    ['no issuer', 'a claim is missing: `iss`', { iss: undefined }],
    ['another audience', 'its `aud` does not hold the configured audience', { aud: 'another-service' }],
    ['an audience that begins like ours', 'its `aud` does not hold the configured audience', { aud: 'shop-events2' }],
    ['an audience in an object', 'its `aud` does not hold the configured audience', { aud: { 'shop-events': true } }],
    ['no audience', 'a claim is missing: `aud`', { aud: undefined }],
  ])('%s', async (_what, fault, claims) => {
    expect(await attack(await sign({ claims }))).toEqual(signedBut(fault));
  });
});

describe('a token of 100 KB', () => {
  test('is refused before anything reads it: the head of a request has 16 KiB', async () => {
    const gateway = await fixture.start();
    const large = await sign({ claims: { padding: 'x'.repeat(75_000) } });
    expect(large.length).toBeGreaterThan(100_000);
    const connection = rawConnection(gateway.port);
    connection.send(`POST /events/shop/app HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${large}\r\n\r\n`);
    const answer = await connection.answer;
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toContain('The headers are too large');
    expect(answer).not.toContain(large.slice(0, 40));
    // The gateway goes on.
    expect((await post(gateway, 'shop/app', await sign(), '{"user_id":"ada"}')).status).toBe(202);
  });

  test('is above the limit, while a valid token of 13 KB is accepted', async () => {
    const gateway = await fixture.start();
    const long = await sign({ claims: { padding: 'x'.repeat(10_000) } });
    expect((await post(gateway, 'shop/app', long, '{"user_id":"ada"}')).status).toBe(202);
  });
});

test('no log line holds a token, or a part of one', async () => {
  fixture.keySets.blog.behave({ status: 500 });
  const gateway = await fixture.start();
  const token = await signToken(fixture.signing.blog, { claims: CLAIMS() });
  expect((await post(gateway, 'blog/anything', token)).body['code']).toBe('keys_unavailable');
  expect(fixture.logged.join('\n')).toContain('keys_unavailable');
  for (const part of token.split('.')) expect(fixture.logged.join('\n')).not.toContain(part.slice(0, 16));
});
