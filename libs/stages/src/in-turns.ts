import type { InParts } from '@carillon/kernel';
import type { Turns } from '@carillon/ports';

/**
 * Does work in parts, and goes on in a later turn of the event loop whenever one has lasted long enough. The value itself,
 * without a promise, where it is there at once: a promise for each event would take as long as a rule.
 */
export function inTurns<Value>(work: InParts<Value>, turns: Turns): Value | Promise<Value> {
  for (;;) {
    const part = work.next();
    if (part.done) return part.value;
    if (turns.isOver()) return inLaterTurns(work, turns);
  }
}

async function inLaterTurns<Value>(work: InParts<Value>, turns: Turns): Promise<Value> {
  for (;;) {
    await turns.next();
    do {
      const part = work.next();
      if (part.done) return part.value;
    } while (!turns.isOver());
  }
}
