import type { Duration } from '@carillon/kernel';
import type { Turns } from '@carillon/ports';

/** A turn that is long enough to get something done, and short enough that nobody notices. */
const LONGEST_TURN: Duration = 5;

/** Turns of this process's event loop. All who share them take turns: one goes on in each, so that many are as fair as one. */
export function createTurns(longest: Duration = LONGEST_TURN): Turns {
  const waiting: (() => void)[] = [];
  let began = performance.now();

  function goOn(): void {
    began = performance.now();
    waiting.shift()?.();
    // An immediate that is set in this turn runs in the next one, after input.
    if (waiting.length > 0) setImmediate(goOn);
  }

  return {
    isOver: () => performance.now() - began >= longest,
    next: () =>
      new Promise((resolve) => {
        if (waiting.push(resolve) === 1) setImmediate(goOn);
      }),
  };
}
