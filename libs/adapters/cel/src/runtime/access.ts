import type { Meter } from './meter.ts';
import { lookup, numberOf } from './comparison.ts';
import type { Value } from './values.ts';
import { CelError, isList, isMap, isObject, NONE, noOverload, Optional, shownType } from './values.ts';

const missing = (key: Value): CelError =>
  new CelError(`no such field: ${typeof key === 'string' ? key.slice(0, 100) : shownKey(key)}`);
const shownKey = (key: Value): string => (numberOf(key) === undefined ? shownType(key) : String(numberOf(key)));

const noElement = (key: string): CelError =>
  new CelError(`a list has no field ${key.slice(0, 100)}; take an element, or use exists, map or filter`);

/** An entry of a map or an element of a list; undefined where it is not there. */
function find(of: Value, key: Value): Value | undefined {
  if (of instanceof CelError) return of;
  if (key instanceof CelError) return key;
  if (isMap(of)) return lookup(of, key);
  if (!isList(of)) return of === null ? undefined : noOverload('[]', of, key);
  const at = numberOf(key);
  if (at === undefined) return typeof key === 'string' ? noElement(key) : noOverload('[]', of, key);
  return Number.isInteger(Number(at)) ? of[Number(at)] : new CelError(`not a whole index: ${at}`);
}

/** `of.key` and `of[key]`. On an optional the result is an optional, so that a chain goes on. */
export function access(of: Value, key: Value): Value {
  if (of instanceof Optional) return of.held === null ? missing(key) : maybeAccess(of, key);
  const found = find(of, key);
  if (found !== undefined) return found;
  return isList(of) ? new CelError(`index ${shownKey(key)} is outside the list of ${of.length}`) : missing(key);
}

/** `of.?key` and `of[?key]`. */
export function maybeAccess(of: Value, key: Value): Value {
  const inner = of instanceof Optional ? of.held : of;
  if (inner === undefined) return NONE;
  const found = find(inner, key);
  if (found instanceof CelError) return found;
  return found === undefined ? NONE : new Optional(found);
}

/** `has(of.key)`: whether the entry is there, be it null. */
export function has(of: Value, key: string): Value {
  if (of instanceof CelError) return of;
  const inner = of instanceof Optional ? of.held : of;
  if (inner === undefined) return false;
  if (!isMap(inner)) return noOverload('has', inner);
  const found = lookup(inner, key);
  return found instanceof CelError ? found : found !== undefined;
}

/** `has` of an object in which a name was read that no built-in object has, and nothing was found. */
export const hasUnread = (of: Value, key: string): Value => (isObject(of) ? false : has(of, key));

export function orValue(of: Value, other: () => Value): Value {
  if (of instanceof CelError) return of;
  if (!(of instanceof Optional)) return noOverload('orValue', of);
  return of.held === undefined ? other() : of.held;
}

export function or(of: Value, other: () => Value): Value {
  if (of instanceof CelError) return of;
  if (!(of instanceof Optional)) return noOverload('or', of);
  if (of.held !== undefined) return of;
  const fallback = other();
  return fallback instanceof Optional || fallback instanceof CelError ? fallback : noOverload('or', fallback);
}

export const valueOf = (_meter: Meter, of: Value): Value => {
  if (!(of instanceof Optional)) return noOverload('value', of);
  return of.held ?? (of.held === undefined ? new CelError('optional.none() has no value') : null);
};
