import { parseInstant } from '@carillon/kernel';
import { StepBudget } from './budget.ts';
import type { Bindings, Expression } from './expression.ts';
import { digestKeyOf, untilOf } from './recipient-parts.ts';

/** The latest instant that a date can name: no time is ahead of it. */
const LATEST = 8_640_000_000_000_000;
const NOTHING: Bindings = { event: {}, event_id: '', time: 0 };

/**
 * Whether an expression comes to the same whatever event it meets: it mentions no field, no item, and not the time. A text that holds
 * the word `time` counts as a mention, so that the answer is never wrongly yes.
 */
const isConstant = ({ fields, usesItem, source }: Expression): boolean =>
  fields.length === 0 && !usesItem && !/\b(?:time|event_id)\b/.test(source);

/** Why everybody would be dropped whom a delay until this constant meets; null where it is a time, or each event says another. */
export function neverATime(until: Expression): string | null {
  if (!isConstant(until)) return null;
  const found = untilOf(until, NOTHING, LATEST, new StepBudget());
  return found.ok ? null : found.detail;
}

/** Returns why a constant `at` is never a deadline. Null if it is a time, or depends on the event. */
export function neverADeadline(at: Expression): string | null {
  if (!isConstant(at)) return null;
  const found = at.evaluate(NOTHING, new StepBudget());
  if (!found.ok) return found.error;
  const isTime = typeof found.value === 'string' && parseInstant(found.value) !== undefined;
  return isTime ? null : 'at is no time (RFC 3339, with its zone)';
}

/** Why everybody would be dropped whose digest has this constant as its key; null where it can be one, or each event says another. */
export function neverAKey(key: Expression): string | null {
  if (!isConstant(key)) return null;
  const found = digestKeyOf(key, { ...NOTHING, variables: {} }, new StepBudget());
  return found.ok ? null : found.detail;
}
