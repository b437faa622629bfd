import { editsBetween } from '@carillon/kernel';

/**
 * How an argument is used. `value`: it is shown, so its absence is counted as missing. `question`: the helper asks about
 * it, so absence is an answer.
 */
export type Use = 'value' | 'question';

export type Helper = {
  readonly block: boolean;
  readonly params: readonly Use[];
  /** Named options (`zone="Europe/Berlin"`) and what is wrong with a literal value, if anything. */
  readonly options: Readonly<Record<string, (value: unknown) => string | undefined>>;
  /** Options without which it makes no sense. */
  readonly required?: readonly string[];
  /** How it is written, for the advice in faults and for the table in docs/template-language.md. */
  readonly example: string;
};

const anything = (): undefined => undefined;

function refused(check: () => unknown, message: string): string | undefined {
  try {
    check();
    return undefined;
  } catch {
    return message;
  }
}

const locale = (value: unknown): string | undefined =>
  refused(() => Intl.getCanonicalLocales(value as string), 'expected a language tag such as "de" or "en-GB"');
const zone = (value: unknown): string | undefined =>
  refused(
    () => new Intl.DateTimeFormat('en', { timeZone: value as string }),
    'expected a time zone such as "Europe/Berlin"',
  );
const oneOf =
  (...words: readonly string[]) =>
  (value: unknown): string | undefined =>
    words.includes(value as string) ? undefined : `expected one of ${words.map((word) => `"${word}"`).join(', ')}`;
const digits = (value: unknown): string | undefined =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 20 ? undefined : 'expected 0 to 20';
const width = oneOf('none', 'short', 'medium', 'long', 'full');

/** Every helper of the language. Nothing else can be called; all are pure. */
export const HELPERS: Readonly<Record<string, Helper>> = {
  if: { block: true, params: ['question'], options: { includeZero: anything }, example: '{{#if paid}}...{{/if}}' },
  unless: {
    block: true,
    params: ['question'],
    options: { includeZero: anything },
    example: '{{#unless paid}}...{{/unless}}',
  },
  each: { block: true, params: ['value'], options: {}, example: '{{#each items}}{{name}}{{/each}}' },
  with: { block: true, params: ['value'], options: {}, example: '{{#with customer}}{{name}}{{/with}}' },
  date: {
    block: false,
    params: ['value'],
    options: { style: width, time: width, zone, locale },
    example: '{{date paid_at time="short" zone="Europe/Berlin" locale="de"}}',
  },
  number: {
    block: false,
    params: ['value'],
    options: { minimum: digits, maximum: digits, style: oneOf('decimal', 'percent'), locale },
    example: '{{number weight maximum=1}}',
  },
  currency: { block: false, params: ['value', 'value'], options: { locale }, example: '{{currency total "EUR"}}' },
  plural: {
    block: false,
    params: ['value'],
    options: { zero: anything, one: anything, two: anything, few: anything, many: anything, other: anything, locale },
    required: ['other'],
    example: '{{plural count one="item" other="items"}}',
  },
  default: { block: false, params: ['question', 'value'], options: {}, example: '{{default name "friend"}}' },
  url: { block: false, params: ['value'], options: {}, example: '{{url tracking_link}}' },
  eq: { block: false, params: ['question', 'question'], options: {}, example: '{{#if (eq status "paid")}}...{{/if}}' },
  ne: { block: false, params: ['question', 'question'], options: {}, example: '{{#if (ne status "paid")}}...{{/if}}' },
  lt: { block: false, params: ['question', 'question'], options: {}, example: '{{#if (lt total 100)}}...{{/if}}' },
  gt: { block: false, params: ['question', 'question'], options: {}, example: '{{#if (gt total 100)}}...{{/if}}' },
};

export const helperNamed = (name: string | undefined): Helper | undefined =>
  name !== undefined && Object.hasOwn(HELPERS, name) ? HELPERS[name] : undefined;

/** The known names that someone who wrote `name` may have meant: at most two edits away. */
export const nearNames = (name: string, known: readonly string[]): readonly string[] =>
  known.filter(
    (candidate) => editsBetween(name.toLowerCase().slice(0, 30), candidate) <= (candidate.length < 4 ? 1 : 2),
  );
