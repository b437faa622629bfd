/** Long work in parts: between two parts, at each `yield`, somebody else may have a turn. Its result does not depend on that. */
export type InParts<Value> = Generator<undefined, Value, undefined>;

/** Does the work without a pause. */
export function inOneGo<Value>(work: InParts<Value>): Value {
  for (;;) {
    const part = work.next();
    if (part.done) return part.value;
  }
}
