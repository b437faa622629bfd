import { attemptTag, readReceiptToken, writeReceiptToken, type KeyedHash } from '../../src/receipts/index.ts';
import type { AttemptId, DeliveryId } from '@carillon/kernel';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

const DIGITS = Array.from('0123456789ABCDEFGHJKMNPQRSTVWXYZ');
/** A hash that depends on every part and on the key; the real one is the ids port's. */
const keyedBy =
  (key: string): KeyedHash =>
  (...parts) => {
    let state = 17;
    for (const letter of [key, ...parts].join('|')) state = (state * 31 + letter.charCodeAt(0)) % 1_000_000_007;
    return Array.from({ length: 26 }, (_, at) => DIGITS[(state >> (at % 20)) % 32]).join('');
  };
const keyed = keyedBy('ours');
const ids = fc.string({ unit: fc.constantFrom(...DIGITS), minLength: 26, maxLength: 26 });
const attempts = fc.record({
  deliveryId: ids.map((id) => `dlv_${id}` as DeliveryId),
  id: ids.map((id) => `att_${id}` as AttemptId),
  attempt: fc.integer({ min: 1, max: 99_999 }),
});

describe('the token that links a provider’s report to an attempt', () => {
  it('identifies its attempt, even if a mail server changes its case', () => {
    fc.assert(
      fc.property(attempts, (reported) => {
        const token = writeReceiptToken(reported, keyed);
        const { deliveryId, attempt, id } = reported;
        const named = { deliveryId, attempt, tag: attemptTag(id) };
        expect(readReceiptToken(token, keyed)).toEqual(named);
        expect(readReceiptToken(token.toUpperCase(), keyed)).toEqual(named);
      }),
    );
  });

  it('fits into the local part of an address, a path and a header', () => {
    fc.assert(
      fc.property(attempts, (reported) => {
        expect(writeReceiptToken(reported, keyed)).toMatch(/^[a-z0-9-]{1,43}$/);
      }),
    );
  });

  it('of another deployment identifies no attempt', () => {
    fc.assert(
      fc.property(attempts, (reported) => {
        const foreign = writeReceiptToken(reported, keyedBy('theirs'));
        fc.pre(foreign !== writeReceiptToken(reported, keyed));
        expect(readReceiptToken(foreign, keyed)).toBeNull();
      }),
    );
  });

  it('identifies no attempt if one character is changed', () => {
    const token = writeReceiptToken(
      { deliveryId: `dlv_${'7'.repeat(26)}` as DeliveryId, attempt: 3, id: `att_${'5'.repeat(26)}` as AttemptId },
      keyed,
    );
    for (let at = 0; at < token.length; at += 1) {
      const other = token[at] === 'x' ? 'y' : 'x';
      expect(readReceiptToken(token.slice(0, at) + other + token.slice(at + 1), keyed)).toBeNull();
    }
    for (const text of [
      '',
      token.slice(0, -1),
      `${token}0`,
      `${token}\n`,
      token.replace('-3-', '-0-'),
      token.replace('-3-', '-03-'),
    ]) {
      expect(readReceiptToken(text, keyed)).toBeNull();
    }
  });
});
