/** Position of a part in a text, in UTF-16 units. The end is exclusive. */
export type TextRange = { readonly start: number; readonly end: number };

/** Path of a field in a form: the root, then field names and list indexes, such as `["event", "items", 0, "qty"]`. */
export type FormPath = readonly [root: string, ...steps: (string | number)[]];

/** A literal in a form: text, a whole or decimal number, true, false, or null. */
export type FormValue = string | number | boolean | null;

export const COMPARISONS = ['==', '!=', '>', '<', '>=', '<='] as const;
export type Comparison = (typeof COMPARISONS)[number];
export const TEXT_TESTS = ['startsWith', 'endsWith', 'contains', 'matches'] as const;
export type TextTest = (typeof TEXT_TESTS)[number];

/** A condition on one field that a form can show without an expression. `not` negates the condition. */
export type FormCondition =
  | { readonly kind: 'compare'; readonly path: FormPath; readonly op: Comparison; readonly value: FormValue }
  | { readonly kind: 'one_of'; readonly path: FormPath; readonly values: readonly FormValue[]; readonly not: boolean }
  | {
      readonly kind: 'text';
      readonly path: FormPath;
      readonly test: TextTest;
      readonly value: string;
      readonly not: boolean;
    }
  | { readonly kind: 'true'; readonly path: FormPath; readonly not: boolean }
  | { readonly kind: 'has'; readonly path: FormPath; readonly not: boolean }
  | { readonly kind: 'changed'; readonly path: FormPath; readonly not: boolean }
  | { readonly kind: 'changed_to'; readonly path: FormPath; readonly value: FormValue; readonly not: boolean }
  | {
      readonly kind: 'changed_from_to';
      readonly path: FormPath;
      readonly from: FormValue;
      readonly value: FormValue;
      readonly not: boolean;
    }
  | { readonly kind: 'size'; readonly path: FormPath; readonly op: Comparison; readonly value: number }
  | {
      /** Some element of the list at `path` fulfils the comparison. `name` is the variable of the element. */
      readonly kind: 'some';
      readonly path: FormPath;
      readonly name: string;
      readonly field: readonly (string | number)[];
      readonly op: Comparison;
      readonly value: FormValue;
    }
  /** A condition that a form cannot show. It is edited as text in its place. */
  | { readonly kind: 'expression'; readonly source: string };

/** Conditions of which all or at least one must be true. */
export type FormGroup = { readonly match: 'all' | 'any'; readonly conditions: readonly FormPart[] };

/** A condition or a group, with its position in the text. A group contains conditions, but no further groups. */
export type FormPart = TextRange & (FormCondition | ({ readonly kind: 'group' } & FormGroup));

/**
 * An expression as a form: the operands of its outermost `&&` or `||`. Operands that a form cannot show are text. A
 * single condition is a group of one.
 */
export type ExpressionForm = FormGroup;

/**
 * Address of a part in the form: its index, or for a part of a group the index of the group and the index within it.
 */
export type FormAddress = readonly number[];

/** A change of a form. Only the named part is written anew; all other parts keep their text. */
export type FormChange =
  | { readonly kind: 'replace'; readonly at: FormAddress; readonly condition: FormCondition }
  | { readonly kind: 'remove'; readonly at: FormAddress }
  /** Adds a condition after the last of a group. `at` is empty for the form itself. */
  | { readonly kind: 'add'; readonly at: FormAddress; readonly condition: FormCondition }
  | { readonly kind: 'match'; readonly at: FormAddress; readonly match: FormGroup['match'] }
  /** Replaces a condition of the form with a group of it and a second condition, joined by the other operator. */
  | { readonly kind: 'group'; readonly at: FormAddress; readonly condition: FormCondition };

const PLAIN = /^[A-Za-z_]\w*$/;
/** Reserved words of CEL, which cannot name a field after a dot. */
const WORDS: ReadonlySet<string> = new Set(['in', 'true', 'false', 'null']);

/** Returns true if a field is written after a dot. Any other name is written in brackets. */
export const isDotted = (name: string): boolean => PLAIN.test(name) && !WORDS.has(name);

const stepText = (step: string | number): string =>
  typeof step === 'string' && isDotted(step) ? `.${step}` : `[${valueText(step)}]`;

/** `event.customer["first name"]` */
export const formPathText = ([root, ...steps]: FormPath): string => root + steps.map(stepText).join('');

/** Returns a value as a literal of CEL. Numbers without a fraction are integers. */
export const valueText = (value: FormValue): string => JSON.stringify(value);

/** Returns a condition as an expression, including its `not`. */
export function conditionText(condition: FormCondition): string {
  if (condition.kind === 'expression') return condition.source;
  const path = formPathText(condition.path);
  const no = 'not' in condition && condition.not ? '!' : '';
  switch (condition.kind) {
    case 'compare':
      return `${path} ${condition.op} ${valueText(condition.value)}`;
    case 'one_of': {
      const text = `${path} in [${condition.values.map(valueText).join(', ')}]`;
      return condition.not ? `!(${text})` : text;
    }
    case 'text':
      return `${no}${path}.${condition.test}(${valueText(condition.value)})`;
    case 'true':
      return no + path;
    case 'has':
      return `${no}has(${path})`;
    case 'changed':
      return `${no}changed(${path})`;
    case 'changed_to':
      return `${no}changedTo(${path}, ${valueText(condition.value)})`;
    case 'changed_from_to':
      return `${no}changedFromTo(${path}, ${valueText(condition.from)}, ${valueText(condition.value)})`;
    case 'size':
      return `size(${path}) ${condition.op} ${condition.value}`;
    case 'some': {
      const { name, field, op, value } = condition;
      return `${path}.exists(${name}, ${name}${field.map(stepText).join('')} ${op} ${valueText(value)})`;
    }
  }
}
