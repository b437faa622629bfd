import { makeSigningKey, signToken } from '@carillon/testing/tokens';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { prepareFixture, type Fixture } from './key-set-fixture.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

let fixture: Fixture;
beforeEach(async () => {
  fixture = await prepareFixture();
});
afterEach(() => fixture.close());

/** A token of the fixture's own key that lives as long as a test passes. */
const token = (key = fixture.key) =>
  signToken(key, { claims: { exp: Math.floor(fixture.now() / 1000) + 100 * 86_400 } });
const provider = () => fixture.provider({}, 1);
const verify = (text: string) => fixture.verifier.verify(provider(), text);
const kindOf = async (text: string): Promise<string> => {
  const verdict = await verify(text);
  return verdict.kind === 'refused' ? verdict.fault : verdict.kind;
};
const times = async <T>(count: number, make: (at: number) => Promise<T>): Promise<readonly T[]> =>
  Promise.all(Array.from({ length: count }, (_, at) => make(at)));

describe('fetching the token keys of a provider', () => {
  test('happens once for any number of concurrent tokens at the start', async () => {
    const tokens = await times(50, () => token());
    expect(new Set(await times(50, (at) => kindOf(tokens[at] ?? '')))).toEqual(new Set(['valid']));
    fixture.pass(4 * MINUTE);
    expect(await kindOf(await token())).toBe('valid');
    expect(fixture.server.asked()).toBe(1);
  });

  test('happens in the background after half the lifetime of the cached keys', async () => {
    await kindOf(await token());
    fixture.server.behave('hang');
    fixture.pass(6 * MINUTE);
    expect(await kindOf(await token())).toBe('valid');
    await expect.poll(() => fixture.server.asked()).toBe(2);
  });

  test('is waited for after a long pause, so that no token is verified with outdated keys', async () => {
    const old = await token();
    await kindOf(old);
    const next = await makeSigningKey('second');
    fixture.server.publish(next);
    fixture.pass(HOUR);
    expect(await kindOf(old)).toBe('unknown_key');
    expect(await kindOf(await token(next))).toBe('valid');
    expect(fixture.server.asked()).toBe(2);
  });

  test('happens per provider, and again if the address of the keys changes', async () => {
    const text = await token();
    await verify(text);
    await fixture.verifier.verify({ ...provider(), workspace: 'club' }, text);
    expect(fixture.server.asked()).toBe(2);
    await fixture.verifier.verify(fixture.provider({ jwks_url: `${fixture.server.url}?v=2` }, 2), text);
    expect(fixture.server.requests().at(-1)).toContain('?v=2');
  });
});

describe('rotation of a provider’s token keys', () => {
  test('is noticed with the first token that names the new key; the old key is valid while it is published', async () => {
    const old = await token();
    await kindOf(old);
    const next = await makeSigningKey('second');
    fixture.server.publish(fixture.key, next);
    fixture.pass(31 * SECOND);
    expect(await kindOf(await token(next))).toBe('valid');
    expect(await kindOf(old)).toBe('valid');
    fixture.server.publish(next);
    fixture.pass(6 * MINUTE);
    await kindOf(await token(next));
    await expect.poll(() => fixture.fetched.length).toBe(3);
    expect(await kindOf(old)).toBe('unknown_key');
    expect(await kindOf(await token(next))).toBe('valid');
  });

  test('to another key with the same kid is noticed after a fetch, and tokens of the old key are rejected', async () => {
    const old = await token();
    await kindOf(old);
    const other = await makeSigningKey(fixture.key.kid);
    fixture.server.publish(other);
    fixture.pass(11 * MINUTE);
    expect(await kindOf(await token(other))).toBe('valid');
    expect(await kindOf(old)).toBe('signature');
  });

  test('to two keys with one kid is rejected as a mistake of the provider', async () => {
    fixture.server.publish(fixture.key, await makeSigningKey(fixture.key.kid));
    expect(await kindOf(await token())).toBe('ambiguous_key');
  });
});

