import { CONTROL, err, ok, type Result } from '@carillon/kernel';
import { smsSegments } from './sms-segments.ts';
import { maxSegments } from '../deliveries/account-settings.ts';
import { canonicalAddress, CHANNELS, type ChannelName } from './channel.ts';
import { withPreheader } from './preheader.ts';

/** A rendered email. Subject and names hold no control characters; the body was rendered once and is what preview shows. */
export type EmailMessage = {
  readonly channel: 'email';
  readonly to: string;
  readonly from: { readonly name: string; readonly address: string };
  readonly subject: string;
  readonly html: string | null;
  readonly text: string;
  readonly messageId: string;
  /** URL at which one POST stops such messages (RFC 8058). Absent if nobody can stop them. */
  readonly unsubscribe?: string;
};
/** A text message as it goes out. Who sends it is the account's: a number, or a service that picks one. */
export type SmsMessage = {
  readonly channel: 'sms';
  /** E.164. */
  readonly to: string;
  readonly text: string;
};

/** A push notification, rendered. At least one of title and body is there. */
export type PushMessage = {
  readonly channel: 'push';
  /** A registration token, or a Firebase Installation ID. */
  readonly to: string;
  readonly title: string | null;
  readonly body: string | null;
  /** https addresses. */
  readonly image: string | null;
  readonly link: string | null;
  /** Data for the app, not displayed. */
  readonly data: Readonly<Record<string, string>>;
  readonly priority: 'normal' | 'high' | null;
  /** A later notification with the same key takes the place of this one. */
  readonly collapse: string | null;
  readonly androidChannel: string | null;
  readonly apnsSound: string | null;
};

/** What a provider is given. */
export type Message = EmailMessage | SmsMessage | PushMessage;

/** Facts about a message besides its parts. */
export type Addressed = {
  readonly channel: ChannelName;
  readonly deliveryId: string;
  /** Number of the call for which the message is made, from 1. */
  readonly attempt: number;
  readonly to: string | null;
  /** The address that stops such messages, where there is one. */
  readonly unsubscribe?: string;
};
/** The parts of a template, rendered; what the template has no part for is not there. */
export type RenderedParts = Readonly<Record<string, string>>;
/** Rendered parts of a template and its settings. */
export type FilledTemplate = { readonly parts: RenderedParts; readonly settings: Readonly<Record<string, string>> };

/** Sender if none is configured. Only the sandbox shows it; no provider gets it. */
const SANDBOX_FROM = 'Carillon <carillon@sandbox.invalid>';
const EVERY_CONTROL = new RegExp(CONTROL, 'g');

/** `Name <address>` or an address alone. */
export function parseMailbox(text: string): Result<{ name: string; address: string }, string> {
  const clean = text.replaceAll(EVERY_CONTROL, '').trim();
  const parts = /^(?:"?([^"<>]*?)"?\s*)<([^<>\s]+@[^<>\s]+)>$/.exec(clean);
  if (parts) return ok({ name: parts[1]?.trim() ?? '', address: parts[2] ?? '' });
  return /^[^<>\s]+@[^<>\s]+$/.test(clean) ? ok({ name: '', address: clean }) : err('expected `Name <address>`');
}

/** Settings that an account adds to a message. */
type Sender = {
  readonly kind?: string;
  readonly from?: string;
  /** Most segments of an SMS. */
  readonly max_segments?: number;
};

type Compose = (
  addressed: Addressed & { readonly to: string },
  filled: FilledTemplate,
  account: Sender,
) => Result<Message, string>;

const composeEmail: Compose = ({ deliveryId, attempt, to, unsubscribe }, { parts }, account) => {
  const from = parseMailbox(parts['from'] ?? account.from ?? SANDBOX_FROM);
  if (!from.ok) return err(`from: ${from.error}`);
  const domain = from.value.address.split('@').at(-1) ?? 'carillon.invalid';
  const { html } = parts;
  return ok({
    channel: 'email',
    to,
    from: from.value,
    subject: parts['subject'] ?? '',
    html: html === undefined ? null : withPreheader(html, parts['preheader'] ?? ''),
    text: parts['text'] ?? '',
    messageId: `<${deliveryId}.${attempt}@${domain}>`,
    ...(unsubscribe !== undefined && { unsubscribe }),
  });
};

const composeSms: Compose = ({ to }, { parts }, account) => {
  const text = parts['text'] ?? '';
  if (text.trim() === '') return err('text: the rendered text is empty');
  const most = maxSegments(account);
  const { segments, encoding, firstOutsideGsm } = smsSegments(text);
  if (segments > most) {
    const why = firstOutsideGsm === null ? encoding : `${encoding}, because of “${firstOutsideGsm}”`;
    return err(`text: it takes ${segments} segments (${why}), and ${most} are sent at most`);
  }
  return ok({ channel: 'sms', to, text });
};

/** Bytes of notification and data that FCM takes. */
export const MAX_PUSH_BYTES = 4096;

const composePush: Compose = ({ to }, { parts, settings }) => {
  const shown = (name: string): string | null => (parts[name]?.trim() ? (parts[name] ?? null) : null);
  const [title, body] = [shown('title'), shown('body')];
  if (title === null && body === null) return err('the rendered title and body are empty');
  const fields = Object.entries(parts).filter(([name]) => name.startsWith('data.'));
  const data = Object.fromEntries(fields.map(([name, value]) => [name.slice('data.'.length), value]));
  const [image, link] = [shown('image'), shown('link')];
  const bytes = utf8Bytes([title, body, image, link, ...Object.entries(data).flat()].join(''));
  if (bytes > MAX_PUSH_BYTES) {
    return err(`it has ${bytes} bytes of notification and data, and ${MAX_PUSH_BYTES} are sent at most`);
  }
  return ok({
    channel: 'push',
    to,
    title,
    body,
    image,
    link,
    data,
    priority: settings['priority'] === 'high' ? 'high' : settings['priority'] === 'normal' ? 'normal' : null,
    collapse: shown('collapse'),
    androidChannel: settings['android.channel'] ?? null,
    apnsSound: settings['apns.sound'] ?? null,
  });
};

/** Bytes of a well-formed text in UTF-8. */
const utf8Bytes = (text: string): number => new TextEncoder().encode(text).length;

const COMPOSE: { readonly [Name in ChannelName]: Compose } = {
  email: composeEmail,
  sms: composeSms,
  push: composePush,
};

/**
 * The message as it goes to the provider. `account`: says what the template does not. The error is a
 * sentence for people.
 */
export function composeMessage(addressed: Addressed, filled: FilledTemplate, account: Sender): Result<Message, string> {
  const { channel } = addressed;
  // Intents of earlier versions carry the address as it was written.
  const to = canonicalAddress(channel, addressed.to ?? '');
  if (to === null) return err(`the recipient is no ${CHANNELS[channel].address.words}`);
  return COMPOSE[channel]({ ...addressed, to }, filled, account);
}
