import { JWT_ALGORITHMS } from '@carillon/domain/configuration';
import { forgeToken, inSeconds, makeSigningKey, signToken } from '@carillon/testing/tokens';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { prepareFixture, type Fixture } from './key-set-fixture.ts';

let fixture: Fixture;
beforeAll(async () => {
  fixture = await prepareFixture({ coolDown: 0 });
});
afterAll(() => fixture.close());

const verdictOf = (token: string, body = {}) => fixture.verifier.verify(fixture.provider(body), token);

describe('a JWT that its provider signed', () => {
  test.each(JWT_ALGORITHMS)('with %s is valid if that algorithm is allowed, and refused if not', async (alg) => {
    const key = await makeSigningKey(`key-${alg}`, alg);
    fixture.server.publish(fixture.key, key);
    const token = await signToken(key, { claims: { sub: 'ada' } });
    expect(await verdictOf(token, { algorithms: [alg] })).toMatchObject({ kind: 'valid', claims: { sub: 'ada' } });
    const others = JWT_ALGORITHMS.filter((other) => other !== alg);
    expect(await verdictOf(token, { algorithms: others })).toMatchObject({ kind: 'refused', fault: 'algorithm' });
  });

  test('is valid without a kid if exactly one key fits', async () => {
    fixture.server.publish(fixture.key);
    const token = await signToken(fixture.key, { header: { kid: undefined } });
    expect((await verdictOf(token)).kind).toBe('valid');
  });

  test.each([undefined, 'JWT', 'jwt', 'at+jwt', 'application/at+jwt'])('is valid with typ %s', async (typ) => {
    expect((await verdictOf(await signToken(fixture.key, { header: { typ } }))).kind).toBe('valid');
  });

  test('returns its claims, with large whole numbers exact', async () => {
    const claimsText = `{"sub":"ada","exp":${inSeconds(60)},"account":9007199254740993,"roles":["a",{"b":1}]}`;
    const verdict = await verdictOf(await signToken(fixture.key, { claimsText }));
    expect(verdict).toMatchObject({ kind: 'valid', claims: { account: 9007199254740993n } });
  });

  test.each([
    ['one of its audiences is ours', { audience: 'shop' }, { aud: ['club', 'shop'] }],
    ['its audience is one of ours', { audience: ['web', 'shop'] }, { aud: 'shop' }],
    ['the issuer is ours', { issuer: 'https://a.example/' }, { iss: 'https://a.example/' }],
    ['it is young enough', { max_token_age: '1h' }, { iat: inSeconds(-3500) }],
    ['it expired within the tolerance', {}, { exp: inSeconds(-50) }],
    ['it begins within the tolerance', {}, { nbf: inSeconds(50) }],
    ['its type is the wanted one', { token_type: 'JWT' }, {}],
  ])('is valid if %s', async (_what, body, claims) => {
    expect((await verdictOf(await signToken(fixture.key, { claims }), body)).kind).toBe('valid');
  });

  test.each([
    ['claim_missing', {}, { exp: undefined }],
    ['claim_malformed', {}, { exp: '9999999999' }],
    ['claim_malformed', {}, { exp: { at: 9_999_999_999 } }],
    ['expired', {}, { exp: inSeconds(-61) }],
    ['expired', { clock_tolerance: '0s' }, { exp: inSeconds(-1) }],
    ['not_yet_valid', {}, { nbf: inSeconds(90) }],
    ['too_old', { max_token_age: '1h' }, { iat: inSeconds(-3700) }],
    ['claim_missing', { max_token_age: '1h' }, { iat: undefined }],
    ['not_yet_valid', { max_token_age: '1h' }, { iat: inSeconds(200) }],
    ['claim_missing', { issuer: 'https://a.example/' }, {}],
    ['issuer', { issuer: 'https://a.example/' }, { iss: 'https://a.example' }],
    ['issuer', { issuer: 'https://a.example/' }, { iss: ['https://a.example/'] }],
    ['claim_missing', { audience: 'shop' }, {}],
    ['audience', { audience: 'shop' }, { aud: 'shop2' }],
    ['audience', { audience: 'shop' }, { aud: { shop: 'shop' } }],
    ['audience', { audience: 'shop' }, { aud: [['shop']] }],
    ['type', { token_type: 'at+jwt' }, {}],
  ])('is refused as %s with %j and %j, and its holder is told why', async (fault, body, claims) => {
    const verdict = await verdictOf(await signToken(fixture.key, { claims }), body);
    expect(verdict).toMatchObject({ kind: 'refused', fault, signed: true });
  });
});

