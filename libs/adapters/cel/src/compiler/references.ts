import type { FieldReference } from '@carillon/domain';
import type { Plan } from './plan.ts';
import { partsOf } from './plan.ts';

const ROOTS = ['event', 'item', 'variables'] as const;
type Root = FieldReference['root'];
const isRoot = (name: string): name is Root => ROOTS.some((root) => root === name);

const PLAIN = /^[A-Za-z_]\w*$/;

const below = (path: string, key: string): string => {
  if (!PLAIN.test(key)) return `${path}[${JSON.stringify(key)}]`;
  return path === '' ? key : `${path}.${key}`;
};

/**
 * The fields that an expression refers to, in the order of their first mention. A name of a loop stands for the
 * elements of its list: `event.items.exists(i, i.qty > 2)` refers to `items` and `items[].qty`.
 */
export function fieldReferences(plan: Plan): readonly FieldReference[] {
  const found = new Map<string, FieldReference>();
  visit(plan, new Map(), (reference) => {
    const key = `${reference.root} ${reference.path} ${reference.dynamic}`;
    if (!found.has(key)) found.set(key, reference);
  });
  return [...found.values()];
}

type Locals = ReadonlyMap<number, FieldReference>;

function visit(plan: Plan, locals: Locals, report: (reference: FieldReference) => void): void {
  const reference = isPath(plan) ? referenceOf(plan, locals) : undefined;
  if (reference) {
    report(reference);
    visitIndexes(plan, locals, report);
    return;
  }
  if (plan.op === 'bind' || plan.op === 'loop') {
    const source = plan.op === 'bind' ? plan.value : plan.over;
    visit(source, locals, report);
    const value = referenceOf(source, locals);
    const element = plan.op === 'loop' && value ? { ...value, path: `${value.path}[]` } : value;
    const inner = element ? new Map([...locals, [plan.slot, element] as const]) : locals;
    for (const part of partsOf(plan).slice(1)) visit(part, inner, report);
    return;
  }
  for (const part of partsOf(plan)) visit(part, locals, report);
}

const isPath = ({ op }: Plan): boolean =>
  op === 'root' ||
  op === 'local' ||
  op === 'field' ||
  op === 'optional_field' ||
  op === 'has' ||
  op === 'index' ||
  op === 'optional_index';

/** A computed index refers to fields itself. */
function visitIndexes(plan: Plan, locals: Locals, report: (reference: FieldReference) => void): void {
  if (!('of' in plan)) {
    if (!isPath(plan)) visit(plan, locals, report);
    return;
  }
  if (!isPath(plan)) return visit(plan, locals, report);
  visitIndexes(plan.of, locals, report);
  if ('at' in plan) visit(plan.at, locals, report);
}

/** What a value is in terms of fields, where that can be said. */
function referenceOf(plan: Plan, locals: Locals): FieldReference | undefined {
  switch (plan.op) {
    case 'root':
      return isRoot(plan.name) ? { root: plan.name, path: '', dynamic: false } : undefined;
    case 'local':
      return locals.get(plan.slot);
    case 'field':
    case 'optional_field':
    case 'has': {
      const of = referenceOf(plan.of, locals);
      return of && (of.dynamic ? of : { ...of, path: below(of.path, plan.key) });
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
      return undefined;
  }
}

function indexed(of: FieldReference, at: Plan): FieldReference {
  const key = at.op === 'literal' ? at.value : undefined;
  if (typeof key === 'string') return { ...of, path: below(of.path, key) };
  return typeof key === 'bigint' ? { ...of, path: `${of.path}[${key}]` } : { ...of, dynamic: true };
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
