import type { Meter } from './meter.ts';
import { TOO_COMPLEX } from './meter.ts';
import { OBJECT_KEY, TEXT_ORDERED, TEXT_READ, VALUES_COMPARED } from './prices.ts';
import type { JsonObject } from '@carillon/kernel';
import type { MapKey, Value } from './values.ts';
import { CelError, CelMap, isList, isMap, noOverload, Optional, Span, Timestamp, TypeValue, Uint } from './values.ts';

type Number64 = number | bigint;

/** Int, uint and double are compared as the numbers that they are; JavaScript compares bigint with number exactly. */
export const numberOf = (value: Value): Number64 | undefined => {
  if (typeof value === 'number' || typeof value === 'bigint') return value;
  return value instanceof Uint ? value.whole : undefined;
};

/** Deeper data than this is not compared: recursion has to end somewhere, and events are not that deep. */
const MAX_DEPTH = 200;

/** Deep equality; values of different types are unequal, not an error. */
export function equal(meter: Meter, left: Value, right: Value): boolean | CelError {
  if (left instanceof CelError) return left;
  if (right instanceof CelError) return right;
  const same = equalAt(meter, left, right, 0);
  return meter.left < 0 ? TOO_COMPLEX : same;
}

function equalAt(meter: Meter, left: Value, right: Value, depth: number): boolean {
  if (depth > MAX_DEPTH) return meter.refuse();
  if (!meter.spend(VALUES_COMPARED)) return false;
  if (typeof left === 'string') return typeof right === 'string' && equalText(meter, left, right);
  if (left === right) return true;
  const number = numberOf(left);
  if (number !== undefined) {
    const other = numberOf(right);
    // oxlint-disable-next-line eqeqeq -- == is the exact comparison of bigint with number
    return other !== undefined && number == other;
  }
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false;
  if (isList(left)) {
    if (!isList(right) || left.length !== right.length) return false;
    return left.every((item, index) => equalAt(meter, item, right[index] ?? null, depth + 1));
  }
  if (isMap(left)) return isMap(right) && equalMaps(meter, left, right, depth + 1);
  return equalScalars(meter, left, right, depth);
}

/** Texts of one length may have to be read to their ends. */
const equalText = (meter: Meter, left: string, right: string): boolean =>
  left.length === right.length && meter.spend(left.length * TEXT_READ) && left === right;

function equalScalars(meter: Meter, left: Value & object, right: Value & object, depth: number): boolean {
  if (left instanceof Timestamp) return right instanceof Timestamp && left.nanos === right.nanos;
  if (left instanceof Span) return right instanceof Span && left.nanos === right.nanos;
  if (left instanceof TypeValue) return right instanceof TypeValue && left.typeName === right.typeName;
  if (left instanceof Uint8Array) {
    if (!(right instanceof Uint8Array) || left.length !== right.length) return false;
    return meter.spend(left.length * TEXT_READ) && Buffer.compare(left, right) === 0;
  }
  if (left instanceof Optional && right instanceof Optional) {
    if (left.held === undefined || right.held === undefined) return left.held === right.held;
    return equalAt(meter, left.held, right.held, depth + 1);
  }
  return false;
}

type AnyMap = CelMap | JsonObject;

function equalMaps(meter: Meter, left: AnyMap, right: AnyMap, depth: number): boolean {
  const keys = keysOf(left);
  // Both key lists are paid for here. Each entry is paid for again when it is compared.
  if (!meter.spend(2 * keys.length * OBJECT_KEY) || keys.length !== mapSize(right)) return false;
  return keys.every((key) => {
    const other = lookup(right, key);
    return other !== undefined && equalAt(meter, lookup(left, key) ?? null, other, depth);
  });
}

export const mapSize = (map: AnyMap): number => (map instanceof CelMap ? map.pairs.size : Object.keys(map).length);

