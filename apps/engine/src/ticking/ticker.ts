import type { Duration, Instant } from '@carillon/kernel';
import type { Clock, EventLog, RuleStateStore } from '@carillon/ports';
import type { Progress } from '@carillon/runtime';
import { tickRecord } from '@carillon/stages';

export type TickerPorts = {
  readonly log: Pick<EventLog, 'append'>;
  readonly ruleStates: Pick<RuleStateStore, 'earliestDue'>;
  readonly clock: Clock;
  /** How far this process has evaluated the partitions that it holds. */
  readonly progress: Pick<Progress, 'caughtUp'>;
};

/** A partition gets at most one tick in this time. */
export const TICK_INTERVAL: Duration = 1_000;

type Known = { readonly next: number; readonly due: Instant | null };

/**
 * Returns a round that appends a tick to each partition that this process holds and has read to its end, if a wait is overdue
 * there by its own clock. The store is asked again only after the position has moved, so a round of an idle install does
 * nothing.
 */
export function createTicker({ log, ruleStates, clock, progress }: TickerPorts): () => Promise<void> {
  let known = new Map<number, Known>();
  return async () => {
    const newest = new Map<number, Known>();
    for (const { partition, offset: next } of progress.caughtUp()) {
      const before = known.get(partition);
      newest.set(partition, before?.next === next ? before : { next, due: await ruleStates.earliestDue(partition) });
    }
    known = newest;
    const now = clock.now();
    const overdue = [...newest].filter(([, { due }]) => due !== null && due < now);
    if (overdue.length > 0) await log.append(overdue.map(([partition]) => tickRecord(partition)));
  };
}
