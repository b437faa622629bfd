import { CONTROL, err, ok, type Result } from '@carillon/kernel';
import { canonicalAddress, type ChannelName } from './channel.ts';

/** A rendered email. Subject and names hold no control characters; the body was rendered once and is what preview shows. */
export type EmailMessage = {
  readonly channel: 'email';
  readonly to: string;
  readonly from: { readonly name: string; readonly address: string };
  readonly subject: string;
  readonly html: string | null;
  readonly text: string;
  readonly messageId: string;
};
/** A message of a channel that can be sent today. */
export type Message = EmailMessage;

/** What is known of a message besides its parts. */
export type Addressed = {
  readonly channel: ChannelName;
  readonly deliveryId: string;
  /** From 1: the call that it is made for. */
  readonly attempt: number;
  readonly to: string | null;
};
/** The parts of a template, rendered; null: the template has none of this name. */
export type RenderedParts = {
  readonly from: string | null;
  readonly subject: string;
  readonly html: string | null;
  readonly text: string;
};

/** Who sends where nobody said: the sandbox shows it, no provider ever sees it. */
const SANDBOX_FROM = 'Carillon <carillon@sandbox.invalid>';
const EVERY_CONTROL = new RegExp(CONTROL, 'g');

/** `Name <address>` or an address alone. */
export function parseMailbox(text: string): Result<{ name: string; address: string }, string> {
  const clean = text.replaceAll(EVERY_CONTROL, '').trim();
  const parts = /^(?:"?([^"<>]*?)"?\s*)<([^<>\s]+@[^<>\s]+)>$/.exec(clean);
  if (parts) return ok({ name: parts[1]?.trim() ?? '', address: parts[2] ?? '' });
  return /^[^<>\s]+@[^<>\s]+$/.test(clean) ? ok({ name: '', address: clean }) : err('expected `Name <address>`');
}

/**
 * The message as it goes to the provider. `from`: of the account, where the template names nobody. The error is a sentence
 * for people. SMS and push cannot be sent yet.
 */
export function composeMessage(
  { channel, deliveryId, attempt, to: written }: Addressed,
  parts: RenderedParts,
  account: { readonly from?: string },
): Result<Message, string> {
  if (channel !== 'email') return err(`${channel} cannot be sent yet`);
  const from = parseMailbox(parts.from ?? account.from ?? SANDBOX_FROM);
  if (!from.ok) return err(`from: ${from.error}`);
  // Intents of earlier versions carry the address as it was written.
  const to = canonicalAddress(channel, written ?? '');
  if (to === null) return err('the recipient is not an email address');
  const domain = from.value.address.split('@').at(-1) ?? 'carillon.invalid';
  return ok({
    channel,
    to,
    from: from.value,
    subject: parts.subject,
    html: parts.html,
    text: parts.text,
    messageId: `<${deliveryId}.${attempt}@${domain}>`,
  });
}
