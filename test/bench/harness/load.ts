import { setTimeout as sleep } from 'node:timers/promises';
import type { Reading } from './bench.ts';
import { createDelays, recordDelay } from './delays.ts';

export type ClosedLoad = {
  /** How many are open at any time. */
  readonly open: number;
  /** No new one is begun after so long. */
  readonly seconds: number;
};

export type CountedLoad = {
  /** How many are open at any time. */
  readonly open: number;
  /** How many are begun in all. */
  readonly count: number;
};

/** Saturation: a new one begins when one ends. The time runs until the last has ended; delays count from the beginning of each. */
export async function closedLoop(
  load: ClosedLoad | CountedLoad,
  one: (n: number) => Promise<unknown>,
): Promise<Reading> {
  const delays = createDelays();
  const begun = performance.now();
  let done = 0;
  let next = 0;
  const goesOn = (now: number): boolean => ('count' in load ? next < load.count : now - begun < load.seconds * 1000);
  const lane = async (): Promise<void> => {
    for (let from = performance.now(); goesOn(from); from = performance.now()) {
      const n = next;
      next += 1;
      await one(n);
      recordDelay(delays, performance.now() - from);
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: load.open }, lane));
  return { done, seconds: (performance.now() - begun) / 1000, delays };
}

export type OpenLoad = {
  /** How many are begun in a second, at even distances. */
  readonly rate: number;
  readonly seconds: number;
};

/**
 * Latency: each begins at its time, however many are still open. A delay counts from the time at which one should have
 * begun, so that a stalled side cannot hide what waited behind the stall.
 */
export async function openLoop({ rate, seconds }: OpenLoad, one: (n: number) => Promise<unknown>): Promise<Reading> {
  const delays = createDelays();
  const total = Math.floor(rate * seconds);
  const begun = performance.now();
  const running: Promise<void>[] = [];
  const dueAt = (n: number): number => begun + (n / rate) * 1000;
  for (let n = 0; n < total;) {
    const now = performance.now();
    for (; n < total && dueAt(n) <= now; n += 1) {
      const due = dueAt(n);
      running.push(one(n).then(() => recordDelay(delays, performance.now() - due)));
    }
    if (n < total) await sleep(Math.max(1, dueAt(n) - performance.now()));
  }
  await Promise.all(running);
  return { done: total, seconds: (performance.now() - begun) / 1000, delays };
}

/** Calls `work`, which does `batch` of them at once, until the time is over: for work that waits for nothing. */
export function spin(seconds: number, batch: number, work: () => void): Reading {
  const begun = performance.now();
  let done = 0;
  let passed = 0;
  while (passed < seconds * 1000) {
    work();
    done += batch;
    passed = performance.now() - begun;
  }
  return { done, seconds: passed / 1000 };
}
