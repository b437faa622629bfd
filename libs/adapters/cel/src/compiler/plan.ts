import type { Callable } from '../runtime/functions.ts';
import type { LoopKind } from '../runtime/loops.ts';
import type { Pattern } from './pattern.ts';
import type { Value } from '../runtime/values.ts';

/** Operations of two operands, with JavaScript's own sign where generated code may take a short cut for it. */
export type BinaryName = '==' | '!=' | '<' | '<=' | '>' | '>=' | 'in' | '+' | '-' | '*' | '/' | '%';

/** Where a plan stands in the source, in UTF-16 units, brackets around it included. */
type Placed = { readonly start: number; readonly end: number };

/**
 * A checked expression: the allow-list of operations that can run. Names are resolved, patterns are compiled, and
 * macros are loops. Generated code, closures and all analyses read this tree.
 */
export type Plan = Placed &
  (
    | { readonly op: 'literal'; readonly value: Value }
    /** `whole`: neither a field of it is read nor a name looked for in it. */
    | { readonly op: 'root'; readonly name: string; readonly whole: boolean }
    | { readonly op: 'local'; readonly slot: number }
    | { readonly op: 'field' | 'optional_field' | 'has'; readonly of: Plan; readonly key: string }
    | { readonly op: 'index' | 'optional_index'; readonly of: Plan; readonly at: Plan }
    | { readonly op: 'and' | 'or'; readonly left: Plan; readonly right: Plan }
    | { readonly op: 'choose'; readonly test: Plan; readonly chosen: Plan; readonly otherwise: Plan }
    | { readonly op: 'binary'; readonly name: BinaryName; readonly left: Plan; readonly right: Plan }
    | { readonly op: 'not' | 'negate'; readonly of: Plan }
    | { readonly op: 'call'; readonly name: string; readonly run: Callable; readonly args: readonly Plan[] }
    | { readonly op: 'matches'; readonly of: Plan; readonly pattern: Pattern }
    | { readonly op: 'fallback'; readonly kind: 'orValue' | 'or'; readonly of: Plan; readonly other: Plan }
    | {
        readonly op: 'list' | 'map';
        readonly items: readonly Plan[];
        /** Elements, or entries, that are left out where their optional is empty; null: none. */
        readonly optional: ReadonlySet<number> | null;
      }
    | { readonly op: 'bind'; readonly slot: number; readonly value: Plan; readonly body: Plan }
    | ChangedPlan
    | LoopPlan
  );

/** `changed(of)`, `changedTo(of, to)`, `changedFromTo(of, from, to)`. */
export type ChangedPlan = {
  readonly op: 'changed';
  /** The path of the event, and the same path of `previous`. */
  readonly of: Plan;
  readonly before: Plan;
  readonly path: readonly string[];
  readonly from: Plan | null;
  readonly to: Plan | null;
};

export type LoopPlan = {
  readonly op: 'loop';
  readonly kind: LoopKind;
  readonly over: Plan;
  readonly slot: number;
  readonly test: Plan;
  /** Expression that makes each element of the result: the third argument of the CEL macro `map(x, test, make)`. */
  readonly make: Plan | null;
  /** Steps per iteration. */
  readonly cost: number;
};

/** What a field or a name is looked for in. */
export const partOf = (plan: Plan): Plan => (plan.op === 'root' ? { ...plan, whole: false } : plan);

/** Parts in the order in which they are written; those of a loop or a binding see a name of their own. */
export function partsOf(plan: Plan): readonly Plan[] {
  switch (plan.op) {
    case 'literal':
    case 'root':
    case 'local':
      return [];
    case 'index':
    case 'optional_index':
      return [plan.of, plan.at];
    case 'and':
    case 'or':
    case 'binary':
      return [plan.left, plan.right];
    case 'choose':
      return [plan.test, plan.chosen, plan.otherwise];
    case 'call':
      return plan.args;
    case 'fallback':
      return [plan.of, plan.other];
    case 'list':
    case 'map':
      return plan.items;
    case 'bind':
      return [plan.value, plan.body];
    case 'changed':
      return [plan.of, plan.before, ...[plan.from, plan.to].filter((part) => part !== null)];
    case 'loop':
      return plan.make === null ? [plan.over, plan.test] : [plan.over, plan.test, plan.make];
    case 'field':
    case 'optional_field':
    case 'has':
    case 'not':
    case 'negate':
    case 'matches':
      return [plan.of];
  }
}
