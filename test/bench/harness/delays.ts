import { setTimeout as sleep } from 'node:timers/promises';
import { createHistogram, type Histogram, type RecordableHistogram } from 'node:perf_hooks';

/** Keeps delays of 1 µs to an hour with three digits, in microseconds. Record with `recordDelay`. */
export const createDelays = (): RecordableHistogram =>
  createHistogram({ lowest: 1, highest: 3_600_000_000, figures: 3 });

export const recordDelay = (delays: RecordableHistogram, milliseconds: number): void =>
  delays.record(Math.max(1, Math.round(milliseconds * 1000)));

/** Milliseconds. */
export type Quantiles = { readonly p50: number; readonly p95: number; readonly p99: number; readonly max: number };

export const quantilesOf = (delays: Histogram): Quantiles => ({
  p50: delays.percentile(50) / 1000,
  p95: delays.percentile(95) / 1000,
  p99: delays.percentile(99) / 1000,
  max: delays.max / 1000,
});

/** Asks for one timer after the other until it is stopped, and measures by how much each is late: what blocks this thread shows. */
export function watchTimers(): { stop(): Promise<Histogram> } {
  const delays = createDelays();
  let stopped = false;
  const watching = (async () => {
    while (!stopped) {
      const due = performance.now() + 1;
      await sleep(1);
      recordDelay(delays, Math.max(0, performance.now() - due));
    }
  })();
  return {
    async stop() {
      stopped = true;
      await watching;
      return delays;
    },
  };
}
