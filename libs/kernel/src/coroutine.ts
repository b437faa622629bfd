/** Long work in parts: between two parts, at each `yield`, somebody else may have a turn. Its result does not depend on that. */
export type Coroutine<Value> = Generator<undefined, Value, undefined>;

/** Does the work without a pause. */
export function runToCompletion<Value>(work: Coroutine<Value>): Value {
  for (;;) {
    const part = work.next();
    if (part.done) return part.value;
  }
}
