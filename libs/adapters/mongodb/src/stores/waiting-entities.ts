import type { Instant } from '@carillon/kernel';
import type { Clock, RuleStateStore } from '@carillon/ports';
import type { Attempt } from '../attempts.ts';
import type { Collections } from '../collections.ts';
import { IN_ONE_ANSWER, queued } from '../pages.ts';

/** Waiting entities whose deadlines are compared first. One that waits by several rules comes at the earliest of their deadlines. */
const MAX_EARLIEST = 100;
/** Entities whose deadlines are compared if another rule makes the first of them wait. */
const MAX_COMPARED = 10_000;

/**
 * Ends of the ranges of time, from now, in which waiting entities are counted. FerretDB reads all index entries that a filter names before it
 * limits or sorts them, so a count over all times takes seconds if a million entities wait. Null: no end.
 */
const HORIZONS_MS = [0, 60_000, 600_000, 6_000_000, 60_000_000, 600_000_000, null] as const;

/** From inclusive, until exclusive. */
type Range = { readonly from: Instant; readonly until: Instant };

const earlier = (a: Instant | null, b: Instant | null): Instant | null =>
  a === null || b === null ? (a ?? b) : Math.min(a, b);

/** Returns how entities that wait by a rule are counted. */
export function createWaitingCount(
  ruleStates: Collections['ruleStates'],
  attempt: Attempt,
  clock: Clock,
): RuleStateStore['waiting'] {
  /** Returns the earliest deadline of a rule among the states whose `nextDue` is in the range. Null: no state of the range waits by the rule. */
  async function earliestOf(rule: string, { from, until }: Range): Promise<Instant | null> {
    const readPage = async (end: Instant, limit: number) => {
      const filter = { 'waits.rule': rule, nextDue: queued({ $gte: from, $lt: end }) };
      const page = { ...IN_ONE_ANSWER, sort: { nextDue: 1 }, limit, projection: { waits: 1, nextDue: 1 } } as const;
      const states = await attempt(() => ruleStates.find(filter, page).toArray());
      const dues = states.flatMap(({ waits = [] }) => waits.filter((wait) => wait.rule === rule).map(({ due }) => due));
      return { dues, last: states.length < limit ? end : (states.at(-1)?.nextDue ?? end) };
    };
    const { dues, last } = await readPage(until, MAX_EARLIEST);
    if (dues.length === 0) return null;
    const earliest = Math.min(...dues);
    if (earliest <= last) return earliest;
    // `nextDue` is the earliest of a state's waits, so a state from the deadline found on has no earlier one.
    return Math.min(earliest, ...(await readPage(Math.min(earliest, until), MAX_COMPARED)).dues);
  }

  return async (rule, limit) => {
    const now = clock.now();
    let count = 0;
    let nextDue: Instant | null = null;
    let from: Instant = Number.MIN_SAFE_INTEGER;
    for (const horizon of HORIZONS_MS) {
      const until = horizon === null ? Number.MAX_SAFE_INTEGER : now + horizon;
      const range = { from, until: Math.min(until, nextDue ?? until) };
      const isCounted = count < limit;
      const filter = { 'waits.rule': rule, nextDue: queued({ $gte: from, $lt: until }) };
      const found = isCounted ? await attempt(() => ruleStates.countDocuments(filter, { limit: limit - count })) : 0;
      if (from < range.until && (found > 0 || !isCounted)) {
        nextDue = earlier(nextDue, await earliestOf(rule, range));
      }
      count += found;
      if (count >= limit && nextDue !== null && nextDue <= until) break;
      from = until;
    }
    return { count, nextDue };
  };
}
