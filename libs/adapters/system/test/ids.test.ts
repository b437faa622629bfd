import { createHash, createHmac } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { base32 } from '../src/base32.ts';
import { createIds } from '../src/index.ts';

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const anySixteen = fc.uint8Array({ minLength: 16, maxLength: 16 });

describe('base32', () => {
  it('encodes the bytes as one number in 26 digits', () => {
    fc.assert(
      fc.property(anySixteen, (bytes) => {
        const number = [...base32(bytes)].reduce((sum, digit) => sum * 32n + BigInt(ALPHABET.indexOf(digit)), 0n);
        expect(base32(bytes)).toHaveLength(26);
        expect(number).toBe(BigInt(`0x${Buffer.from(bytes).toString('hex')}`));
      }),
    );
  });
});

describe('derived ids', () => {
  it('never change between releases, because stored data refers to them', () => {
    const ids = createIds(new Uint8Array(32).fill(1));
    expect(ids.derive('event', 'shop/orders', 'client', 'A-1001')).toBe('evt_7W0580RP8VK98G8RGXF60FTG2Q');
    expect(ids.keyed('shop', 'ntf_1', 'email', 'ada@example.com')).toBe('0AMD1HSDGZ4JCCM29N2B0DP786');
  });

  it('depend on the key only if they are keyed', () => {
    const [one, two] = [createIds(new Uint8Array(32).fill(1)), createIds(new Uint8Array(32).fill(2))];
    expect(one.derive('event', 'a')).toBe(two.derive('event', 'a'));
    expect(one.keyed('a')).not.toBe(two.keyed('a'));
  });

  it('are hashes of their length-prefixed parts, of any length', () => {
    const wellFormed = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.nat(6000).map((length) => 'ü'.repeat(length)),
    );
    fc.assert(
      fc.property(fc.array(wellFormed), fc.uint8Array({ maxLength: 150 }), (parts, secret) => {
        const ids = createIds(secret);
        const bytes = Buffer.concat(
          ['event', ...parts].flatMap((part) => {
            const length = Buffer.alloc(4);
            length.writeUInt32BE(Buffer.byteLength(part));
            return [length, Buffer.from(part)];
          }),
        );
        expect(ids.derive('event', ...parts)).toBe(`evt_${base32(createHash('sha256').update(bytes).digest())}`);
        expect(ids.keyed('event', ...parts)).toBe(base32(createHmac('sha256', secret).update(bytes).digest()));
      }),
    );
  });

  it('differ for texts that are equal in UTF-8, such as lone surrogates', () => {
    const ids = createIds(new Uint8Array(32));
    const texts = ['a\ud800', 'a\ud801', 'a\ufffd', 'a'];
    expect(new Set(texts.map((text) => ids.derive('event', text))).size).toBe(texts.length);
  });
});

test('random ids are never repeated', () => {
  const ids = createIds(new Uint8Array(32));
  const made = Array.from({ length: 2000 }, () => ids.random('event'));
  expect(new Set(made).size).toBe(made.length);
});
