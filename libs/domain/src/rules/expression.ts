import type { Instant, Json } from '@carillon/kernel';
import type { UnknownReason, VisibleChange } from '../changes/visible-change.ts';
import type { FieldStep, JsonType } from '../events/field-path.ts';
import type { StepBudget } from './budget.ts';
import type { ExpressionForm, TextRange } from './expression-form.ts';
import type { FieldRoot, Requirement } from './requirement.ts';

/** Where an expression stands decides which names it sees (docs/expressions.md, docs/recipients.md). */
export type ExpressionPlace =
  | 'when'
  | 'unless'
  | 'at'
  | 'for_each'
  | 'recipient'
  | 'where'
  | 'path'
  | 'user_ids'
  | 'answer'
  | 'digest_key'
  | 'total_condition'
  | 'total_sum'
  | 'total_distinct';

/**
 * What the names mean for one evaluation. `item` only under `for_each`, `variables` only in `where` and after a lookup, the
 * names of a change only if the event is one.
 */
export type Bindings = Partial<VisibleChange> & {
  readonly event: Json;
  readonly event_id: string;
  readonly time: Instant;
  readonly item?: Json;
  readonly variables?: Json;
  /** Deadline of the wait that fires. */
  readonly deadline?: Instant;
  /** Totals of the rule by their names, including the event. */
  readonly totals?: Json;
};

/** A value, or the error in the CEL sense that the expression ended in. Timestamps and durations come as text. */
export type Evaluated =
  | { readonly ok: true; readonly value: Json }
  /** `reason`: the expression asked for a value that the database did not send. */
  | { readonly ok: false; readonly error: string; readonly reason?: UnknownReason };

/** One sub-expression with its value, outermost first: what `rule test` shows. */
export type Explained = { readonly source: string; readonly depth: number; readonly result: Evaluated };

/** A path of the event (or of `item`, `variables`) that an expression refers to. */
export type FieldReference = {
  readonly root: FieldRoot;
  /** `customer.email`, `items[].qty`; empty where the root itself is used whole. */
  readonly path: string;
  readonly steps: readonly FieldStep[];
  /** What its place in the expression needs it to be; null where any value does. */
  readonly type: JsonType | null;
  /** True where an index is computed, so that the path is only a beginning. */
  readonly dynamic: boolean;
};

/** A checked expression. Evaluation never throws, has no side effects and always ends: it takes no more steps than its budget has. */
export type Expression = {
  readonly source: string;
  readonly fields: readonly FieldReference[];
  /** Whether it mentions `item`: `for_each` with a unique_id that does not is warned of. */
  readonly usesItem: boolean;
  /** Steps that it takes on a large event: lists of 100 entries, texts of 10,000 characters, of one item 500. */
  readonly largeSteps: number;
  /** Its steps are taken off the budget. Asking for more than is left exhausts it, and ends in the error `too_complex`. */
  evaluate(bindings: Bindings, budget: StepBudget): Evaluated;
  /** On budgets of its own: as much as a rule has for the whole, and as much again for all its parts. */
  explain(bindings: Bindings): readonly Explained[];
  /** Its parts in the order in which `explain` tells them, with their places in the source. */
  parts(): readonly (TextRange & { readonly depth: number })[];
  /** The same as a form. */
  form(): ExpressionForm;
  /** What fields have to hold for it to be true, as far as that can be read off. */
  requirement(): Requirement;
};

/** Why an expression cannot be published. Lines and columns begin at 1, within the expression's own text. */
export type ExpressionFault = {
  readonly line: number;
  readonly column: number;
  readonly message: string;
  /** What to write instead. */
  readonly fix: string;
};
