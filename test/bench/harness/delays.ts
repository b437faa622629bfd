import { createHistogram, type Histogram, type RecordableHistogram } from 'node:perf_hooks';

/** Keeps delays of 1 µs to an hour with three digits, in microseconds. Record with `recordDelay`. */
export const createDelays = (): RecordableHistogram =>
  createHistogram({ lowest: 1, highest: 3_600_000_000, figures: 3 });

export const recordDelay = (delays: RecordableHistogram, milliseconds: number): void =>
  delays.record(Math.max(1, Math.round(milliseconds * 1000)));

/** Milliseconds. */
export type Quantiles = { readonly p50: number; readonly p99: number; readonly max: number };

export const quantilesOf = (delays: Histogram): Quantiles => ({
  p50: delays.percentile(50) / 1000,
  p99: delays.percentile(99) / 1000,
  max: delays.max / 1000,
});
