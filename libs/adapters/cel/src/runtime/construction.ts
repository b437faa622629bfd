import { mapKeyOf } from './comparison.ts';
import type { MapEntry, MapKey, Value } from './values.ts';
import { CelError, CelMap, noOverload, Optional, shownType } from './values.ts';

/** Positions that were written with `?`: what stands there is an optional, and left out where it is empty. */
type Marked = ReadonlySet<number> | null;

const unwrap = (value: Value): Value | undefined => (value instanceof Optional ? value.held : noOverload('?', value));

export function makeList(items: readonly Value[], optional: Marked): Value {
  const failed = items.find((item) => item instanceof CelError);
  if (failed || optional === null) return failed ?? items;
  const kept: Value[] = [];
  for (const [at, item] of items.entries()) {
    const value = optional.has(at) ? unwrap(item) : item;
    if (value instanceof CelError) return value;
    if (value !== undefined) kept.push(value);
  }
  return kept;
}

/** Keys and values in turn. A key is text, a whole number or a boolean, and only once. */
export function makeMap(entries: readonly Value[], optional: Marked): Value {
  const failed = entries.find((entry) => entry instanceof CelError);
  if (failed) return failed;
  const pairs = new Map<MapKey, MapEntry>();
  for (let at = 0; at < entries.length; at += 2) {
    const key = entries[at] ?? null;
    const value = optional?.has(at / 2) ? unwrap(entries[at + 1] ?? null) : (entries[at + 1] ?? null);
    if (value instanceof CelError) return value;
    if (value === undefined) continue;
    const known = typeof key === 'number' ? undefined : mapKeyOf(key);
    if (known === undefined) return new CelError(`a map key cannot be ${shownType(key)}`);
    if (pairs.has(known)) return new CelError(`the map has the key ${String(known).slice(0, 100)} twice`);
    pairs.set(known, { key, value });
  }
  return new CelMap(pairs);
}
