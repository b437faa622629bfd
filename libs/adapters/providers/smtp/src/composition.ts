import { canonicalEmail } from '@carillon/domain/channels';
import type { Instant } from '@carillon/kernel';
import type { RenderedEmail } from '@carillon/ports';
import MailComposer from 'nodemailer/lib/mail-composer';
import { encodeWord } from 'nodemailer/lib/mime-funcs';
import { mimeText } from './mime-text.ts';
import { plainMail } from './plain-mail.ts';

/** A message as it goes over the wire, and the one sender and one recipient of its SMTP transaction. */
export type ComposedMail = {
  readonly from: string;
  readonly to: string;
  readonly bytes: Buffer;
};

/** How a report finds its way back to the attempt. */
export type MailTracing = {
  /** Headers that a provider gives back; values of ours, in ASCII. */
  readonly headers: readonly { readonly key: string; readonly value: string }[];
  /** The envelope sender, to whom mail servers report; null: the sender that is shown. */
  readonly returnPath: string | null;
};
const NO_TRACING: MailTracing = { headers: [], returnPath: null };

/**
 * Writes the MIME text once, so that its size is known before the first command. Names and addresses are given as
 * objects, so that nothing in them is ever parsed as a second address; no header comes from a tenant; files and URLs
 * are never read. Null where no SMTP command could name the recipient or sender.
 */
export function compose(message: RenderedEmail, at: Instant, tracing: MailTracing = NO_TRACING): ComposedMail | null {
  // Send to exactly the address that was checked against the suppression list, whatever the library makes of it.
  const to = canonicalEmail(message.to);
  if (to === null) return null;
  const plain = tracing.headers.length === 0 ? plainMail(message, to, at, stopHeaders(message)) : null;
  if (plain) return envelopeOf(tracing.returnPath ?? message.from.address, to, plain);
  return composeAny(message, to, at, tracing);
}

/** A local part that may be written without quotes (RFC 5321, 4.1.2): no dot at its ends, and no two in a row. */
const DOT_ATOM = /^[^.]+(?:\.[^.]+)*$/;

/**
 * Returns a canonical address as SMTP names it: in quotes if its dots stand where only quotes allow them, as mailboxes of docomo
 * and mail.ru have them. A canonical local part holds nothing else that needs quotes.
 */
function pathOf(canonical: string): string {
  const at = canonical.lastIndexOf('@');
  const local = canonical.slice(0, at);
  return DOT_ATOM.test(local) ? canonical : `"${local}"${canonical.slice(at)}`;
}

/** Returns the canonical form of an address as the library writes it, which quotes local parts and decodes domains. */
function canonicalOfPath(path: string): string | null {
  const at = path.lastIndexOf('@');
  return canonicalEmail(`${path.slice(0, at).replace(/^"(.*)"$/, '$1')}${path.slice(at)}`);
}

/** Null where no SMTP command could name the sender. */
const envelopeOf = (from: string, to: string, bytes: Buffer): ComposedMail | null =>
  /^[^\s<>\p{C}]+@[^\s<>\p{C}]+$/u.test(from) ? { from, to: pathOf(to), bytes } : null;

/**
 * Composes any mail with nodemailer. Exported for the test that compares the result with the fast path for plain mails.
 */
export function composeAny(
  message: RenderedEmail,
  to: string,
  at: Instant,
  tracing: MailTracing = NO_TRACING,
): ComposedMail | null {
  const node = new MailComposer({
    from: { name: message.from.name, address: message.from.address },
    to: { name: '', address: to },
    subject: message.subject,
    messageId: message.messageId,
    date: new Date(at),
    text: message.text,
    ...(message.html === null ? {} : { html: message.html }),
    disableFileAccess: true,
    disableUrlAccess: true,
    headers: [...tracing.headers, ...stopHeaders(message)].map(({ key, value }) => ({
      key,
      value: { prepared: true, value },
    })),
  }).compile();
  const envelope = node.getEnvelope();
  if (envelope.from === false || envelope.to.length !== 1 || canonicalOfPath(envelope.to[0] ?? '') !== to) {
    return null;
  }
  const { subject } = message;
  const { name } = message.from;
  if (mimics(subject)) node.setHeader('Subject', { prepared: true, foldLines: true, value: encoded(subject) });
  // There is no other way to say how a name is written; a test holds that the library still asks here.
  if (mimics(name)) Object.assign(node, { _encodeAddressName: encoded });
  return envelopeOf(tracing.returnPath ?? envelope.from, to, mimeText(node));
}

/** SMTP allows no longer line (RFC 5322, 2.1.1). */
const LONGEST_LINE = 998;

/**
 * Returns the headers for the unsubscribe button of mail programs (RFC 8058). Each stays on one line, because folding
 * breaks signatures of later hops. None for an address that is not a web URL in ASCII.
 */
function stopHeaders({ unsubscribe }: RenderedEmail): MailTracing['headers'] {
  if (unsubscribe === undefined || !/^https?:\/\/[\x21-\x7e]+$/.test(unsubscribe) || /[<>]/.test(unsubscribe))
    return [];
  const value = `<${unsubscribe}>`;
  if (`List-Unsubscribe: ${value}`.length > LONGEST_LINE) return [];
  return [
    { key: 'List-Unsubscribe', value },
    { key: 'List-Unsubscribe-Post', value: 'List-Unsubscribe=One-Click' },
  ];
}

/**
 * Returns true if a text could be read as an encoded word (RFC 2047). The library keeps a valid one in a subject and
 * quotes one in a name, where some readers still decode it and would show a name that nobody checked.
 */
const mimics = (text: string): boolean => text.includes('=?');

const encoded = (text: string): string => encodeWord(text, 'Q', 52);
