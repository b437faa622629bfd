import type { Schemas } from '../../api/client.ts';

export type Message = Schemas['InboxMessage'];

const CHANNELS: Readonly<Record<string, string>> = { email: 'Email', sms: 'SMS', push: 'Push' };
export const channelWords = (channel: string): string => CHANNELS[channel] ?? channel;

const WITHOUT_TITLE: Readonly<Record<string, string>> = { sms: 'Text message', push: 'Push notification' };

/** Returns what a reader sees of a message first, in one line. Lists have no bodies, so there an SMS is called by its kind. */
export function titleOf({
  channel,
  subject,
  text,
  push,
}: Pick<Message, 'channel' | 'subject' | 'text' | 'push'>): string {
  const words = push ? (push.title ?? push.body) : (subject ?? text);
  if (words === null && WITHOUT_TITLE[channel] !== undefined) return WITHOUT_TITLE[channel];
  const [line = ''] = (words ?? '').split('\n');
  return line === '' ? '(no subject)' : line;
}

/** What an SMS costs and why. */
export function segmentWords({ encoding, segments, first_outside_gsm: outside }: NonNullable<Message['sms']>): string {
  const each =
    encoding === 'UCS-2'
      ? 'of at most 70 characters, or 67 each in several'
      : 'of at most 160 characters, or 153 each in several';
  const dearer = outside === null ? '' : `, because of “${outside}”`;
  return `${segments} ${segments === 1 ? 'segment' : 'segments'} ${each} (${encoding}${dearer})`;
}

const LINK = /<a\b[^>]*?\shref\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>"']+))/gi;
const ENTITIES: Readonly<Record<string, string>> = { amp: '&', quot: '"', lt: '<', gt: '>', '#39': "'", '#x27': "'" };
const withoutEntities = (text: string): string =>
  text.replaceAll(/&(amp|quot|lt|gt|#39|#x27);/gi, (whole, name: string) => ENTITIES[name.toLowerCase()] ?? whole);

/** Where the links of a mail lead, each once, in their order; none of them is followed. */
export const linksIn = (html: string): readonly string[] => [
  ...new Set(
    [...html.matchAll(LINK)]
      .map(([, double, single, bare]) => withoutEntities(double ?? single ?? bare ?? '').trim())
      .filter((link) => link !== '' && !link.startsWith('#')),
  ),
];