describe('many tokens with an unknown key id', () => {
  test('cause one fetch per 30 seconds', async () => {
    await kindOf(await token());
    fixture.pass(31 * SECOND);
    const storm = async (round: number) => {
      const strangers = await times(200, async (at) =>
        signToken(fixture.key, { header: { kid: `nobody-${round}-${at}` } }),
      );
      expect(new Set(await times(200, (at) => kindOf(strangers[at] ?? '')))).toEqual(new Set(['unknown_key']));
    };
    await storm(1);
    expect(fixture.server.asked()).toBe(2);
    fixture.pass(10 * SECOND);
    await storm(2);
    expect(fixture.server.asked()).toBe(2);
    fixture.pass(21 * SECOND);
    await storm(3);
    expect(fixture.server.asked()).toBe(3);
    expect(await kindOf(await token())).toBe('valid');
  });

  test('cause one fetch per 30 seconds also while every fetch fails', async () => {
    await kindOf(await token());
    fixture.server.behave({ status: 500 });
    fixture.pass(31 * SECOND);
    for (let round = 0; round < 5; round += 1) {
      await times(100, async (at) =>
        kindOf(await signToken(fixture.key, { header: { kid: `nobody-${round}-${at}` } })),
      );
    }
    expect(fixture.server.asked()).toBe(2);
  });
});

describe('an outage of a provider’s key server', () => {
  const worth = { kind: 'unavailable' };

  test('is bridged with the old keys for a day, without waiting', async () => {
    await kindOf(await token());
    fixture.server.behave({ status: 503 });
    for (let hours = 0; hours < 23; hours += 1) {
      fixture.pass(HOUR);
      expect(await kindOf(await token())).toBe('valid');
    }
    expect(fixture.judged.at(-1)).toMatchObject({ result: 'valid', stale: true });
    await expect.poll(() => fixture.fetched.at(-1)?.failure).toContain('status 503');
    expect(fixture.fetched.at(-1)?.servesUntil).toBeGreaterThan(fixture.now());
    fixture.pass(2 * HOUR);
    expect(await verify(await token())).toMatchObject(worth);
    fixture.server.behave('serve');
    fixture.pass(31 * SECOND);
    expect(await kindOf(await token())).toBe('valid');
    expect(fixture.judged.at(-1)).toMatchObject({ result: 'valid', stale: false });
  });

  test('is reported at its start and its end', async () => {
    /** Fetches once more. Returns whether a key rotation was reported. */
    const fetchAgain = async (): Promise<boolean | undefined> => {
      const before = fixture.fetched.length;
      fixture.pass(11 * MINUTE);
      await verify(await token());
      await expect.poll(() => fixture.fetched.length).toBe(before + 1);
      return fixture.fetched.at(-1)?.turned;
    };
    const turns = [await fetchAgain(), await fetchAgain()];
    fixture.server.behave({ status: 503 });
    turns.push(await fetchAgain(), await fetchAgain(), await fetchAgain());
    fixture.server.behave('serve');
    turns.push(await fetchAgain(), await fetchAgain());
    expect(turns).toEqual([false, false, true, false, false, true, false]);
  });

  test('delays no caller by hanging requests once it is known', async () => {
    await kindOf(await token());
    fixture.server.behave({ status: 503 });
    fixture.pass(11 * MINUTE);
    expect(await kindOf(await token())).toBe('valid');
    fixture.server.behave('hang');
    fixture.pass(31 * SECOND);
    const over = fixture.fetched.length;
    expect(await kindOf(await token())).toBe('valid');
    // Waiting callers are admitted when the request is aborted, and that is reported.
    expect(fixture.fetched.length).toBe(over);
  });

  test('that exists from the start refuses all tokens with a retry time, and causes one fetch per 30 seconds', async () => {
    fixture.server.behave({ status: 500 });
    const text = await token();
    const verdicts = await times(50, () => verify(text));
    expect(new Set(verdicts.map(({ kind }) => kind))).toEqual(new Set(['unavailable']));
    fixture.pass(10 * SECOND);
    expect(await verify(text)).toEqual({ kind: 'unavailable', retryAfter: 20 * SECOND });
    expect(fixture.server.asked()).toBe(1);
    fixture.server.behave('serve');
    fixture.pass(20 * SECOND);
    expect(await kindOf(text)).toBe('valid');
    expect(fixture.server.asked()).toBe(2);
  });

  test.each([
    ['an error', { status: 500 }, 'status 500'],
    ['a redirect', { status: 302, headers: { location: 'http://127.0.0.1:1/' } }, 'status 302'],
    ['another success', { status: 204 }, 'status 204'],
    ['a page', { status: 200, body: '<html>' }, 'not JSON'],
    ['another document', { status: 200, body: '{"key":[]}' }, 'no list `keys`'],
    ['keys that are no list', { status: 200, body: '{"keys":{"length":1}}' }, 'no list `keys`'],
    [
      'more than 256 KiB',
      { status: 200, body: `{"keys":[],"x":"${'x'.repeat(300_000)}"}` },
      'larger than 262144 bytes',
    ],
    ['51 keys', { status: 200, body: JSON.stringify({ keys: Array.from({ length: 51 }, () => ({})) }) }, '51 keys'],
  ])('also covers %s, with the old keys in use', async (_what, behaviour, says) => {
    const text = await token();
    await kindOf(text);
    fixture.server.behave(behaviour);
    fixture.pass(11 * MINUTE);
    expect(await kindOf(text)).toBe('valid');
    expect(fixture.fetched.at(-1)?.failure).toContain(says);
  });
});

