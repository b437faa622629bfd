import type { Coroutine } from '@carillon/kernel';
import type { EventLoopSlice } from '@carillon/ports';

/**
 * Runs a coroutine and yields to the event loop whenever the slice has expired. Returns the value itself, not a promise, if the
 * coroutine ends within the slice, because a promise per event costs as much as a rule.
 */
export function runYielding<Value>(work: Coroutine<Value>, slice: EventLoopSlice): Value | Promise<Value> {
  for (;;) {
    const part = work.next();
    if (part.done) return part.value;
    if (slice.isExpired()) return continueYielding(work, slice);
  }
}

async function continueYielding<Value>(work: Coroutine<Value>, slice: EventLoopSlice): Promise<Value> {
  for (;;) {
    await slice.yield();
    do {
      const part = work.next();
      if (part.done) return part.value;
    } while (!slice.isExpired());
  }
}
