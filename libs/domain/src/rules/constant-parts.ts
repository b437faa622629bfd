import { parseInstant } from '@carillon/kernel';
import { StepBudget } from './budget.ts';
import type { Bindings, Expression } from './expression.ts';
import { digestKeyOf, untilOf } from './recipient-parts.ts';

/** The latest instant of a date. As the time of the cause it makes no constant look too far ahead. */
const LATEST = 8_640_000_000_000_000;
const NOTHING: Bindings = { event: {}, event_id: '', time: 0 };

/**
 * Returns true if an expression has the same value for every event, because it refers to no field, item or time. A text
 * that contains the word `time` counts as a reference, so that true is never wrong.
 */
const isConstant = ({ fields, usesItem, source }: Expression): boolean =>
  fields.length === 0 && !usesItem && !/\b(?:time|event_id)\b/.test(source);

/**
 * Returns why a delay until this constant drops every recipient. Null if the constant is a valid time, or if the
 * expression depends on the event.
 */
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

/**
 * Returns why this constant as a digest key drops every recipient. Null if the constant is a valid key, or if the
 * expression depends on the event.
 */
export function neverAKey(key: Expression): string | null {
  if (!isConstant(key)) return null;
  const found = digestKeyOf(key, { ...NOTHING, variables: {} }, new StepBudget());
  return found.ok ? null : found.detail;
}