describe('a JWT that anybody could forge', () => {
  const headed = (header: Readonly<Record<string, unknown>>) =>
    forgeToken({ kid: 'first', ...header }, { exp: 9_999_999_999 });

  test.each<[string, string | (() => Promise<string>)]>([
    ['algorithm', headed({ alg: 'none' })],
    ['algorithm', headed({ alg: 'HS256' })],
    ['critical_header', headed({ alg: 'ES256', crit: ['exp'] })],
    ['critical_header', headed({ alg: 'ES256', crit: [] })],
    ['type', headed({ alg: 'ES256', typ: 'logout+jwt' })],
    ['malformed', headed({ alg: 'ES256', kid: 7 })],
    ['malformed', forgeToken('{"alg":"ES256","alg":"ES256"}', { exp: 9_999_999_999 })],
    ['malformed', forgeToken({ alg: 'ES256' }, '{"exp":1,"exp":9999999999}')],
    ['too_long', headed({ alg: 'ES256', pad: 'x'.repeat(20_000) })],
    ['unknown_key', headed({ alg: 'ES256', kid: 'second' })],
    ['unknown_key', headed({ alg: 'RS256' })],
    ['signature', headed({ alg: 'ES256' })],
    ['signature', async () => signToken(await makeSigningKey('first'))],
  ])('is refused as %s, and the caller is not told why', async (fault, token) => {
    fixture.server.publish(fixture.key);
    const text = typeof token === 'string' ? token : await token();
    expect(await verdictOf(text)).toMatchObject({ kind: 'refused', fault, signed: false });
  });
});

describe('laws of JWT verification', () => {
  test('a token is valid from nbf until exp, the tolerance before and after, and at no other time', async () => {
    const span = fc.integer({ min: -400, max: 400 });
    await fc.assert(
      fc.asyncProperty(span, span, fc.integer({ min: 0, max: 300 }), async (from, until, tolerance) => {
        const now = Math.floor(fixture.now() / 1000);
        const claims = { nbf: now + from, exp: now + until };
        const verdict = await verdictOf(await signToken(fixture.key, { claims }), { clock_tolerance: `${tolerance}s` });
        expect(verdict.kind === 'valid').toBe(from <= tolerance && until > -tolerance);
      }),
      { numRuns: 60 },
    );
  });

  test('changing any one character of a token makes it invalid', async () => {
    const token = await signToken(fixture.key, { claims: { sub: 'ada', n: 12_345 } });
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.=+/ é';
    await fc.assert(
      fc.asyncProperty(fc.nat(token.length - 1), fc.constantFrom(...alphabet.split('')), async (at, letter) => {
        fc.pre(token[at] !== letter);
        const changed = `${token.slice(0, at)}${letter}${token.slice(at + 1)}`;
        // Other letters for the same bytes: the last one of a part has bits that mean nothing.
        fc.pre(!sameBytes(token, changed));
        expect((await verdictOf(changed)).kind).toBe('refused');
      }),
      { numRuns: 400 },
    );
  });

  test('any text is accepted or rejected without throwing, and causes no fetch if no key could make it valid', async () => {
    const fresh = await prepareFixture();
    const part = fc.oneof(
      fc.base64String().map((text) => text.replaceAll('=', '').replaceAll('+', '-').replaceAll('/', '_')),
      fc.json().map((text) => Buffer.from(text).toString('base64url')),
    );
    const texts = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(part, { maxLength: 6 }).map((parts) => parts.join('.')),
    );
    try {
      await fc.assert(
        fc.asyncProperty(texts, async (text) => {
          const { kind } = await fresh.verifier.verify(fresh.provider(), text);
          expect(kind).toBe('refused');
        }),
        { numRuns: 500 },
      );
      expect(fresh.server.requests()).toEqual([]);
    } finally {
      await fresh.close();
    }
  });
});

const sameBytes = (a: string, b: string): boolean => {
  const [one, two] = [a, b].map((text) =>
    text.split('.').map((part) => Buffer.from(part, 'base64url').toString('hex')),
  );
  return one?.join('.') === two?.join('.') && /^[\w.-]+$/.test(b);
};
