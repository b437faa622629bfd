import type { SeenField } from './completion.ts';
import { deadlineText } from './deadline-form.ts';
import type { Rule } from './rule-props.ts';

/** When a rule decides: at the event, so long after it, or at a time of the event. */
export type WaitWay = 'now' | 'after' | 'at';

/** Keys of a rule that say when it decides. */
export type WaitKeys = Pick<Rule, 'after' | 'after_last' | 'at' | 'unless' | 'if_past'>;

const FIRST_SPAN = '1h';
const TIME_SAMPLE = /^"\d{4}-\d{2}-\d{2}T/;
const USUAL_TIME = 'event.starts_at';

export const wayOf = ({ after, after_last: afterLast, at }: WaitKeys): WaitWay => {
  if (at !== undefined) return 'at';
  return after === undefined && afterLast === undefined ? 'now' : 'after';
};

/** Fields that hold a time in the newest events. */
export const timeFields = (fields: readonly SeenField[]): readonly string[] =>
  fields
    .filter(({ path, sample }) => !path.includes('[]') && TIME_SAMPLE.test(sample ?? ''))
    .map(({ path }) => `event.${path}`);

/** Returns the deadline of a rule that begins to wait until a time of the event: a day before it. */
export const firstDeadline = (fields: readonly SeenField[]): string =>
  deadlineText({ amount: '1', unit: 'd', side: 'before', field: timeFields(fields)[0] ?? USUAL_TIME });

/** Returns the rule when it decides in another way. `before`: keys that it had when it last decided so. */
export function decidedBy(rule: Rule, way: WaitWay, before: WaitKeys, fields: readonly SeenField[]): Rule {
  const { after: _after, after_last: _afterLast, at: _at, if_past: _ifPast, unless, ...rest } = rule;
  if (way === 'now') return rest;
  const cancels = unless ?? before.unless;
  const ends = cancels === undefined ? {} : { unless: cancels };
  if (way === 'at') {
    const { at = firstDeadline(fields), if_past: ifPast } = before;
    return { ...rest, at, ...(ifPast !== undefined && { if_past: ifPast }), ...ends };
  }
  const { after_last: last, after = FIRST_SPAN } = before;
  return { ...rest, ...(last === undefined ? { after } : { after_last: last }), ...ends };
}
