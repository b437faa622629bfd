import {
  createErasureMatcher,
  hashedName,
  holdsAddress,
  nameHash,
  namesPersonAt,
  wordsName,
} from '@carillon/domain/erasures';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

const keyed = (...parts: readonly string[]): string => `hash of ${JSON.stringify(parts)}`;
const matcherOf = (...names: readonly string[]) =>
  createErasureMatcher({ workspace: 'shop', hashes: names.map((name) => nameHash(name, keyed)) }, keyed);

describe('the matcher that finds an erased person in texts and values', () => {
  const matcher = matcherOf('bob@example.com', '+4930123456', '42', 'a-device-token-of-thirty-characters');

  it.each([
    'BOB@Example.com',
    'write to <bob@example.com>.',
    "'bob@example.com'",
    'https://shop.example/?to=bob%40example.com&x=1',
    'contact=bob@example.com&foo',
    'call +49 30 123456 now',
    'call 004930123456',
  ])('finds an address in %s', (text) => {
    expect(matcher.mentions(text)).toBe(true);
  });

  it.each([
    'jimbob@example.com',
    'bob@example.com.org',
    'bob@example.co',
    '+49 30 1234567',
    '42',
    'bob at example.com',
    '',
  ])('finds no address in %s', (text) => {
    expect(matcher.mentions(text)).toBe(false);
  });

  it('finds a user id only as a whole value', () => {
    expect(matcher.isPerson('42')).toBe(true);
    expect(matcher.isPerson('142')).toBe(false);
    expect(holdsAddress({ amount: 42, note: 'order 42', id: '42' }, matcher)).toBe(false);
    expect(wordsName('no member 42, of many', matcher)).toBe(true);
  });

  it('finds an address and a device token in a value, and in the name of a field', () => {
    expect(holdsAddress({ a: [{ b: 'x bob@example.com' }] }, matcher)).toBe(true);
    expect(holdsAddress({ 'bob@example.com': 1 }, matcher)).toBe(true);
    expect(holdsAddress({ token: 'a-device-token-of-thirty-characters' }, matcher)).toBe(true);
    expect(holdsAddress({ a: ['ada@example.com', 1, null] }, matcher)).toBe(false);
  });

  it('finds a user id at the paths that it is given', () => {
    const body = { user: { id: 42 }, total: 42, members: [{ id: '7' }, { id: '42' }], ids: ['1', '42'] };
    expect(namesPersonAt(body, ['user', 'id'], matcher)).toBe(true);
    expect(namesPersonAt(body, ['members', null, 'id'], matcher)).toBe(true);
    expect(namesPersonAt(body, ['members', 0, 'id'], matcher)).toBe(false);
    expect(namesPersonAt(body, ['ids'], matcher)).toBe(true);
    expect(namesPersonAt(body, ['user'], matcher)).toBe(false);
  });

  it('searches one workspace, or all', () => {
    expect([matcher.covers('shop'), matcher.covers('club')]).toEqual([true, false]);
    expect(createErasureMatcher({ workspace: null, hashes: [] }, keyed).covers('club')).toBe(true);
  });

  it('gives all spellings of an address one hash, which lists use as a key', () => {
    expect(hashedName('BOB@example.com', keyed)).toBe(hashedName('bob@example.com', keyed));
    expect(matcher.nameInstead('Bob@example.com')).toBe(hashedName('bob@example.com', keyed));
  });

  it('finds an address between any other words', () => {
    const words = fc.string({ unit: fc.constantFrom('a', 'ä', '1', ' ', '\n', '"', '<', '{') });
    fc.assert(
      fc.property(words, words, (before, after) => {
        expect(matcher.mentions(`${before} bob@example.com ${after}`)).toBe(true);
      }),
    );
  });
});
