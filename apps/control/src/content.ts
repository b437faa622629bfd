import type { MessageContentBody } from '@carillon/contracts';
import { smsSegments, type EmailMessage, type Message } from '@carillon/domain/channels';

export const NO_CONTENT = { from: null, subject: null, html: null, text: null, sms: null, push: null };

/** `Name <address>` as people read it; never parsed again. */
export const shownMailbox = ({ name, address }: EmailMessage['from']): string =>
  name === '' ? address : `${name} <${address}>`;

/** A message as its provider was given it; what its channel does not have is null. */
export function showContent(message: Message): MessageContentBody {
  const base = { ...NO_CONTENT, channel: message.channel, to: message.to };
  switch (message.channel) {
    case 'email': {
      const { from, subject, html, text } = message;
      return { ...base, from: shownMailbox(from), subject, html, text };
    }
    case 'sms':
      return { ...base, text: message.text, sms: showSegments(message.text) };
    case 'push': {
      const { title, body, image, link, priority, collapse } = message;
      const { androidChannel: android_channel, apnsSound: apns_sound } = message;
      const push = { title, body, image, link, data: { ...message.data }, priority, collapse };
      return { ...base, push: { ...push, android_channel, apns_sound } };
    }
  }
}

function showSegments(text: string): NonNullable<MessageContentBody['sms']> {
  const { encoding, segments, units, firstOutsideGsm } = smsSegments(text);
  return { encoding, segments, units, first_outside_gsm: firstOutsideGsm };
}
