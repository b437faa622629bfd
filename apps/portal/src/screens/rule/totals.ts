import type { Bodies } from '../../api/draft-calls.ts';
import { readSpan, spanText, type Span, type SpanUnit } from './spans.ts';

type Rule = NonNullable<Bodies['notifications']['rules']>[string];
export type TotalBody = NonNullable<Rule['totals']>[string];
export type TotalKind = 'count' | 'sum' | 'distinct';
type Period = 'day' | 'week' | 'month';

/** A total as the form shows it. */
export type TotalForm = {
  readonly kind: TotalKind;
  /** The number that a sum adds, or the value that `distinct` tells apart. Empty for a count. */
  readonly of: string;
  /** Condition of the events that it looks at. Empty: every event. */
  readonly where: string;
  readonly window: Span | Period;
};

const PERIOD = /^\s*calendar (day|week|month)\s*$/;
/** A total covers at least a minute. */
export const WINDOW_UNITS: readonly SpanUnit[] = ['m', 'h', 'd'];
/** A count of every event needs a condition. */
const EVERY_EVENT = 'true';
const FIRST_NAME = 'total';
export const FIRST_WINDOW: Span = { amount: '10', unit: 'm' };
/** What a new total is compared with. */
export const FIRST_COUNT = 5;

const textOf = (value: string | number | boolean | undefined): string => (value === undefined ? '' : String(value));
const conditionOf = (source: string): string => (source.trim() === EVERY_EVENT ? '' : source);

export function readTotal({ count, sum, distinct, where, within }: TotalBody): TotalForm {
  const period = PERIOD.exec(within)?.[1] as Period | undefined;
  const window = period ?? readSpan(within);
  if (sum !== undefined) return { kind: 'sum', of: textOf(sum), where: conditionOf(textOf(where)), window };
  if (distinct !== undefined)
    return { kind: 'distinct', of: textOf(distinct), where: conditionOf(textOf(where)), window };
  return { kind: 'count', of: '', where: conditionOf(textOf(count)), window };
}

export function totalBody({ kind, of, where, window }: TotalForm): TotalBody {
  const within = typeof window === 'string' ? `calendar ${window}` : spanText(window);
  const condition = where.trim();
  if (kind === 'count') return { count: condition === '' ? EVERY_EVENT : where, within };
  return { [kind]: of, ...(condition !== '' && { where }), within };
}

/** Returns true if a text reads a total: `totals.name` or `totals["name"]`. */
const reads = (text: string, name: string): boolean => new RegExp(String.raw`\btotals\W{1,8}${name}\b`).test(text);

/** Returns the rule with one more total, and its name. The first total of a rule brings a cooldown, so that it notifies once. */
export function withNewTotal(rule: Rule): { readonly rule: Rule; readonly name: string } {
  const totals = rule.totals ?? {};
  const names = [FIRST_NAME, ...Array.from(Object.keys(totals), (_, index) => `${FIRST_NAME}_${index + 2}`)];
  const name = names.find((free) => !Object.hasOwn(totals, free)) ?? FIRST_NAME;
  const body = totalBody({ kind: 'count', of: '', where: '', window: FIRST_WINDOW });
  const isFirst = rule.totals === undefined && rule.cooldown === undefined;
  return {
    name,
    rule: { ...rule, totals: { ...totals, [name]: body }, ...(isFirst && { cooldown: 'until_false' }) },
  };
}

/** Returns the rule without those of the named totals that nothing in it reads. */
export function withoutUnread(rule: Rule, names: Iterable<string>): Rule {
  const { totals = {}, ...others } = rule;
  const text = JSON.stringify(others).replaceAll('\\"', '"');
  const gone = new Set([...names].filter((name) => !reads(text, name)));
  const left = Object.entries(totals).filter(([name]) => !gone.has(name));
  return left.length === 0 ? others : { ...others, totals: Object.fromEntries(left) };
}
