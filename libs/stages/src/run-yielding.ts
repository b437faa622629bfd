import type { Coroutine } from '@carillon/kernel';
import type { EventLoopSlice } from '@carillon/ports';

/**
 * Does work in parts, and goes on in a later turn of the event loop whenever one has lasted long enough. The value itself,
 * without a promise, where it is there at once: a promise for each event would take as long as a rule.
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
