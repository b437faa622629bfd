import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalEmail, formsOf } from '../../src/channels/index.ts';

describe('normalizing an email address', () => {
  it.each([
    ['letters of any case', 'Ada.Lovelace@Example.COM', 'ada.lovelace@example.com'],
    ['blanks around it', '  ada@example.com\n', 'ada@example.com'],
    ['a full-width letter in the domain', 'a@ｅxample.com', 'a@example.com'],
    ['an ideographic full stop', 'a@example。com', 'a@example.com'],
    ['a half-width ideographic full stop', 'a@example｡com', 'a@example.com'],
    ['a soft hyphen in the domain', 'a@exam\u00adple.com', 'a@example.com'],
    ['a soft hyphen in the local part', 'a\u00adda@example.com', 'ada@example.com'],
    ['a zero width joiner in the domain', 'a@exa\u200bmple.com', 'a@example.com'],
    ['a last dot', 'a@example.com.', 'a@example.com'],
    ['a last dot of another script', 'a@example.com。', 'a@example.com'],
    ['full-width letters and sign', 'ａｄａ＠ｅｘａｍｐｌｅ．ｃｏｍ', 'ada@example.com'],
    ['a domain in Unicode', 'a@BÜCHER.example', 'a@xn--bcher-kva.example'],
    ['the same in ASCII', 'a@XN--BCHER-KVA.example', 'a@xn--bcher-kva.example'],
    ['the same with a combining mark', 'a@bu\u0308cher.example', 'a@xn--bcher-kva.example'],
    ['a local part in Unicode', 'Jürgen@example.com', 'jürgen@example.com'],
    ['a tag', "o'hara+news_1@mail.example.co.uk", "o'hara+news_1@mail.example.co.uk"],
  ])('accepts %s', (_what, text, address) => {
    expect(canonicalEmail(text)).toBe(address);
  });

  it.each([
    ['nothing', ''],
    ['no sign', 'ada.example.com'],
    ['two signs', 'ada@x@example.com'],
    ['no local part', '@example.com'],
    ['no domain', 'ada@'],
    ['a domain without a dot', 'ada@localhost'],
    ['a domain that is a dot', 'ada@.'],
    ['two last dots', 'ada@example.com..'],
    ['an empty label', 'ada@example..com'],
    ['an address literal', 'ada@[127.0.0.1]'],
    ['an address literal of version 6', 'ada@[IPv6:::1]'],
    ['numbers for a domain', 'ada@127.0.0.1'],
    ['numbers in full width', 'ada@１２７.０.０.１'],
    ['numbers in hexadecimal', 'ada@0x7f.0x1'],
    ['a pipe', '|cat@example.com'],
    ['a pipe in full width', '｜cat@example.com'],
    ['a route by percent', 'ada%other.example@example.com'],
    ['a route by percent in full width', 'ada％other.example@example.com'],
    ['a route by bang', 'other!ada@example.com'],
    ['a link', 'mailto:ada@example.com'],
    ['a name beside it', 'Ada <ada@example.com>'],
    ['two addresses', 'ada@example.com,bob@example.com'],
    ['a local part in quotes', '"ada lovelace"@example.com'],
    ['a line end within', 'ada@example.com\r\nBcc: x@example.com'],
    ['an invisible character', 'a\u200bda@example.com'],
    ['what stands for a control character', 'ada\ufffd@example.com'],
    ['half a character', 'ada\ud800@example.com'],
    ['a port', 'ada@example.com:25'],
    ['a path', 'ada@example.com/x'],
    ['a path in full width', 'ada@example.com／x'],
    ['an escape', 'ada@ex%61mple.com'],
    ['a label that ends with a hyphen', 'ada@example-.com'],
    ['a label that is too long', `ada@${'a'.repeat(64)}.com`],
    ['a domain that is too long', `ada@${'a.'.repeat(150)}com`],
    ['an address that is too long', `${'a'.repeat(400)}@example.com`],
  ])('refuses %s', (_what, text) => {
    expect(canonicalEmail(text)).toBeNull();
  });

  it('changes nothing when it is done a second time', () => {
    const piece = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 8 }),
      fc.constantFrom('a', 'Ü', 'ß', 'İ', 'ｅ', '。', '.', '-', '\u00ad', 'xn--', 'ﬁ', 'ς', '@', '%', 'example', 'com'),
    );
    const text = fc
      .tuple(fc.array(piece, { minLength: 1, maxLength: 5 }), fc.array(piece, { minLength: 1, maxLength: 5 }))
      .map(([local, domain]) => `${local.join('')}@${domain.join('')}.example`);
    fc.assert(
      fc.property(text, (written) => {
        const address = canonicalEmail(written);
        if (address === null) return;
        expect(canonicalEmail(address)).toBe(address);
        expect(address.slice(address.indexOf('@') + 1)).toMatch(/^[a-z0-9_-]+(\.[a-z0-9_-]+)+$/);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('the forms of an address that the suppression list is searched for', () => {
  it('are its normalized form and those of earlier program versions', () => {
    expect(formsOf('email', 'A@Bücher.example')).toEqual([
      'a@xn--bcher-kva.example',
      'a@xn--bcher-kva.example.',
      'a@bücher.example',
      'a@bücher.example.',
    ]);
    expect(formsOf('email', 'a@example.com')).toEqual(['a@example.com', 'a@example.com.']);
    expect(formsOf('sms', '+49 (30) 123-456')).toEqual(['+4930123456', '+49030123456']);
    // The form that a list of an earlier version has is found under the number, and the other way round.
    expect(formsOf('sms', '+49030123456')).toEqual(['+4930123456', '+49030123456']);
    expect(formsOf('sms', '+39 06 1234567')).toEqual(['+39061234567']);
    expect(formsOf('sms', '+7 (8) 495 123-45-67')).toEqual(['+74951234567', '+784951234567']);
    expect(formsOf('sms', '+1 1 415 555 2671')).toEqual(['+14155552671', '+114155552671']);
    expect(formsOf('sms', '+36 06 1 234 5678')).toEqual(['+3612345678', '+360612345678']);
    expect(formsOf('sms', '+375 80 29 123-45-67')).toContain('+37580291234567');
    expect(formsOf('push', 'Token:A_b-c')).toEqual(['Token:A_b-c']);
  });

  it('are the text alone if it is no valid address, so that the entry can be removed', () => {
    expect(formsOf('email', 'ada@localhost')).toEqual(['ada@localhost']);
  });

  it('include the domain as people write it, in every script', () => {
    const host = fc
      .stringMatching(/^[a-z]{1,6}$/)
      .chain((ascii) =>
        fc
          .array(
            fc.constantFrom('ä', 'ü', 'ß', 'é', 'ø', 'ž', 'ř', 'а', 'б', 'ж', 'α', 'δ', '日', '語', '한', '국', '中'),
            { minLength: 1, maxLength: 9 },
          )
          .map((letters) => `${letters.join('')}${ascii}`),
      );
    fc.assert(
      fc.property(host, (label) => {
        const forms = formsOf('email', `a@${label}.example`);
        if (forms[0] !== `a@${label}.example`) expect(forms).toContain(`a@${label.normalize('NFC')}.example`);
      }),
    );
  });
});
