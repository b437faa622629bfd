import { humane } from '../../ui/state-words.ts';

export type FieldChange = { readonly path: string; readonly before: string | null; readonly after: string | null };

const KINDS: Readonly<Record<string, string>> = {
  jwt_provider: 'JWT provider',
  api_key: 'API key',
  workspace: 'Settings of the workspace',
};
/** A kind of resource as people call it. */
export function kindWords(kind: string): string {
  const words = KINDS[kind] ?? humane(kind);
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}
/** `Notification order-paid`; the settings of a workspace have no name. */
export const titleOf = ({ kind, name }: { readonly kind: string; readonly name: string }): string =>
  name === '' ? kindWords(kind) : `${kindWords(kind)} ${name}`;

const VERBS = { create: 'made', update: 'changed', delete: 'removed' } as const;
export const actionWords = (action: string): string => VERBS[action as keyof typeof VERBS] ?? action;

/** `3 changes`, `1 change` */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString('en')} ${count === 1 ? one : many}`;

/** Words for the last key of a path, where the key alone does not say it. */
const KEYS: Readonly<Record<string, string>> = {
  when: 'fires when',
  unique_id: 'once per',
  where: 'only if',
  'recipients.to.email': 'email address',
  'recipients.to.phone': 'phone number',
  'recipients.to.token': 'device token',
  per_second: 'events a second',
  in_doubt: 'when in doubt',
};

const RULE = /^rules\.([a-z0-9][a-z0-9-]*)(?:\.(.+))?$/;
const CHANNEL = /^channels\.(email|sms|push)(?:\.(.+))?$/;
/** Some are said best as one thing, whatever changed below. */
const placed = (what: string, rest: string | undefined): string => {
  if (rest === undefined) return what;
  const whole = KEYS[rest] ?? KEYS[rest.split('.').at(-1) ?? ''] ?? humane(rest.replaceAll('.', ' → '));
  return `${what}, ${whole}`;
};

/** Describes a field's path: `rules.paid.when` is "Rule paid, fires when". */
export function placeWords(path: string): string {
  const [, rule, ofRule] = RULE.exec(path) ?? [];
  if (rule !== undefined) return placed(`Rule ${rule}`, ofRule);
  const [, channel, ofChannel] = CHANNEL.exec(path) ?? [];
  if (channel !== undefined)
    return placed(channel === 'sms' ? 'SMS' : channel === 'email' ? 'Email' : 'Push', ofChannel);
  const [first = '', ...rest] = path.split('.');
  const words = KEYS[path] ?? humane(first);
  return placed(words.slice(0, 1).toUpperCase() + words.slice(1), rest.length === 0 ? undefined : rest.join('.'));
}

/** What happened to a field, before the values that say it. */
export function changeWords({ path, before, after }: FieldChange): string {
  const place = placeWords(path);
  if (before === null) return `${place}: added`;
  if (after === null) return `${place}: removed`;
  return `${place}: changed`;
}

/** A value of a field as lines: a group or a list as one line for each value in it, with its keys before it. */
export function valueLines(text: string): readonly string[] {
  if (!/^[[{]/.test(text)) return [text];
  try {
    return linesOf(JSON.parse(text), '');
  } catch {
    return [text];
  }
}

function linesOf(value: unknown, place: string): readonly string[] {
  const isPlain = typeof value !== 'object' || value === null;
  const entries = isPlain ? [] : Object.entries(value);
  if (isPlain || entries.length === 0) {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    return [place === '' ? text : `${place}: ${text}`];
  }
  const isList = Array.isArray(value);
  if (isList && value.every((one) => typeof one !== 'object' || one === null)) {
    return [`${place === '' ? '' : `${place}: `}${value.map(String).join(', ')}`];
  }
  const under = (key: string): string =>
    isList ? `${place}[${Number(key) + 1}]` : place === '' ? humane(key) : `${place} → ${humane(key)}`;
  return entries.flatMap(([key, one]) => linesOf(one, under(key)));
}
