import { mapKeyOf } from './comparison.ts';
import type { MapEntry, MapKey, Value } from './values.ts';
import { CelError, CelMap, shownType } from './values.ts';

export function makeList(items: readonly Value[]): Value {
  return items.find((item) => item instanceof CelError) ?? items;
}

/** Keys and values in turn. A key is text, a whole number or a boolean, and only once. */
export function makeMap(entries: readonly Value[]): Value {
  const failed = entries.find((entry) => entry instanceof CelError);
  if (failed) return failed;
  const pairs = new Map<MapKey, MapEntry>();
  for (let at = 0; at < entries.length; at += 2) {
    const key = entries[at] ?? null;
    const known = typeof key === 'number' ? undefined : mapKeyOf(key);
    if (known === undefined) return new CelError(`a map key cannot be ${shownType(key)}`);
    if (pairs.has(known)) return new CelError(`the map has the key ${String(known).slice(0, 100)} twice`);
    pairs.set(known, { key, value: entries[at + 1] ?? null });
  }
  return new CelMap(pairs);
}
