import { canonicalEmail } from '@carillon/domain';
import type { Instant } from '@carillon/kernel';
import type { RenderedEmail } from '@carillon/ports';
import MailComposer from 'nodemailer/lib/mail-composer';
import { mimeText } from './mime-text.ts';

/** A message as it goes over the wire, and the one sender and one recipient of its SMTP transaction. */
export type ComposedMail = {
  readonly from: string;
  readonly to: string;
  readonly bytes: Buffer;
};

/**
 * Writes the MIME text once, so that its size is known before the first command. Names and addresses are given as
 * objects, so that nothing in them is ever parsed as a second address; no header comes from a tenant; files and URLs
 * are never read. Null where no SMTP command could name the recipient or sender.
 */
export function compose(message: RenderedEmail, at: Instant): ComposedMail | null {
  // What is sent to is what was looked up on the suppression list, whatever the library makes of an address.
  const to = canonicalEmail(message.to);
  if (to === null) return null;
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
  }).compile();
  const envelope = node.getEnvelope();
  const { from } = envelope;
  if (from === false || envelope.to.length !== 1 || envelope.to[0] !== to) return null;
  if (!/^[^\s<>\p{C}]+@[^\s<>\p{C}]+$/u.test(from)) return null;
  return { from, to, bytes: mimeText(node) };
}
