import { canonicalEmail } from '@carillon/domain/channels';
import type { RenderedEmail } from '@carillon/ports';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compose, composeAny } from '../src/composition.ts';
import { plainMail } from '../src/plain-mail.ts';
import { message } from './accounts.ts';

const AT = Date.UTC(2026, 10, 25, 9, 5, 7);

/** Mostly what needs no encoding, and here and there what does, at every length about that of a line. */
const joined = (pieces: readonly string[], maxLength: number) =>
  fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength }).map((all) => all.join(''));
const mostly = <Value>(plain: fc.Arbitrary<Value>, odd: fc.Arbitrary<Value>) =>
  fc.oneof({ weight: 12, arbitrary: plain }, { weight: 1, arbitrary: odd });
const SIGNS = [
  'a',
  'Zz',
  '0',
  'order',
  '.',
  ',',
  '<',
  '>',
  '@',
  ':',
  ';',
  '(',
  '\\',
  "'",
  '=',
  '?',
  '-',
  '_',
  '!',
  '~',
  '#',
];
const ODD = ['é', '=?', '\t', '\r', '\n', '\0', '😀', '\u007F', '"', ' ', '  ', 'long'.repeat(20)];
const words = mostly(
  fc.array(joined(SIGNS, 6), { minLength: 1, maxLength: 8 }).map((all) => all.join(' ')),
  joined([...SIGNS, ...ODD], 20),
);
const names = mostly(fc.constantFrom('', 'Shop', 'Shop 24', 'A b C', 's'.repeat(40)), joined([...SIGNS, ...ODD], 10));
const texts = mostly(
  joined(['a', 'word ', '\n', '\n\n', '.', ' ', 'From ', '=', '-- ', '\n.', ' \n', 'x'.repeat(30)], 8),
  joined(['é', '\r', '\t', '\r\n', 'x'.repeat(76), '\0', 'a', '\n'], 12),
);
const addresses = mostly(
  fc.constantFrom('ann@example.org', 'a.b+c@shop.example.com', 'A_b@example.org', `${'l'.repeat(50)}@example.org`),
  fc.oneof(
    fc.constantFrom('ann@bücher.example', '"a b"@example.org', 'Ann@Example.ORG'),
    joined(['a', '.', '+', '-', 'B', "'", 'é', ' '], 10).map((local) => `${local}@example.org`),
  ),
);
const mails = fc.record({
  name: names,
  address: addresses,
  to: addresses,
  subject: words,
  text: texts,
  unsubscribe: fc.option(
    fc.constantFrom('https://n.example/u/1', `https://n.example/${'u'.repeat(200)}`, 'javascript:x'),
  ),
  id: fc.constantFrom('<one@example.com>', `<${'i'.repeat(64)}@example.com>`, '<é@x>', 'bare'),
});
type Facts = typeof mails extends fc.Arbitrary<infer F> ? F : never;
const mailOf = ({ name, address, to, subject, text, unsubscribe, id }: Facts): RenderedEmail =>
  message({
    from: { name, address },
    to,
    subject,
    text,
    html: null,
    messageId: id,
    ...(unsubscribe !== null && { unsubscribe }),
  });

describe('A plain mail', () => {
  it('has the same bytes and envelope as the library gives', () => {
    let plain = 0;
    fc.assert(
      fc.property(mails, (facts) => {
        const mail = mailOf(facts);
        const to = canonicalEmail(mail.to);
        if (to === null) return;
        if (plainMail(mail, to, AT, []) !== null) plain += 1;
        const [ours, theirs] = [compose(mail, AT), composeAny(mail, to, AT)];
        expect([ours?.from, ours?.to, ours?.bytes.toString('latin1')]).toEqual([
          theirs?.from,
          theirs?.to,
          theirs?.bytes.toString('latin1'),
        ]);
      }),
      { numRuns: 4000 },
    );
    // Or nothing was compared.
    expect(plain).toBeGreaterThan(200);
  });

  it('is a mail that needs no encoding; others are left to the library', () => {
    const plain = (more: Partial<RenderedEmail>): boolean =>
      plainMail(message({ html: null, ...more }), 'ann@example.org', AT, []) !== null;
    expect(plain({})).toBe(true);
    expect(plain({ from: { name: '', address: 'shop@example.com' } })).toBe(true);
    const others: readonly Partial<RenderedEmail>[] = [
      { html: '<p>Hello</p>' },
      { text: '' },
      { text: 'Grüße' },
      { text: 'x'.repeat(77) },
      { text: 'a\r\nb' },
      { subject: '' },
      { subject: 'a\r\nBcc: b@example.org' },
      { subject: 'x'.repeat(70) },
      { subject: 'half =? of one' },
      { from: { name: 'A "B"', address: 'shop@example.com' } },
      { from: { name: 'Shop', address: 'shop@bücher.example' } },
    ];
    for (const one of others) expect(plain(one), JSON.stringify(one)).toBe(false);
  });
});
