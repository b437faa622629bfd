import type { Duration } from '@carillon/kernel';
import type { EventLoopSlice } from '@carillon/ports';

/**
 * A turn, ms: a message goes on through some ten turns from its event until it is sent, and waits in each behind one turn of
 * somebody else's long work. Giving way costs some 20 µs.
 */
const LONGEST_TURN: Duration = 1;

/** Turns of this process's event loop. All who share them take turns: one goes on in each, so that many are as fair as one. */
export function createEventLoopSlice(longest: Duration = LONGEST_TURN): EventLoopSlice {
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
