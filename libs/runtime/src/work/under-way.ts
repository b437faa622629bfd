import type { Duration } from '@carillon/kernel';
import { pause } from '../lifecycle/loop.ts';

/** Work that nobody waits for, but that a stop does. What fails in it is reported, and nothing else ends by it. */
export function createUnderWay(trouble: (where: string, error: unknown) => void) {
  const underWay = new Set<Promise<void>>();

  /** Until nothing is under way, what began meanwhile included. */
  async function ended(): Promise<void> {
    while (underWay.size > 0) await Promise.all(underWay);
  }

  return {
    begin(where: string, work: Promise<void>): void {
      const watched: Promise<void> = work
        .catch((error: unknown) => trouble(where, error))
        .finally(() => underWay.delete(watched));
      underWay.add(watched);
    },
    ended,
    /** Resolves when all has ended, or after the span. */
    async endedWithin(span: Duration): Promise<void> {
      const inTime = new AbortController();
      await Promise.race([ended(), pause(Math.max(0, span), inTime.signal)]);
      inTime.abort();
    },
  };
}
export type UnderWay = ReturnType<typeof createUnderWay>;
