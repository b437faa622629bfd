import type { Bodies } from '../../api/draft-calls.ts';
import { fieldWords } from './condition-words.ts';
import { cooldownWords, ruleCondition, waitWords } from './waiting-words.ts';

export type NotificationBody = Bodies['notifications'];
/** A draft may hold anything: nothing of it is taken for granted. */
type Loose = Readonly<Record<string, unknown>>;
const group = (value: unknown): Loose | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Loose) : null;
const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';

/** The rules of a notification by name, those alone that are any. */
export const rulesOf = (body: unknown): readonly (readonly [name: string, rule: Loose])[] =>
  Object.entries(group(group(body)?.['rules']) ?? {}).flatMap(([name, value]) => {
    const rule = group(value);
    return rule ? [[name, rule] as const] : [];
  });

const CHANNEL_WORDS: Readonly<Record<string, string>> = { email: 'email', sms: 'SMS', push: 'push' };
const ADDRESS: Readonly<Record<string, string>> = { email: 'email', sms: 'phone', push: 'token' };
const CHANNELS = ['email', 'sms', 'push'] as const;

const listed = (words: readonly string[], last: string): string =>
  words.length < 2 ? (words[0] ?? '') : `${words.slice(0, -1).join(', ')} ${last} ${words.at(-1)}`;

/** Rules beyond so many are counted, not told. */
const MAX_TOLD = 2;

/** What a notification does, in one sentence, made from its configuration alone. */
export function sentenceOf(body: unknown): string {
  const rules = rulesOf(body);
  if (rules.length === 0) return 'No rule yet: nothing can fire.';
  const on = rules.filter(([, rule]) => rule['enabled'] !== false);
  const off = group(body)?.['enabled'] === false || on.length === 0;
  const told = on.length === 0 ? rules : on;
  const whens = told.slice(0, MAX_TOLD).map(([, rule]) => rule);
  const more = told.length - MAX_TOLD;
  const when = occasionWords(whens) + (more > 0 ? `, or by ${more} more ${more === 1 ? 'rule' : 'rules'}` : '');
  const [first] = told;
  const parts = [
    `${when}, notify ${first ? whomWords(body, first[1]) : 'nobody'} by ${byWords(body)}`,
    ...(first ? [...onceWords(first[1]), ...cooldownWords(first[1])] : []),
    ...cadenceWords(group(body)?.['cadence']),
  ];
  return `${off ? 'Switched off: nothing fires. ' : ''}${parts.join(', ')}.`;
}

/** What one of its rules does, in a sentence. */
export const ruleWords = (body: unknown, rule: Loose): string =>
  `${[occasionWords([rule]), `notify ${whomWords(body, rule)}`, ...onceWords(rule), ...cooldownWords(rule)].join(', ')}.`;

/** When these rules notify: "When A or B", "An hour after A". */
function occasionWords(rules: readonly Loose[]): string {
  const occasions = rules.map(
    (rule, at) => occasionOf(rule) ?? `${at === 0 || rules.some(occasionOf) ? 'when ' : ''}${whenWords(rule)}`,
  );
  const words = listed(occasions, 'or');
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}

/** When a rule that waits notifies: "an hour after an order is placed". Null: it notifies at the event. */
export const occasionOf = (rule: Loose): string | null =>
  waitWords(rule, group(rule['cohort']) ? whenWords(rule) : undefined);

export function whenWords(rule: Loose): string {
  const cohort = group(rule['cohort']);
  if (cohort) {
    const moves = cohort['on'] === 'left' ? 'leaves' : 'enters';
    return `somebody ${moves} the cohort ${textOf(cohort['id'])} of ${textOf(cohort['integration'])}`;
  }
  const when = textOf(rule['when']).trim();
  const stream = textOf(rule['stream']);
  const event = stream === '' ? 'an event comes' : `an event of ${stream} comes`;
  if (when === '' || when === 'true') return event;
  return `${event} and ${ruleCondition(when, rule)}`;
}

export function whomWords(body: unknown, rule: Loose): string {
  const recipients = group(rule['recipients']);
  if (!recipients) return 'nobody';
  if (recipients['from'] === 'lookup') return `those whom ${textOf(recipients['integration']) || 'a partner'} names`;
  const each = textOf(recipients['for_each']);
  if (each !== '') return `each of ${fieldWords(each)}`;
  const to = group(recipients['to']) ?? {};
  const channels = group(group(body)?.['channels']) ?? {};
  const used = CHANNELS.filter((channel) => channels[channel] !== undefined);
  const addresses = (used.length === 0 ? CHANNELS : used).flatMap((channel) => {
    const expression = textOf(to[ADDRESS[channel] ?? '']);
    return expression === '' ? [] : [addressWords(expression)];
  });
  return addresses.length === 0 ? 'nobody yet' : listed([...new Set(addresses)], 'or');
}

/** `event.customer.email` is "the customer". `event.email` alone would read "notify email by email". */
function addressWords(expression: string): string {
  const owner = /^event\.(\w+)\.(?:email|phone|token)$/.exec(expression.trim())?.[1];
  if (owner !== undefined) return `the ${owner.replaceAll('_', ' ')}`;
  const words = fieldWords(expression);
  return /^\w+$/.test(words) ? `the address in ${words}` : words;
}

export function byWords(body: unknown): string {
  const channels = group(group(body)?.['channels']) ?? {};
  const used = CHANNELS.filter((channel) => channels[channel] !== undefined).map(
    (channel) => CHANNEL_WORDS[channel] ?? '',
  );
  return used.length === 0 ? 'no channel yet' : listed(used, 'and');
}

export function onceWords(rule: Loose): string[] {
  const once = textOf(group(rule['recipients'])?.['unique_id']);
  if (once === 'event_id' || once === 'trigger_id') return [];
  return [once === '' ? 'once ever' : `once per ${fieldWords(once)}`];
}

const SPANS: Readonly<Record<string, string>> = {
  '1d': 'a day',
  '24h': 'a day',
  '1h': 'an hour',
  '60m': 'an hour',
  '7d': 'a week',
  '1w': 'a week',
};
/** `1d` is "a day", `calendar week` is "a calendar week", `3h` is "in 3h". */
export const perWords = (per: string): string => SPANS[per] ?? (per.startsWith('calendar ') ? `a ${per}` : `in ${per}`);

export function cadenceWords(given: unknown): string[] {
  const cadence = group(given);
  if (!cadence) return [];
  const limits = Array.isArray(cadence['limits']) ? cadence['limits'] : [];
  const [quiet, digest] = [group(cadence['quiet_hours']), group(cadence['digest'])];
  return [
    ...delayWords(cadence['delay']),
    ...limits.flatMap((limit: unknown) => {
      const { max, per } = group(limit) ?? {};
      return max === undefined ? [] : [`at most ${textOf(max)} ${perWords(textOf(per))}`];
    }),
    ...(quiet ? [`not between ${textOf(quiet['from'])} and ${textOf(quiet['to'])}`] : []),
    ...(digest ? [digest['when'] === 'over_limit' ? 'what is over a limit in a digest' : 'in a digest'] : []),
  ];
}

function delayWords(delay: unknown): string[] {
  if (typeof delay === 'string') return [`after ${delay}`];
  const { local_time: local, until } = group(delay) ?? {};
  if (local !== undefined) return [`at ${textOf(local)} of their day`];
  return until === undefined ? [] : [`at ${fieldWords(textOf(until))}`];
}

/** The name that people gave it, else its own. */
export const nameOf = (body: unknown, name: string): string => textOf(group(body)?.['name']) || name;