describe('unusable keys of a provider', () => {
  const publish = (...keys: readonly unknown[]) =>
    fixture.server.behave({ status: 200, body: JSON.stringify({ keys }) });
  const jwk = () => fixture.key.publicJwk;

  test('are ignored, and the others work', async () => {
    publish(null, 7, [], { kty: 'oct', k: 'c2VjcmV0' }, { kty: 'RSA', kid: 'x' }, { kty: '__proto__' }, jwk());
    expect(await kindOf(await token())).toBe('valid');
  });

  test.each([
    ['a key for encryption', () => ({ ...jwk(), use: 'enc' }), 'unknown_key'],
    ['a key for other operations', () => ({ ...jwk(), use: undefined, key_ops: ['sign'] }), 'unknown_key'],
    ['a key of another algorithm', () => ({ ...jwk(), alg: 'ES384' }), 'unknown_key'],
    ['a point that is not on the curve', () => ({ ...jwk(), x: jwk().y }), 'unusable_key'],
    ['a member that is too long', () => ({ ...jwk(), x: 'A'.repeat(5000) }), 'unknown_key'],
  ])('%s', async (_what, make, fault) => {
    publish(make());
    expect(await kindOf(await token())).toBe(fault);
  });

  test('include an RSA key of 1,024 bits, which is too weak', async () => {
    const { generateKeyPairSync, sign } = await import('node:crypto');
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 1024 });
    publish({ ...publicKey.export({ format: 'jwk' }), kid: 'weak' });
    const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const input = `${part({ alg: 'RS256', kid: 'weak' })}.${part({ exp: 9_999_999_999 })}`;
    const signature = sign('sha256', Buffer.from(input), privateKey).toString('base64url');
    expect(await kindOf(`${input}.${signature}`)).toBe('unusable_key');
  });

  test.each([
    [3, 'unknown_key'],
    [65_537, 'valid'],
  ])('include, or not, an RSA key with the exponent %i: %s', async (publicExponent, kind) => {
    const { generateKeyPairSync, sign } = await import('node:crypto');
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048, publicExponent });
    publish({ ...publicKey.export({ format: 'jwk' }), kid: 'rsa' });
    const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const input = `${part({ alg: 'RS256', kid: 'rsa' })}.${part({ exp: 9_999_999_999 })}`;
    const signature = sign('sha256', Buffer.from(input), privateKey).toString('base64url');
    expect(await kindOf(`${input}.${signature}`)).toBe(kind);
  });
});

describe('the cache of verified tokens', () => {
  test('skips a second verification, and never outlives `exp`', async () => {
    const text = await signToken(fixture.key, { claims: { exp: Math.floor(fixture.now() / 1000) + 30 } });
    const config = { clock_tolerance: '0s' };
    const verdicts = async () => (await fixture.verifier.verify(fixture.provider(config, 7), text)).kind;
    expect(await verdicts()).toBe('valid');
    fixture.pass(28 * SECOND);
    expect(await verdicts()).toBe('valid');
    fixture.pass(3 * SECOND);
    expect(await verdicts()).toBe('refused');
  });

  test('is invalid after the provider changed', async () => {
    const text = await token();
    expect((await fixture.verifier.verify(fixture.provider({}, 1), text)).kind).toBe('valid');
    expect((await fixture.verifier.verify(fixture.provider({ audience: 'shop' }, 2), text)).kind).toBe('refused');
    expect((await fixture.verifier.verify(fixture.provider({ algorithms: ['RS256'] }, 3), text)).kind).toBe('refused');
  });

  test('is invalid after its key was removed', async () => {
    const text = await token();
    await kindOf(text);
    fixture.server.publish(await makeSigningKey('second'));
    fixture.pass(31 * SECOND);
    expect(await kindOf(await signToken(fixture.key, { header: { kid: 'nobody' } }))).toBe('unknown_key');
    expect(await kindOf(text)).toBe('unknown_key');
  });
});
