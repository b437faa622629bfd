import { CHANGE_OPS, type Change, type ChangeOp, type ChangeSource } from '@carillon/domain/changes';
import { pathText, type FieldStep } from '@carillon/domain/events';
import type { CompiledRule, RequiredField } from '@carillon/domain/rules';
import type { Instant, Json } from '@carillon/kernel';
import { buildEvent, type ShapeField } from './event-shape.ts';
import { eventSteps } from './minimum-fields.ts';
import type { Assignment } from './solver.ts';

/** Returns the path of a condition's field in a change, starting with the part. Null if no part has it. */
export function changeSteps(rule: CompiledRule, field: RequiredField): readonly FieldStep[] | null {
  if (field.root === 'previous' || field.root === 'op' || field.root === 'source') return [field.root, ...field.steps];
  const steps = eventSteps(rule, field);
  return steps && ['event', ...steps];
}

/** Returns a default value for a field of a change that the condition does not determine. */
export function usualOfChange(
  [part, ...steps]: readonly FieldStep[],
  rule: CompiledRule,
  source: ChangeSource,
  usual: (steps: readonly FieldStep[]) => Json,
): Json {
  if (part === 'op') return usualOp(rule);
  const facts: { readonly [name: string]: Json } = source;
  const [name] = steps;
  return part === 'source' && typeof name === 'string' ? (facts[name] ?? usual(steps)) : usual(steps);
}

const usualOp = ({ changes }: CompiledRule): ChangeOp =>
  changes.includes('update') ? 'update' : (changes[0] ?? 'update');

/** Returns the assignments of one part of a change. */
export const ofPart = (assignments: readonly Assignment[], part: string): readonly Assignment[] =>
  assignments.flatMap(({ steps: [first, ...steps], ...value }) => (first === part ? [{ ...value, steps }] : []));

/** The smallest change with these values. The row before is the row but for values that the assignments name. */
export function buildChange(
  rule: CompiledRule,
  fields: readonly ShapeField[],
  assignments: readonly Assignment[],
  source: ChangeSource,
  now: Instant,
): Change {
  const shaped = (part: string): readonly ShapeField[] =>
    ofPart(assignments, part).map((assignment) => ({ type: null, ...assignment }));
  const own = shaped('event');
  const before = shaped('previous');
  const named = new Set(before.map(({ steps }) => pathText(steps)));
  const event = buildEvent([...fields, ...own], now);
  const op = opOf(rule, ofPart(assignments, 'op'));
  const rest = { op, event, unknown: [], source: { ...source, ...textsOf(ofPart(assignments, 'source')) } };
  if (op === 'create' || op === 'snapshot') return { ...rest, previous: null };
  if (op === 'delete') return { ...rest, previous: event };
  const kept = [...fields, ...own].filter(({ steps }) => !named.has(pathText(steps)));
  return { ...rest, previous: buildEvent([...before, ...kept], now) };
}

/**
 * Returns the operation of the sample change. If the condition compares `op` with a text that is no operation, the
 * sample uses an operation other than update.
 */
function opOf(rule: CompiledRule, assignments: readonly Assignment[]): ChangeOp {
  const assigned = assignments.find((one) => 'value' in one);
  if (!assigned || !('value' in assigned)) return usualOp(rule);
  const op = CHANGE_OPS.find((one) => one === assigned.value);
  return op ?? rule.changes.find((one) => one !== 'update') ?? usualOp(rule);
}

const textsOf = (assignments: readonly Assignment[]): { readonly [name: string]: string } =>
  Object.fromEntries(
    assignments.flatMap((one): [string, string][] => {
      const [name] = one.steps;
      return typeof name === 'string' && 'value' in one && typeof one.value === 'string' ? [[name, one.value]] : [];
    }),
  );
