import type { MessageContentBody } from '@carillon/contracts';
import { folded } from './folded.ts';
import { clean, paint } from './output.ts';

type Rendered = Omit<MessageContentBody, 'to'> & {
  readonly error: string | null;
  readonly missing: readonly string[];
  readonly notes?: readonly string[];
  readonly links?: { readonly unsubscribe: string; readonly preferences: string } | null;
};

/** Formats a rendered message for a terminal, or the reason why it would not be sent. */
export function messageLines(message: Rendered, withHtml: boolean, isFull: boolean): string[] {
  const { channel, error, missing, html } = message;
  if (error !== null) return [paint('red', `${channel}: ${clean(error)}`)];
  return [
    `${channel.padEnd(11)}${paint('bold', clean(headOf(message)))}`,
    ...(missing.length > 0 ? [paint('yellow', `missing, so empty: ${missing.map(clean).join(', ')}`)] : []),
    ...(message.notes ?? []).map((note) => paint('yellow', clean(note))),
    ...bodyOf(message, isFull),
    ...Object.entries(message.links ?? {}).map(
      ([name, link]) => `  ${paint('dim', `${name} (a test link)`)}  ${clean(link)}`,
    ),
    ...(withHtml && html !== null ? ['', ...folded(html, true)] : []),
  ];
}

/** Returns the part of a message that people see first. */
function headOf({ subject, sms, push }: Rendered): string {
  if (push) return push.title ?? '';
  if (!sms) return subject ?? '';
  const because = sms.first_outside_gsm === null ? '' : `, because of “${sms.first_outside_gsm}”`;
  return `${sms.segments} ${sms.segments === 1 ? 'segment' : 'segments'} (${sms.encoding}${because})`;
}

function bodyOf({ text, push }: Rendered, isFull: boolean): string[] {
  if (!push) return folded(text ?? '', isFull);
  const { image, link, priority, collapse, android_channel: android, apns_sound: sound } = push;
  const said = { image, link, priority, collapse, 'android channel': android, 'apns sound': sound };
  const fields = Object.entries(push.data).map(([name, value]) => [`data.${name}`, value] as const);
  return [
    ...(push.body === null ? [] : folded(push.body, isFull)),
    ...[...Object.entries(said), ...fields].flatMap(([name, value]) =>
      value === null ? [] : [`  ${paint('dim', clean(name))}  ${clean(value)}`],
    ),
  ];
}