export const keysOf = (map: AnyMap): readonly Value[] =>
  map instanceof CelMap ? [...map.pairs.values()].map(({ key }) => key) : Object.keys(map);

/** Own entries only: a name on a prototype is no field. */
export function lookup(map: AnyMap, key: Value): Value | undefined {
  if (!(map instanceof CelMap)) return typeof key === 'string' && Object.hasOwn(map, key) ? map[key] : undefined;
  const known = mapKeyOf(key);
  return known === undefined ? undefined : map.pairs.get(known)?.value;
}

/** Int, uint and whole doubles are the same key. */
export function mapKeyOf(key: Value): MapKey | undefined {
  if (typeof key === 'string' || typeof key === 'bigint' || typeof key === 'boolean') return key;
  if (key instanceof Uint) return key.whole;
  return typeof key === 'number' && Number.isInteger(key) ? BigInt(key) : undefined;
}

const isSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdfff;

/** Order by code points, where JavaScript's own `<` orders by UTF-16 units. */
function compareText(left: string, right: string): number {
  const shorter = Math.min(left.length, right.length);
  for (let at = 0; at < shorter; at++) {
    const a = left.charCodeAt(at);
    const b = right.charCodeAt(at);
    if (a === b) continue;
    if (isSurrogate(a) !== isSurrogate(b)) return isSurrogate(a) ? 1 : -1;
    return a - b;
  }
  return left.length - right.length;
}

/** Negative, zero or positive; NaN where a double is NaN, so that every comparison is false. */
function compare(meter: Meter, left: Value, right: Value): number | CelError | undefined {
  const a = numberOf(left);
  const b = numberOf(right);
  if (a !== undefined && b !== undefined) return a < b ? -1 : a > b ? 1 : Number.isNaN(a) || Number.isNaN(b) ? NaN : 0;
  if (typeof left === 'string' && typeof right === 'string') {
    return meter.spend(Math.min(left.length, right.length) * TEXT_ORDERED) ? compareText(left, right) : TOO_COMPLEX;
  }
  if (typeof left === 'boolean' && typeof right === 'boolean') return Number(left) - Number(right);
  if (left instanceof Timestamp && right instanceof Timestamp) return compareWhole(left.nanos, right.nanos);
  if (left instanceof Span && right instanceof Span) return compareWhole(left.nanos, right.nanos);
  if (left instanceof Uint8Array && right instanceof Uint8Array) {
    return meter.spend(Math.min(left.length, right.length) * TEXT_READ) ? Buffer.compare(left, right) : TOO_COMPLEX;
  }
  return undefined;
}

const compareWhole = (left: bigint, right: bigint): number => (left < right ? -1 : left > right ? 1 : 0);

type Comparison = (meter: Meter, left: Value, right: Value) => boolean | CelError;

const comparison =
  (sign: string, holds: (order: number) => boolean): Comparison =>
  (meter, left, right) => {
    const order = compare(meter, left, right);
    if (order === undefined) return noOverload(sign, left, right);
    return order instanceof CelError ? order : holds(order);
  };

export const less = comparison('<', (order) => order < 0);
export const lessOrEqual = comparison('<=', (order) => order <= 0);
export const greater = comparison('>', (order) => order > 0);
export const greaterOrEqual = comparison('>=', (order) => order >= 0);

export function unequal(meter: Meter, left: Value, right: Value): boolean | CelError {
  const same = equal(meter, left, right);
  return same instanceof CelError ? same : !same;
}

/** `x in list` by equality; `key in map` by own key. */
export function contained(meter: Meter, item: Value, container: Value): boolean | CelError {
  if (item instanceof CelError) return item;
  if (isList(container)) {
    for (const element of container) {
      if (equalAt(meter, item, element, 0)) return true;
      if (meter.left < 0) return TOO_COMPLEX;
    }
    return false;
  }
  if (!isMap(container)) return noOverload('in', item, container);
  const found = lookup(container, item);
  return found instanceof CelError ? found : found !== undefined;
}
