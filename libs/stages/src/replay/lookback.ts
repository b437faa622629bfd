import { ruleIdOf, streamTable } from '@carillon/domain/configuration';
import { timesOf } from '@carillon/domain/rules';
import type { Duration } from '@carillon/kernel';
import { TIME_AHEAD } from '../append/prepare-append.ts';
import type { BookRule, RuleBook } from '../evaluate/rule-book.ts';
import type { ComparedConfigurations } from './compare-event.ts';

type Book = Pick<RuleBook, 'rulesOf'>;

/** How far back the rules of a run look. */
export type Lookback = {
  /** An entity without events for longer has no state that counts, except that of its event before. */
  readonly span: Duration;
  /** True if a rule looks at the entity's event before, however old. */
  readonly readsEventBefore: boolean;
  /** Streams whose events have times of their own. */
  readonly ownTimes: ReadonlySet<string>;
};

export const NO_LOOKBACK: Lookback = { span: 0, readsEventBefore: false, ownTimes: new Set() };

/** Returns the rules of the run that keep state on at least one side, by their ids. */
export const statefulRules = (configurations: ComparedConfigurations, book: Book): ReadonlySet<string> =>
  new Set(entriesOf(configurations, book).flatMap((entry) => (isStateful(entry) ? [ruleIdOf(entry.placed)] : [])));

export function lookbackOf(configurations: ComparedConfigurations, book: Book): Lookback {
  const entries = entriesOf(configurations, book).filter(isStateful);
  return {
    span: Math.max(0, ...entries.map(spanOf)),
    readsEventBefore: entries.some(readsEventBefore),
    ownTimes: new Set(entries.flatMap(({ placed }) => (placed.grace === null ? [] : [placed.stream]))),
  };
}

const entriesOf = ({ before, after }: ComparedConfigurations, book: Book): readonly BookRule[] =>
  [before, after].flatMap((side) =>
    [...streamTable(side).rules.keys()].flatMap((stream) => book.rulesOf(side, stream)),
  );

export const isStateful = (entry: BookRule): boolean => entry.ok && entry.rule.memory !== null;

/**
 * Returns how long after its event the state of a rule counts. A wait may begin at the end of a total's window, and a cooldown at the end of
 * a wait. An event with a time of its own may be ahead of the log.
 */
export function spanOf({ placed }: BookRule): Duration {
  const ownTime = placed.grace === null ? 0 : placed.grace + TIME_AHEAD;
  const times = timesOf(placed.notification.body).filter(({ rule }) => rule === placed.name);
  const longest = (isMeant: (key: string) => boolean): Duration =>
    Math.max(0, ...times.filter(({ path }) => isMeant(path.at(-1) ?? '')).map(({ duration }) => duration));
  const isWindow = (key: string): boolean => key === 'within';
  const isCooldown = (key: string): boolean => key === 'cooldown';
  return ownTime + longest(isWindow) + longest(isCooldown) + longest((key) => !isWindow(key) && !isCooldown(key));
}

export const readsEventBefore = (entry: BookRule): boolean =>
  entry.ok && (entry.rule.memory?.readsPrevious === true || entry.placed.body.cooldown === 'until_false');
