import type { Duration } from '@carillon/kernel';
import type { EventLoopSlice } from '@carillon/ports';

/**
 * Milliseconds of a slice. A message passes through about ten ticks from event to sending, and waits in each for one slice of other
 * long work. Yielding costs about 20 µs.
 */
const SLICE_MS: Duration = 1;

/** Creates the slice of this process. All users share it: one of them continues per tick, so many are as fair as one. */
export function createEventLoopSlice(longest: Duration = SLICE_MS): EventLoopSlice {
  const waiting: (() => void)[] = [];
  let began = performance.now();

  function goOn(): void {
    began = performance.now();
    waiting.shift()?.();
    // An immediate that is set in this turn runs in the next one, after input.
    if (waiting.length > 0) setImmediate(goOn);
  }

  return {
    isExpired: () => performance.now() - began >= longest,
    yield: () =>
      new Promise((resolve) => {
        if (waiting.push(resolve) === 1) setImmediate(goOn);
      }),
  };
}
