import type { Instant } from '@carillon/kernel';
import type { RenderedEmail } from '@carillon/ports';

/** A text with longer lines is encoded (RFC 2045, 6.7). */
const LONGEST_LINE = 76;
/** Well below where a header is folded (RFC 5322, 2.1.1). */
const LONGEST_HEADER = 70;

const ADDRESS = /^[a-zA-Z0-9_+-]+(?:\.[a-zA-Z0-9_+-]+)*@[a-z0-9-]+(?:\.[a-z0-9-]+)+$/;
const NAME = /^[a-zA-Z0-9]+(?: [a-zA-Z0-9]+)*$/;
/** The library encodes a subject with a quotation mark at its ends. */
const WORDS = /^[!#-~]+(?: [!#-~]+)*$/;
const MESSAGE_ID = /^<[a-zA-Z0-9._-]+@[a-zA-Z0-9.-]+>$/;
const TEXT = /^[\n -~]+$/;

/**
 * Composes a mail that needs no encoding: ASCII text in short lines, and plain words as sender, recipient and subject.
 * The bytes equal those of the library, in a tenth of the time. Null for any other mail. `to` is canonical, and
 * `headers` are the first lines.
 */
export function plainMail(
  { from, subject, text, html, messageId }: RenderedEmail,
  to: string,
  at: Instant,
  headers: readonly { readonly key: string; readonly value: string }[],
): Buffer | null {
  const isPlain =
    html === null &&
    ADDRESS.test(from.address) &&
    ADDRESS.test(to) &&
    (from.name === '' || NAME.test(from.name)) &&
    WORDS.test(subject) &&
    !subject.includes('=?') &&
    MESSAGE_ID.test(messageId) &&
    TEXT.test(text) &&
    text.split('\n').every(({ length }) => length <= LONGEST_LINE);
  if (!isPlain) return null;
  const short = [
    `From: ${from.name === '' ? from.address : `${from.name} <${from.address}>`}`,
    `To: ${to}`,
    `Subject: ${subject}`,
    `Message-ID: ${messageId}`,
  ];
  if (!short.every(({ length }) => length <= LONGEST_HEADER)) return null;
  const lines = [
    ...headers.map(({ key, value }) => `${key}: ${value}`),
    ...short,
    `Date: ${new Date(at).toUTCString().replace('GMT', '+0000')}`,
    'Content-Transfer-Encoding: 7bit',
    'MIME-Version: 1.0',
    'Content-Type: text/plain; charset=utf-8',
    '',
    text.replaceAll('\n', '\r\n'),
  ];
  return Buffer.from(text.endsWith('\n') ? lines.join('\r\n') : `${lines.join('\r\n')}\r\n`, 'latin1');
}
