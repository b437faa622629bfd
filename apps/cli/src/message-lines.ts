import type { MessageContentBody } from '@carillon/contracts';
import { clean, paint } from './output.ts';

type Rendered = Omit<MessageContentBody, 'to'> & { readonly error: string | null; readonly missing: readonly string[] };

const indented = (text: string): string[] => text.split('\n').map((line) => `  ${clean(line)}`);

/** A rendered message as it is told on a terminal: what would be sent, or why nothing would. */
export function messageLines(message: Rendered, withHtml: boolean): string[] {
  const { channel, error, missing, html } = message;
  if (error !== null) return [paint('red', `${channel}: ${clean(error)}`)];
  return [
    `${channel.padEnd(11)}${paint('bold', clean(headOf(message)))}`,
    ...(missing.length > 0 ? [paint('yellow', `missing, so empty: ${missing.map(clean).join(', ')}`)] : []),
    ...bodyOf(message),
    ...(withHtml && html !== null ? ['', ...indented(html)] : []),
  ];
}

/** What people see of it first. */
function headOf({ subject, sms, push }: Rendered): string {
  if (push) return push.title ?? '';
  if (!sms) return subject ?? '';
  const because = sms.first_outside_gsm === null ? '' : `, because of “${sms.first_outside_gsm}”`;
  return `${sms.segments} ${sms.segments === 1 ? 'segment' : 'segments'} (${sms.encoding}${because})`;
}

function bodyOf({ text, push }: Rendered): string[] {
  if (!push) return indented(text ?? '');
  const { image, link, priority, collapse, android_channel: android, apns_sound: sound } = push;
  const said = { image, link, priority, collapse, 'android channel': android, 'apns sound': sound };
  const fields = Object.entries(push.data).map(([name, value]) => [`data.${name}`, value] as const);
  return [
    ...(push.body === null ? [] : indented(push.body)),
    ...[...Object.entries(said), ...fields].flatMap(([name, value]) =>
      value === null ? [] : [`  ${paint('dim', clean(name))}  ${clean(value)}`],
    ),
  ];
}
