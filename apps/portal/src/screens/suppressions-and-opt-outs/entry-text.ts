import type { Schemas } from '../../api/client.ts';

export type Suppression = Schemas['Suppression'];
export type Consent = Schemas['Consent'];
export type ConsentEntry = Consent['words'][number];

export const CHANNELS = ['email', 'sms', 'push'] as const;
export type Channel = (typeof CHANNELS)[number];
export const CHANNEL_OPTIONS = CHANNELS.map((id) => ({ id, name: id === 'sms' ? 'SMS' : id }));

export const SOURCES = ['hard_bounce', 'complaint', 'stop', 'dead_token', 'operator', 'import'] as const;
export type Source = (typeof SOURCES)[number];

const NAMES: Readonly<Record<Source, string>> = {
  hard_bounce: 'Hard bounce',
  complaint: 'Complaint',
  stop: 'STOP',
  dead_token: 'Dead token',
  operator: 'Operator',
  import: 'Import',
};
const MEANINGS: Readonly<Record<Source, string>> = {
  hard_bounce:
    'The provider reported that this address does not exist. Sending again harms your reputation as a sender.',
  complaint: 'The reader marked a message as spam. Sending again harms your reputation as a sender.',
  stop: 'The reader wrote STOP. Send again only if they asked for it.',
  dead_token: 'The app was removed from the device. A new installation has a new token.',
  operator: 'Somebody in this workspace added the address.',
  import: 'The address was imported from a file.',
};

const isSource = (word: string): word is Source => SOURCES.some((one) => one === word);
/** Who says that nothing is to be sent to an address. */
export const sourceName = (word: string): string => (isSource(word) ? NAMES[word] : word);
/** What it means to take back what a source says. */
export const sourceMeaning = (word: string): string => (isSource(word) ? MEANINGS[word] : '');

/** `everything`, `the category “orders”`, `the notification “order-paid”`, each with its channel where it is one alone. */
export function targetWords({ target, name, channel }: ConsentEntry): string {
  const what = target === 'all' ? 'everything' : name === null ? `a removed ${target}` : `the ${target} “${name}”`;
  return channel === null ? what : `${what} by ${channel}`;
}

/** Whether there is anything that somebody does not want. */
export const isOut = ({ words }: Consent): boolean => words.some((word) => word.opted_out);

/** What somebody wants in a line: what counts first. */
export function consentWords({ words }: Consent): string {
  const out = words.filter((word) => word.opted_out);
  if (out.length === 0) return 'wants everything';
  return `does not want ${out.map(targetWords).join(', ')}`;
}

const WAYS: Readonly<Record<string, string>> = {
  one_click: 'with the unsubscribe button of a mail program',
  page: 'on the opt-out page',
  api: 'by the API or the portal',
  import: 'with a file',
};
export const wayWords = (way: string): string => WAYS[way] ?? way.replaceAll('_', ' ');

/** `2 people`; for several workspaces each with its name: `2 people in shop, 1 person in care`. */
export const byWorkspace = (
  parts: readonly { readonly workspace: string; readonly words: string }[],
  isOfSeveral: boolean,
): string => parts.map(({ workspace, words }) => (isOfSeveral ? `${words} in ${workspace}` : words)).join(', ');
