import { readDeadline } from '../rule/deadline-form.ts';
import { spanWords } from '../rule/spans.ts';
import { fieldWords } from './condition-words.ts';
import { conditionOf } from './total-words.ts';

type Loose = Readonly<Record<string, unknown>>;
const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';

const STATE = /^event\.(?:[\w.]+\.)?(?:status|state) (==|!=) "([\w -]+)"$/;
/** Only a participle is said of the thing itself: an order is placed. */
const HAPPENED =
  /^event\.(?:[\w.]+\.)?(?:type|kind|event|name|action) (==|!=) "([\w -]*ed|paid|sent|sold|lost|left|made|shown|taken|given|begun|bought|broken|read)"$/;
const CHANGED = /^changed(?:To|FromTo)?\((event\.[\w.]+)(?:, ?"([^"]*)")?(?:, ?"([^"]*)")?\)$/;

/** `an` before a vowel. */
const withArticle = (noun: string): string => `${/^[aeiou]/i.test(noun) ? 'an' : 'a'} ${noun}`;

/** `orders` is about an order. Empty: the name of the stream does not say. */
export function nounOf(stream: string): string {
  const name = stream.replaceAll('-', ' ');
  if (name.endsWith('ies')) return `${name.slice(0, -3)}y`;
  return /[^s]s$/.test(name) ? name.slice(0, -1) : '';
}

/** What is true of the subject: `an order is placed`. Null: it is no plain comparison of a state. */
function clauseOf(condition: string, subject: string): string | null {
  const [, op, value] = STATE.exec(condition) ?? HAPPENED.exec(condition) ?? [];
  if (op !== undefined && value !== undefined) return `${subject} ${op === '==' ? 'is' : 'is no longer'} ${value}`;
  const [, field, one, two] = CHANGED.exec(condition) ?? [];
  if (field === undefined) return null;
  const from = two === undefined ? '' : ` from ${one}`;
  const to = two ?? one;
  return `${fieldWords(field)} of ${subject} changes${from}${to === undefined ? '' : ` to ${to}`}`;
}

/** Returns true if a part of a split condition ends no text and no bracket of another part. */
const isWhole = (part: string): boolean =>
  part.split('"').length % 2 === 1 && part.split('(').length === part.split(')').length;

/**
 * Returns a condition as said of a subject: `an order is placed and total is more than 100`. Null: it has brackets or both "and" and
 * "or", or its first part is not about the subject.
 */
function aboutSubject(source: string, subject: string, rule: Loose): string | null {
  const text = source.trim().replaceAll(/\s+/g, ' ');
  const isAny = text.includes('||');
  const parts = text.split(/ ?(?:&&|\|\|) ?/);
  if ((isAny && text.includes('&&')) || !parts.every(isWhole)) return null;
  const words = parts.map(
    (part, at) => clauseOf(part, at === 0 ? subject : 'it') ?? (at === 0 ? null : ruleCondition(part, rule)),
  );
  return words[0] === null ? null : words.join(isAny ? ' or ' : ' and ');
}

/** Returns a condition of a rule in words. */
export const ruleCondition = (source: string, rule: Loose): string =>
  conditionOf(source, rule['totals'], nounOf(textOf(rule['stream'])));

/** The event for which a rule waits: `an order is placed`, else `an event of orders comes and …`. */
function matchWords(rule: Loose): string {
  const [when, stream] = [textOf(rule['when']).trim(), textOf(rule['stream'])];
  const noun = nounOf(stream);
  const event = stream === '' ? 'an event' : `an event of ${stream}`;
  if (when === '' || when === 'true') return `${event} comes`;
  return (
    (noun === '' ? null : aboutSubject(when, withArticle(noun), rule)) ??
    `${event} comes and ${ruleCondition(when, rule)}`
  );
}

function unlessWords(rule: Loose): string {
  const unless = textOf(rule['unless']).trim();
  if (unless === '') return '';
  return `, unless ${aboutSubject(unless, 'it', rule) ?? `by then ${ruleCondition(unless, rule)}`}`;
}

/**
 * Returns when a rule that waits notifies: "an hour after an order is placed, unless it is paid". Null: it does not wait. `match`: the
 * event of a rule that a cohort starts.
 */
export function waitWords(rule: Loose, match: string = matchWords(rule)): string | null {
  const [after, last, at] = ['after', 'after_last', 'at'].map((key) => textOf(rule[key]).trim());
  const unless = unlessWords(rule);
  if (after) return `${spanWords(after)} after ${match}${unless}`;
  if (last) return `${spanWords(last)} after the last time that ${match}${unless}`;
  if (!at) return null;
  const form = readDeadline(at);
  const time =
    form === null
      ? `at ${/^event\.[\w.]+$/.test(at) ? fieldWords(at) : at}`
      : form.amount === '0'
        ? `at ${fieldWords(form.field)}`
        : `${spanWords(`${form.amount}${form.unit}`)} ${form.side} ${fieldWords(form.field)}`;
  const past = rule['if_past'] === 'notify' ? ', or at once if that is past' : '';
  return `${time}, once ${match}${past}${unless}`;
}

/** How soon a rule fires again for the same entity, as parts of a sentence. */
export function cooldownWords(rule: Loose): string[] {
  const cooldown = textOf(rule['cooldown']);
  if (cooldown === '') return [];
  return [
    cooldown === 'until_false'
      ? 'not again until the condition has been false'
      : `not again within ${spanWords(cooldown)}`,
  ];
}
