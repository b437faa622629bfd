import type { Instant, Json } from '@carillon/kernel';
import type { UnknownReason, VisibleChange } from '../changes/visible-change.ts';
import type { FieldStep, JsonType } from '../events/field-path.ts';
import type { StepBudget } from './budget.ts';
import type { ExpressionForm, TextRange } from './expression-form.ts';
import type { FieldRoot, Requirement } from './requirement.ts';

/**
 * Place of an expression in a rule. It decides which names the expression sees (docs/expressions.md,
 * docs/recipients.md).
 */
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
 * Values of the names for one evaluation. `item` exists only under `for_each`, `variables` only in `where` and after a
 * lookup, and the names of a change only if the event is a change.
 */
export type Bindings = Partial<VisibleChange> & {
  readonly event: Json;
  readonly event_id: string;
  readonly time: Instant;
  readonly item?: Json;
  readonly variables?: Json;
  /** Deadline of the wait at which the rule fires. */
  readonly deadline?: Instant;
  /** Totals of the rule by their names, including the event. */
  readonly totals?: Json;
};

/** Result of an evaluation: a value, or an error as CEL defines it. Timestamps and durations are text. */
export type Evaluated =
  | { readonly ok: true; readonly value: Json }
  /** `reason` is set if the expression needed a value that the database did not send. */
  | { readonly ok: false; readonly error: string; readonly reason?: UnknownReason };

/** Value of one sub-expression, as `rule test` shows it. The outermost comes first. */
export type Explained = { readonly source: string; readonly depth: number; readonly result: Evaluated };

/** A path of the event, of `item` or of `variables` that an expression refers to. */
export type FieldReference = {
  readonly root: FieldRoot;
  /** Path such as `customer.email` or `items[].qty`. Empty if the expression uses the whole root. */
  readonly path: string;
  readonly steps: readonly FieldStep[];
  /** Type that the expression needs at the path. Null if it takes any type. */
  readonly type: JsonType | null;
  /** True if an index is computed, so that `path` is only the beginning of the path. */
  readonly dynamic: boolean;
};

/** A compiled expression. Evaluation never throws, has no side effects, and takes at most the steps of its budget. */
export type Expression = {
  readonly source: string;
  readonly fields: readonly FieldReference[];
  /** True if the expression refers to `item`. A `unique_id` under `for_each` without `item` causes a warning. */
  readonly usesItem: boolean;
  /** Steps for a large event, with lists of 100 entries and texts of 10,000 characters (500 within an item). */
  readonly largeSteps: number;
  /**
   * Evaluates the expression and subtracts its steps from the budget. If too few are left, exhausts the budget and
   * returns the error `too_complex`.
   */
  evaluate(bindings: Bindings, budget: StepBudget): Evaluated;
  /**
   * Evaluates the expression and each of its parts. Uses two budgets of a rule's size: one for the whole, one for all
   * parts.
   */
  explain(bindings: Bindings): readonly Explained[];
  /** Returns the parts in the order of `explain`, with their positions in the source. */
  parts(): readonly (TextRange & { readonly depth: number })[];
  /** Returns the expression as a form. */
  form(): ExpressionForm;
  /** Returns what fields must contain for the expression to be true, as far as its text shows. */
  requirement(): Requirement;
};

/** A mistake that prevents publishing an expression. Line and column start at 1, within the expression's own text. */
export type ExpressionFault = {
  readonly line: number;
  readonly column: number;
  readonly message: string;
  /** Instruction what to write instead. */
  readonly fix: string;
};
