import { rateOf, type AccountChoice } from '@carillon/domain/deliveries';
import type { Duration, Instant } from '@carillon/kernel';
import type { Clock } from '@carillon/ports';

export type RateDeps = {
  readonly clock: Clock;
  /** Returns this process's share of all work, from 0 to 1. The process may use that fraction of each rate. */
  readonly share: () => number;
  /** Resolves after this long, or when the signal ends. */
  readonly pause: (span: Duration, signal: AbortSignal) => Promise<void>;
};

/** Time for which an idle account may catch up on unused rate. */
const BURST: Duration = 100;
/** Interval after which a waiting call checks again, because rate or share may have changed. */
const LOOK_AGAIN: Duration = 1000;

/**
 * Holds messages of an account back to its `rate`. Every process goes by its share of the partitions, so that all of them
 * together keep the rate without asking one another. Who waits does so in the account's own lane.
 */
export function createRates({ clock, share, pause }: RateDeps) {
  /** Earliest time of the next message, per account, that keeps the account's rate. */
  const next = new Map<string, Instant>();

  return {
    /** Resolves when a message may go over the account. False: the signal ended before, and none may. */
    async take({ key, body }: AccountChoice, signal: AbortSignal): Promise<boolean> {
      const rate = rateOf(body);
      if (rate === null) return !signal.aborted;
      for (;;) {
        if (signal.aborted) return false;
        const now = clock.now();
        const spacing = 1000 / (rate * share());
        // Never longer than from one message to the next: the clock may have been set back, or the share have grown.
        const due = Math.min(next.get(key) ?? 0, now + spacing);
        next.set(key, due);
        if (due <= now) {
          next.set(key, Math.max(due, now - BURST) + spacing);
          return true;
        }
        await pause(Math.min(due - now, LOOK_AGAIN), signal);
      }
    },
  };
}
export type Rates = ReturnType<typeof createRates>;
