import {
  COMPARISONS,
  isDotted,
  TEXT_TESTS,
  type Comparison,
  type ExpressionForm,
  type FormCondition,
  type FormGroup,
  type FormPart,
  type FormPath,
  type FormValue,
  type TextTest,
} from '@carillon/domain/rules';
import { PlacedText, type Link } from './chain.ts';
import type { ChangedPlan, LoopPlan, Plan } from './plan.ts';

/** Returns an expression as a form: the members of its outermost chain, and one level of chains within it. */
export function formOf(source: string, plan: Plan): ExpressionForm {
  const text = new PlacedText(source);
  return groupOf(text, plan, (link) => {
    const { plan: member, whole } = link;
    if (member.op !== 'and' && member.op !== 'or') return conditionAt(text, link);
    return { ...whole, kind: 'group', ...groupOf(text, member, (inner) => conditionAt(text, inner)) };
  });
}

const groupOf = (text: PlacedText, plan: Plan, partOf: (link: Link) => FormPart): FormGroup => ({
  match: plan.op === 'or' ? 'any' : 'all',
  conditions: text.links(plan).map(partOf),
});

function conditionAt({ source }: PlacedText, { plan, whole }: Link): FormPart {
  const condition = conditionOf(source, plan) ?? { kind: 'expression', source: source.slice(whole.start, whole.end) };
  return { ...whole, ...condition };
}

/** Null where a form cannot say it so that it would be written as it stands. */
function conditionOf(source: string, plan: Plan): FormCondition | null {
  const { plan: asked, not } = plan.op === 'not' ? { plan: plan.of, not: true } : { plan, not: false };
  if (asked.op === 'binary' && asked.name === 'in') {
    const path = pathOf(asked.left);
    const values = valuesOf(asked.right);
    return path && values && { kind: 'one_of', path, values, not };
  }
  if (!not && asked.op === 'binary') return comparisonOf(source, asked);
  if (!not && asked.op === 'loop') return someOf(source, asked);
  if (asked.op === 'call' || asked.op === 'matches') return textOf(source, asked, not);
  if (asked.op === 'has') {
    const path = pathOf(asked);
    return path && { kind: 'has', path, not };
  }
  if (asked.op === 'changed') return changeOf(asked, not);
  if (asked.op !== 'field' && asked.op !== 'index') return null;
  const path = pathOf(asked);
  return path && { kind: 'true', path, not };
}

const isComparison = (name: string): name is Comparison => COMPARISONS.some((one) => one === name);
const isTextTest = (name: string): name is TextTest => TEXT_TESTS.some((one) => one === name);

function comparisonOf(source: string, { name, left, right }: Extract<Plan, { op: 'binary' }>): FormCondition | null {
  const value = valueOf(right);
  if (value === undefined || !isComparison(name)) return null;
  if (left.op === 'call' && left.name === 'size' && source.startsWith('size(', left.start)) {
    const path = left.args[0] && pathOf(left.args[0]);
    return path && typeof value === 'number' && Number.isSafeInteger(value)
      ? { kind: 'size', path, op: name, value }
      : null;
  }
  const path = pathOf(left);
  return path && { kind: 'compare', path, op: name, value };
}

function textOf(source: string, plan: Extract<Plan, { op: 'call' | 'matches' }>, not: boolean): FormCondition | null {
  const [of, test, value] =
    plan.op === 'matches'
      ? [plan.of, 'matches', plan.pattern.source]
      : [plan.args[0], plan.name, plan.args[1] && plan.args.length === 2 ? valueOf(plan.args[1]) : undefined];
  if (!of || typeof value !== 'string' || !isTextTest(test)) return null;
  const path = pathOf(of);
  if (!path || source.startsWith(`${test}(`, plan.start)) return null;
  return { kind: 'text', path, test, value, not };
}

function changeOf({ of, from, to }: ChangedPlan, not: boolean): FormCondition | null {
  const path = pathOf(of);
  if (!path || to === null) return path && { kind: 'changed', path, not };
  const value = valueOf(to);
  if (value === undefined) return null;
  if (from === null) return { kind: 'changed_to', path, value, not };
  const left = valueOf(from);
  return left === undefined ? null : { kind: 'changed_from_to', path, from: left, value, not };
}

/** `event.items.exists(i, i.qty > 2)` */
function someOf(source: string, plan: LoopPlan): FormCondition | null {
  const { kind, over, test, slot } = plan;
  const name = /^\s*\.\s*exists\(\s*([A-Za-z_]\w*)\s*,\s*$/.exec(source.slice(over.end, test.start))?.[1];
  if (kind !== 'exists' || name === undefined || test.op !== 'binary' || !isComparison(test.name)) return null;
  const path = pathOf(over);
  const field = stepsOf(test.left, (root) => root.op === 'local' && root.slot === slot);
  const value = valueOf(test.right);
  if (!path || !field || value === undefined) return null;
  return { kind: 'some', path, name, field: field.slice(1), op: test.name, value };
}

/** Roots whose fields a form can name; times are compared with functions. */
const ROOTS: ReadonlySet<string> = new Set([
  'event',
  'event_id',
  'item',
  'variables',
  'previous',
  'op',
  'source',
  'totals',
]);

const pathOf = (plan: Plan): FormPath | null => {
  const steps = stepsOf(plan, (root) => root.op === 'root' && ROOTS.has(root.name));
  const [root, ...rest] = steps ?? [];
  return typeof root === 'string' ? [root, ...rest] : null;
};

/** The name that a path begins at (empty for one of a loop), and its steps as they would be written. */
function stepsOf(plan: Plan, isRoot: (plan: Plan) => boolean): readonly (string | number)[] | null {
  if (isRoot(plan)) return [plan.op === 'root' ? plan.name : ''];
  if (plan.op === 'field' || plan.op === 'has') {
    const before = stepsOf(plan.of, isRoot);
    return before && [...before, plan.key];
  }
  if (plan.op !== 'index' || plan.at.op !== 'literal') return null;
  const before = stepsOf(plan.of, isRoot);
  const { value } = plan.at;
  if (!before) return null;
  if (typeof value === 'string') return isDotted(value) ? null : [...before, value];
  return typeof value === 'bigint' && value >= 0n && value <= BigInt(Number.MAX_SAFE_INTEGER)
    ? [...before, Number(value)]
    : null;
}

/** Undefined: no literal, or one that would be written as another. */
function valueOf(plan: Plan): FormValue | undefined {
  if (plan.op === 'negate') {
    const of = valueOf(plan.of);
    return typeof of === 'number' && !Number.isInteger(of) ? -of : undefined;
  }
  if (plan.op !== 'literal') return undefined;
  const { value } = plan;
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return value;
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : undefined;
  // 100.0 would be written as the whole number 100.
  return typeof value === 'number' && Number.isFinite(value) && !Number.isInteger(value) ? value : undefined;
}

function valuesOf(plan: Plan): readonly FormValue[] | null {
  if (plan.op !== 'list' || plan.optional !== null) return null;
  const values = plan.items.map(valueOf);
  return values.every((value) => value !== undefined) ? values : null;
}
