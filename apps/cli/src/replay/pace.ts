import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import type { EventHistory } from '@carillon/ports';

const LOOK_INTERVAL_MS = 1_000;
/** Records appended to `carillon.events` per second from which the intake counts as busy. */
const BUSY_RECORDS_PER_SECOND = 50;

/** Slows a run down while events come in. */
export type Pace = {
  /**
   * Called after each page that is read. Returns to the event loop, so that the child notices the end of its parent. While the intake
   * is busy, waits for as long as the page took since `startedAt` of `performance.now()`.
   */
  afterPage(startedAt: number): Promise<void>;
};

/** Returns the pace of a run. Looks at the end of the log once per `lookIntervalMs`. */
export function createPace(
  history: Pick<EventHistory, 'partitions' | 'bounds'>,
  lookIntervalMs = LOOK_INTERVAL_MS,
): Pace {
  const partitions = Array.from({ length: history.partitions('carillon.events') }, (_, partition) => partition);
  let seen: { readonly at: number; readonly end: number } | null = null;
  let isBusy = false;

  async function look(now: number): Promise<void> {
    if (seen && now - seen.at < lookIntervalMs) return;
    const bounds = await Promise.all(partitions.map((partition) => history.bounds('carillon.events', partition)));
    const end = bounds.reduce((sum, bound) => sum + bound.end, 0);
    if (seen) isBusy = ((end - seen.end) * 1_000) / (now - seen.at) >= BUSY_RECORDS_PER_SECOND;
    seen = { at: now, end };
  }

  return {
    async afterPage(startedAt) {
      const now = performance.now();
      await look(now);
      await (isBusy ? pause(now - startedAt) : nextTurn());
    },
  };
}
