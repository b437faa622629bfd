import { durationOr, type Duration } from '@carillon/kernel';
import { DEFAULTS } from '@carillon/shapes/values';
import type { NotificationBody, RuleBody } from '../configuration/resources.ts';

/**
 * A time setting of a notification or of one of its rules. Within this time Carillon may need older records of the log.
 */
export type NotificationTime = {
  /** Path in the body of the notification, as in `rules.paid.totals.orders.within`. */
  readonly path: readonly string[];
  /** Rule of the setting. Null if the setting applies to all rules. */
  readonly rule: string | null;
  readonly text: string;
  readonly duration: Duration;
};

/** Settings of rules that look back or wait. */
const RULE_TIMES: ReadonlySet<string> = new Set(['within', 'after', 'after_last', 'cooldown']);
/** Settings of rules that look back at what is kept of an entity. */
const LOOK_BACKS: ReadonlySet<string> = new Set(['within', 'cooldown']);
/** Longest wait until a time that the event names (`at`). */
const MAX_AT = '366d';

/**
 * Returns the times for which a notification waits or looks back. Leaves out `delay: { until }`, because the ledger
 * stores its message completely.
 */
export function timesOf(body: NotificationBody): readonly NotificationTime[] {
  const times = [timeAt(['expires'], null, body.expires ?? DEFAULTS.notification.expires)];
  const delay = body.cadence?.delay;
  if (typeof delay === 'string') times.push(timeAt(['cadence', 'delay'], null, delay));
  for (const [name, rule] of Object.entries(body.rules)) {
    if ('at' in rule) times.push(timeAt(['rules', name, 'at'], name, MAX_AT));
    times.push(...ruleTimes(name, rule, ['rules', name]));
  }
  return times.filter(({ duration }) => duration > 0);
}

/** Returns the spans for which a rule looks back at the memory of an entity. */
export const lookBacksOf = (name: string, rule: RuleBody): readonly NotificationTime[] =>
  ruleTimes(name, rule, ['rules', name]).filter(
    ({ path, duration }) => duration > 0 && LOOK_BACKS.has(path.at(-1) ?? ''),
  );

function ruleTimes(rule: string, value: object, path: readonly string[]): readonly NotificationTime[] {
  return Object.entries(value).flatMap(([key, item]: [string, unknown]) => {
    const at = [...path, key];
    if (typeof item === 'string') return RULE_TIMES.has(key) ? [timeAt(at, rule, item)] : [];
    return typeof item === 'object' && item !== null && !Array.isArray(item) ? ruleTimes(rule, item, at) : [];
  });
}

const timeAt = (path: readonly string[], rule: string | null, text: string): NotificationTime => ({
  path,
  rule,
  text,
  duration: CALENDAR[text] ?? durationOr(text, 0),
});

/** The longest that a window by the calendar looks back. An hour more, because a clock may be set back in it. */
const DAY = 86_400_000;
const HOUR = 3_600_000;
const CALENDAR: Readonly<Record<string, Duration>> = {
  'calendar day': DAY + HOUR,
  'calendar week': 7 * DAY + HOUR,
  'calendar month': 31 * DAY + HOUR,
};
