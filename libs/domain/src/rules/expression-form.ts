/** Where a part stands in a text, in UTF-16 units; the end is exclusive. */
export type TextRange = { readonly start: number; readonly end: number };

/** From what a path begins at, by names of fields and indexes of lists: `["event", "items", 0, "qty"]`. */
export type FormPath = readonly [root: string, ...steps: (string | number)[]];

/** Text, a whole or a decimal number, true, false, or null. */
export type FormValue = string | number | boolean | null;

export const COMPARISONS = ['==', '!=', '>', '<', '>=', '<='] as const;
export type Comparison = (typeof COMPARISONS)[number];
export const TEXT_TESTS = ['startsWith', 'endsWith', 'contains', 'matches'] as const;
export type TextTest = (typeof TEXT_TESTS)[number];

/** One line of a form: what can be said of a field without writing an expression. `not`: the opposite of it. */
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
      /** Some element of the list at `path` compares so; `name` stands for the element. */
      readonly kind: 'some';
      readonly path: FormPath;
      readonly name: string;
      readonly field: readonly (string | number)[];
      readonly op: Comparison;
      readonly value: FormValue;
    }
  /** What a form cannot say: it is edited as text, in its place. */
  | { readonly kind: 'expression'; readonly source: string };

/** Several conditions of which all, or any one, have to hold. */
export type FormGroup = { readonly match: 'all' | 'any'; readonly conditions: readonly FormPart[] };

/** A condition, or the one level of groups that there is, with its place in the text. */
export type FormPart = TextRange & (FormCondition | ({ readonly kind: 'group' } & FormGroup));

/**
 * An expression as a form: the parts of its outermost `&&` or `||`. Every expression has one: what it cannot say stands
 * in it as text. A single condition is a group of one, of which all have to hold.
 */
export type ExpressionForm = FormGroup;

/** Where a part stands in the form: by its number, and within a group by the group's number and its own. */
export type FormAddress = readonly number[];

/** A change of a form. Only the part that it names is written anew; every other stays as it was typed. */
export type FormChange =
  | { readonly kind: 'replace'; readonly at: FormAddress; readonly condition: FormCondition }
  | { readonly kind: 'remove'; readonly at: FormAddress }
  /** After the last of a group; `at` is empty for the form itself. */
  | { readonly kind: 'add'; readonly at: FormAddress; readonly condition: FormCondition }
  | { readonly kind: 'match'; readonly at: FormAddress; readonly match: FormGroup['match'] }
  /** Makes a condition of the form a group of one, joined the other way, and adds a second to it. */
  | { readonly kind: 'group'; readonly at: FormAddress; readonly condition: FormCondition };

const PLAIN = /^[A-Za-z_]\w*$/;
/** Words of the language that no field can be named by after a dot. */
const WORDS: ReadonlySet<string> = new Set(['in', 'true', 'false', 'null']);

/** Whether a field is written after a dot; any other name stands in brackets. */
export const isDotted = (name: string): boolean => PLAIN.test(name) && !WORDS.has(name);

const stepText = (step: string | number): string =>
  typeof step === 'string' && isDotted(step) ? `.${step}` : `[${valueText(step)}]`;

/** `event.customer["first name"]` */
export const formPathText = ([root, ...steps]: FormPath): string => root + steps.map(stepText).join('');

/** A value as the language writes it. Numbers without a fraction are whole numbers of it. */
export const valueText = (value: FormValue): string => JSON.stringify(value);

/** A condition as an expression; `not` stands before it. */
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
