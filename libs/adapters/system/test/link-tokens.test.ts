import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { writeConsentLink, type ConsentLink } from '@carillon/domain/consent';
import { createLinkTokens } from '../src/index.ts';

const links = createLinkTokens(new Uint8Array(32).fill(1));
const others = createLinkTokens(new Uint8Array(32).fill(2));

describe('the token of a link', () => {
  it('opens to its text, is the same for the same text, and opens with no other key or purpose', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 300, unit: 'grapheme' }), (text) => {
        fc.pre(text.isWellFormed());
        const token = links.seal(text);
        expect(token).toMatch(/^[A-Za-z0-9_-]+$/);
        expect(links.open(token)).toBe(text);
        expect(links.seal(text)).toBe(token);
        expect(others.seal(text)).not.toBe(token);
        expect(others.open(token)).toBeNull();
      }),
    );
  });

  it('does not open if it is cut, extended or altered anywhere', () => {
    const token = links.seal('["shop","ada@example.com"]');
    for (let at = 0; at < token.length; at += 1) {
      expect(links.open(token.slice(0, at))).toBeNull();
      const other = token[at] === 'A' ? 'B' : 'A';
      expect(links.open(token.slice(0, at) + other + token.slice(at + 1))).toBeNull();
    }
    for (const text of [`${token}A`, `${token}=`, ` ${token}`, '', 'x', '../../etc', 'A'.repeat(5000)]) {
      expect(links.open(text)).toBeNull();
    }
  });

  it('has at most 600 characters for the longest names, and shows none of them', () => {
    const link: ConsentLink = {
      workspace: 'w'.repeat(63),
      person: 'p'.repeat(200),
      notificationId: `${'w'.repeat(63)}/${'n'.repeat(30)}`,
      category: 'c'.repeat(40),
      channel: 'email',
      test: true,
    };
    expect(links.seal(writeConsentLink(link)).length).toBeLessThanOrEqual(600);
    const token = links.seal(writeConsentLink({ ...link, person: 'ada@example.com' }));
    expect(Buffer.from(token, 'base64url').toString('latin1')).not.toContain('ada');
  });
});
