/** A coroutine for long work. At each `yield` its runner may return to the event loop. The result must not depend on whether it does. */
export type Coroutine<Value> = Generator<undefined, Value, undefined>;

/** Runs a coroutine to its end without returning to the event loop. */
export function runToCompletion<Value>(work: Coroutine<Value>): Value {
  for (;;) {
    const part = work.next();
    if (part.done) return part.value;
  }
}
