import { keysOf } from './comparison.ts';
import type { Meter } from './meter.ts';
import { TOO_COMPLEX } from './meter.ts';
import { OBJECT_KEY } from './prices.ts';
import type { Value } from './values.ts';
import { CelError, isList, isMap, noOverload } from './values.ts';

/** Evaluates the body for one item. */
export type Body = (item: Value) => Value;

export type LoopKind = 'all' | 'exists' | 'exists_one' | 'filter' | 'map';

/** Every loop pays for its body at each turn, so that the budget bounds nested ones too. */
export type Loop = (meter: Meter, over: Value, cost: number, test: Body, make: Body | null) => Value;

/** Lists give their elements, maps their keys. */
export function itemsOf(meter: Meter, name: LoopKind, over: Value): readonly Value[] | CelError {
  if (isList(over)) return over;
  if (!isMap(over)) return noOverload(name, over);
  const items = keysOf(over);
  return meter.spend(items.length * OBJECT_KEY) ? items : TOO_COMPLEX;
}

/** `all` and `exists` go on past errors and not past the value that decides; the error counts only if none does. */
function quantifier(name: 'all' | 'exists', deciding: boolean): Loop {
  return (meter, over, cost, test) => {
    const items = itemsOf(meter, name, over);
    if (items instanceof CelError) return items;
    let failed: CelError | null = null;
    for (const item of items) {
      if (!meter.spend(cost)) return TOO_COMPLEX;
      const holds = test(item);
      if (holds === deciding) return deciding;
      if (holds !== !deciding) failed ??= noOverload(name, holds);
    }
    return failed ?? !deciding;
  };
}

const existsOne: Loop = (meter, over, cost, test) => {
  const items = itemsOf(meter, 'exists_one', over);
  if (items instanceof CelError) return items;
  let count = 0;
  for (const item of items) {
    if (!meter.spend(cost)) return TOO_COMPLEX;
    const holds = test(item);
    if (typeof holds !== 'boolean') return noOverload('exists_one', holds);
    if (holds) count++;
  }
  return count === 1;
};

const filter: Loop = (meter, over, cost, test) => {
  const items = itemsOf(meter, 'filter', over);
  if (items instanceof CelError) return items;
  const kept: Value[] = [];
  for (const item of items) {
    if (!meter.spend(cost)) return TOO_COMPLEX;
    const holds = test(item);
    if (typeof holds !== 'boolean') return noOverload('filter', holds);
    if (holds) kept.push(item);
  }
  return kept;
};

const always: Body = () => true;

/** `map(x, make)`, or `map(x, test, make)`. */
const map: Loop = (meter, over, cost, test, make) => {
  const items = itemsOf(meter, 'map', over);
  if (items instanceof CelError) return items;
  const made: Value[] = [];
  const wanted = make === null ? always : test;
  const body = make ?? test;
  for (const item of items) {
    if (!meter.spend(cost)) return TOO_COMPLEX;
    const holds = wanted(item);
    if (typeof holds !== 'boolean') return noOverload('map', holds);
    if (!holds) continue;
    const value = body(item);
    if (value instanceof CelError) return value;
    made.push(value);
  }
  return made;
};

export const LOOPS: Readonly<Record<LoopKind, Loop>> = {
  all: quantifier('all', false),
  exists: quantifier('exists', true),
  exists_one: existsOne,
  filter,
  map,
};
