import type { Duration } from '@carillon/kernel';
import { pause } from '../lifecycle/loop.ts';

/** Tracks background work that only a stop waits for. Failures are reported and have no other effect. */
export function createUnderWay(trouble: (where: string, error: unknown) => void) {
  const underWay = new Set<Promise<void>>();

  /** Waits until nothing is running, including work started meanwhile. */
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
    /** Resolves when all work has ended, or after the time span. */
    async endedWithin(span: Duration): Promise<void> {
      const inTime = new AbortController();
      await Promise.race([ended(), pause(Math.max(0, span), inTime.signal)]);
      inTime.abort();
    },
  };
}
export type UnderWay = ReturnType<typeof createUnderWay>;
