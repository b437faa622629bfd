import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createApiKeys } from '../src/index.ts';

const keys = createApiKeys(new Uint8Array(32).fill(3));
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

describe('API keys', () => {
  it('have their public form and are known by their digest', () => {
    const { key, keyId, digest } = keys.make();
    expect(key).toMatch(/^cln_[0-9A-Za-z]{8}_[0-9A-Za-z]{32}_[0-9A-Za-z]{6}$/);
    expect(key.slice(4, 12)).toBe(keyId);
    expect(digest).toMatch(/^[0-9a-f]{64}$/);
    expect(keys.parse(key)).toBe(keyId);
    expect(keys.verify(key, digest)).toBe(true);
  });

  it('are refused under the digest of another key, a broken digest, or another pepper', () => {
    const [mine, other] = [keys.make(), keys.make()];
    expect(keys.verify(mine.key, other.digest)).toBe(false);
    for (const broken of ['', 'zz', mine.digest.slice(2), `${mine.digest}00`, '0'.repeat(64)]) {
      expect(keys.verify(mine.key, broken)).toBe(false);
    }
    const ofNothing = createHmac('sha256', new Uint8Array(32).fill(3)).update('').digest('hex');
    expect(keys.verify('no key at all', ofNothing)).toBe(false);
    expect(createApiKeys(new Uint8Array(32).fill(4)).verify(mine.key, mine.digest)).toBe(false);
  });

  it('verify any number of times, and only under their own digest', () => {
    const [mine, other] = [keys.make(), keys.make()];
    for (let times = 0; times < 3; times += 1) {
      expect(keys.verify(mine.key, mine.digest)).toBe(true);
      expect(keys.verify(mine.key, other.digest)).toBe(false);
      expect(keys.verify(mine.key, '')).toBe(false);
      expect(keys.verify(other.key, mine.digest)).toBe(false);
    }
  });

  it('verify after any number of other keys', () => {
    const mine = keys.make();
    for (let others = 0; others < 1500; others += 1) {
      const one = keys.make();
      expect(keys.verify(one.key, one.digest)).toBe(true);
    }
    expect(keys.verify(mine.key, mine.digest)).toBe(true);
  });

  it('are refused without a store lookup if one character is wrong', () => {
    const { key, digest } = keys.make();
    const place = fc.integer({ min: 0, max: key.length - 1 });
    fc.assert(
      fc.property(place, fc.constantFrom(...`${BASE62}_ `.split('')), (at, character) => {
        fc.pre(key[at] !== character);
        const typo = key.slice(0, at) + character + key.slice(at + 1);
        expect(keys.parse(typo)).toBeNull();
        expect(keys.verify(typo, digest)).toBe(false);
      }),
    );
  });

  it('are refused if two neighbouring characters are swapped', () => {
    const { key } = keys.make();
    for (let at = 4; at < key.length - 1; at += 1) {
      if (key[at] === key[at + 1]) continue;
      const swapped = key.slice(0, at) + key.charAt(at + 1) + key.charAt(at) + key.slice(at + 2);
      expect(keys.parse(swapped)).toBeNull();
    }
  });

  it('are never found in other text', () => {
    fc.assert(fc.property(fc.string(), (text) => keys.parse(text) === null));
    expect(keys.parse(`${keys.make().key}\n`)).toBeNull();
  });

  it('use all characters about equally often', () => {
    const counts = new Map<string, number>();
    const secrets = Array.from({ length: 2000 }, () => keys.make().key.slice(13, 45)).join('');
    for (const character of secrets) counts.set(character, (counts.get(character) ?? 0) + 1);
    expect(counts.size).toBe(62);
    // 64,000 characters: 1,032 each, give or take 32; six times that never happens by chance.
    for (const count of counts.values()) expect(Math.abs(count - 64_000 / 62)).toBeLessThan(200);
  });
});
