import fc from 'fast-check';
import MailComposer from 'nodemailer/lib/mail-composer';
import { describe, expect, it } from 'vitest';
import { mimeText } from '../src/mime-text.ts';

/** Pieces that change the encoding of a part or the end of a line. */
const PIECES = [
  'a',
  'Zoë',
  '日本',
  '😀',
  '\ud800',
  ' ',
  '\t',
  '=',
  '.',
  '--',
  '\r',
  '\n',
  '\r\n',
  '\0',
  'word '.repeat(20),
];
const words = fc.array(fc.constantFrom(...PIECES), { maxLength: 40 }).map((pieces) => pieces.join(''));

const composed = (text: string, html: string | null, subject: string) =>
  new MailComposer({
    from: { name: subject, address: 'shop@example.com' },
    to: { name: '', address: 'zoë@bücher.example' },
    subject,
    messageId: '<one@example.com>',
    date: new Date(0),
    text,
    ...(html === null ? {} : { html }),
    newline: 'win',
  }).compile();

/** Quoted-printable without its soft line breaks: the stream breaks before white space at the end where a whole text does not. */
const unbroken = (mail: Buffer): string => mail.toString('latin1').replaceAll('=\r\n', '');
const longestLine = (mail: Buffer): number =>
  mail
    .toString('latin1')
    .split('\r\n')
    .reduce((longest, { length }) => Math.max(longest, length), 0);

describe('The MIME text of a mail', () => {
  it('equals the library’s stream byte for byte, except for line breaks of encoded lines', async () => {
    await fc.assert(
      fc.asyncProperty(words, fc.option(words), words, async (text, html, subject) => {
        const root = composed(text, html, subject);
        const ours = mimeText(root);
        const streamed = await root.build();
        expect(unbroken(ours)).toBe(unbroken(streamed));
        expect(longestLine(ours)).toBeLessThanOrEqual(Math.max(76, longestLine(streamed)));
      }),
      { numRuns: 300 },
    );
  });

  it('rejects a part that is not text, which the library would read from a file', () => {
    const root = new MailComposer({ text: { path: '/etc/hostname' } }).compile();
    expect(() => mimeText(root)).toThrow('a part is not text');
  });
});
