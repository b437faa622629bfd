import { pathText, type FieldStep, type JsonType } from '@carillon/domain/events';
import type { FieldReference } from '@carillon/domain/rules';
import { expectedTypes } from './expected-types.ts';
import type { LoopPlan, Plan } from './plan.ts';
import { partsOf } from './plan.ts';

const ROOTS = ['event', 'item', 'variables', 'previous', 'op', 'source', 'deadline', 'totals'] as const;
type Root = FieldReference['root'];
const isRoot = (name: string): name is Root => ROOTS.some((root) => root === name);

const below = (of: FieldReference, step: FieldStep): FieldReference => {
  const steps = [...of.steps, step];
  return { ...of, steps, path: pathText(steps) };
};

/**
 * Returns the fields an expression uses, in order of their first use. A loop variable stands for the elements of its
 * list: `event.items.exists(i, i.qty > 2)` uses `items` and `items[].qty`. `expected` is the result type that the
 * context requires.
 */
export function fieldReferences(plan: Plan, expected: JsonType | null = null): readonly FieldReference[] {
  const found = new Map<string, FieldReference>();
  visit(plan, expected, new Map(), (reference, type) => {
    const key = `${reference.root} ${reference.path} ${reference.dynamic}`;
    const known = found.get(key);
    found.set(key, { ...reference, type: known?.type ?? type });
  });
  return [...found.values()];
}

export type Locals = ReadonlyMap<number, FieldReference>;
type Report = (reference: FieldReference, type: JsonType | null) => void;

function visit(plan: Plan, expected: JsonType | null, locals: Locals, report: Report): void {
  const reference = isPath(plan) ? referenceOf(plan, locals) : undefined;
  if (reference) {
    // Whether a field is there says nothing of what it is.
    report(reference, plan.op === 'has' || reference.dynamic ? null : expected);
    visitIndexes(plan, locals, report);
    return;
  }
  const parts = partsOf(plan);
  const types = expectedTypes(plan);
  const [first] = parts;
  if ((plan.op === 'bind' || plan.op === 'loop') && first) {
    visit(first, types[0] ?? null, locals, report);
    const inner = plan.op === 'loop' ? withElement(plan, locals) : withValue(plan, locals);
    for (const [at, part] of parts.slice(1).entries()) visit(part, types[at + 1] ?? null, inner, report);
    return;
  }
  for (const [at, part] of parts.entries()) visit(part, types[at] ?? null, locals, report);
}

/** The names around the body of a loop: its own stands for each element of the list. */
export function withElement(plan: LoopPlan, locals: Locals): Locals {
  const list = referenceOf(plan.over, locals);
  return list ? new Map([...locals, [plan.slot, list.dynamic ? list : below(list, null)] as const]) : locals;
}

function withValue(plan: Extract<Plan, { op: 'bind' }>, locals: Locals): Locals {
  const value = referenceOf(plan.value, locals);
  return value ? new Map([...locals, [plan.slot, value] as const]) : locals;
}

export const isPath = ({ op }: Plan): boolean =>
  op === 'root' ||
  op === 'local' ||
  op === 'field' ||
  op === 'optional_field' ||
  op === 'has' ||
  op === 'index' ||
  op === 'optional_index';

/** A computed index refers to fields itself. */
function visitIndexes(plan: Plan, locals: Locals, report: Report): void {
  if (!('of' in plan)) {
    if (!isPath(plan)) visit(plan, null, locals, report);
    return;
  }
  if (!isPath(plan)) return visit(plan, null, locals, report);
  visitIndexes(plan.of, locals, report);
  if ('at' in plan) visit(plan.at, null, locals, report);
}

/** Returns the field that a plan refers to, or undefined if it refers to none. */
export function referenceOf(plan: Plan, locals: Locals): FieldReference | undefined {
  switch (plan.op) {
    case 'root':
      return isRoot(plan.name) ? { root: plan.name, path: '', steps: [], type: null, dynamic: false } : undefined;
    case 'local':
      return locals.get(plan.slot);
    case 'field':
    case 'optional_field':
    case 'has': {
      const of = referenceOf(plan.of, locals);
      return of && (of.dynamic ? of : below(of, plan.key));
    }
    case 'index':
    case 'optional_index': {
      const of = referenceOf(plan.of, locals);
      return of && (of.dynamic ? of : indexed(of, plan.at));
    }
    case 'fallback':
      return referenceOf(plan.of, locals);
    case 'loop':
      return plan.kind === 'filter' ? referenceOf(plan.over, locals) : undefined;
    case 'literal':
    case 'and':
    case 'or':
    case 'choose':
    case 'binary':
    case 'not':
    case 'negate':
    case 'call':
    case 'matches':
    case 'list':
    case 'map':
    case 'bind':
    case 'changed':
      return undefined;
  }
}

function indexed(of: FieldReference, at: Plan): FieldReference {
  const key = at.op === 'literal' ? at.value : undefined;
  if (typeof key === 'string') return below(of, key);
  return typeof key === 'bigint' ? below(of, Number(key)) : { ...of, dynamic: true };
}

export const mentions = (plan: Plan, name: string): boolean =>
  (plan.op === 'root' && plan.name === name) || partsOf(plan).some((part) => mentions(part, name));

/** `event.customer.id`: fields only, from the event on. */
export const isFieldPath = (plan: Plan): boolean => {
  if (plan.op === 'index' && !(plan.at.op === 'literal' && typeof plan.at.value === 'string')) return false;
  return (
    (plan.op === 'field' || plan.op === 'index') &&
    (plan.of.op === 'root' ? plan.of.name === 'event' : isFieldPath(plan.of))
  );
};
