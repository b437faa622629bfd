import { isJsonObject, type Json, type JsonObject } from '@carillon/kernel';

const LONGEST_POINTER = 500;

/** RFC 6901 pointer to the value at the end of these steps; undefined where it would be too long to show. */
export function pointerTo(steps: readonly (string | number)[]): string | undefined {
  const pointer = steps.map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
  return pointer.length > LONGEST_POINTER ? undefined : pointer;
}

/** Returns the field names of a stream's path after `event`, such as `event.order_id`. Null if the path is invalid. */
export function stepsOf(path: string): readonly string[] | null {
  const [root, ...steps] = path.split('.');
  return root === 'event' && steps.length > 0 && !steps.includes('') ? steps : null;
}

/**
 * The value at the key or time path of a stream (`event.order_id`). Fields of objects only: nothing inherited, no
 * lengths or items of lists. Undefined where there is none.
 */
export function valueAtPath(body: JsonObject, path: string): Json | undefined {
  const steps = stepsOf(path);
  if (steps === null) return undefined;
  let value: Json | undefined = body;
  for (const step of steps) {
    if (!isJsonObject(value) || !Object.hasOwn(value, step)) return undefined;
    value = value[step];
  }
  return value;
}
