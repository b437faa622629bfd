import { signToken } from '@carillon/testing/tokens';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readKeySet } from '../src/key-set.ts';
import { createVerifiedTokens } from '../src/verified-tokens.ts';
import { prepareFixture, type Fixture } from './key-set-fixture.ts';

let fixture: Fixture;
beforeEach(async () => {
  fixture = await prepareFixture({ mostFetches: 2, mostProviders: 3 });
});
afterEach(() => fixture.close());

const verify = (workspace: string, token: string) =>
  fixture.verifier.verify({ ...fixture.provider({}, 1), workspace }, token);

describe('the JWT verifier bounds', () => {
  test('concurrent fetches over all providers, and asks further callers to retry at once', async () => {
    const token = await signToken(fixture.key);
    fixture.server.behave('hang');
    const waiting = [verify('one', token), verify('two', token)];
    await expect.poll(() => fixture.server.asked()).toBe(2);
    expect(await verify('three', token)).toEqual({ kind: 'unavailable', retryAfter: 1000 });
    expect(fixture.server.asked()).toBe(2);
    // They end by themselves, as no answer comes.
    for (const verdict of await Promise.all(waiting)) expect(verdict.kind).toBe('unavailable');
  });

  test('the number of providers with cached keys, and evicts the least recently used', async () => {
    const token = await signToken(fixture.key);
    for (const workspace of ['one', 'two', 'three', 'one', 'four']) await verify(workspace, token);
    expect(fixture.server.asked()).toBe(4);
    await verify('one', token);
    expect(fixture.server.asked()).toBe(4);
    await verify('two', token);
    expect(fixture.server.asked()).toBe(5);
  });

  test('cached tokens by their length', () => {
    const keys = readKeySet(new TextEncoder().encode('{"keys":[]}'));
    if (!keys.ok) throw new Error(keys.error);
    const tokens = createVerifiedTokens(10_000);
    const keep = (name: string, size: number) =>
      tokens.keep(name, { claims: {}, expiresAt: 90_000, size }, keys.value, 0);
    const held = () => ['a', 'b', 'c', 'd'].filter((name) => tokens.has(name)).join('');
    for (const name of ['a', 'b', 'c']) keep(name, 1000);
    expect(held()).toBe('abc');
    keep('a', 1000);
    keep('d', 1000);
    expect(held()).toBe('acd');
    keep('b', 50_000);
    expect(held()).toBe('');
  });
});
