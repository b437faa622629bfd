import type { Json, JsonObject } from '@carillon/kernel';
import { valueAtPath } from './json-reader-path.ts';

/** A binding that does not hold for an event. */
export type UnmetBinding = {
  readonly claim: string;
  /** Path in the event, such as `event.user_id`. */
  readonly path: string;
  readonly why: 'no_claim' | 'no_field' | 'differs';
};

/**
 * Returns the first binding (`sub: event.user_id`) whose claim and field differ. Null if all agree. Only texts and
 * whole numbers can agree; a number equals the text of its digits. Empty values, lists and objects count as missing on
 * both sides.
 */
export function unmetBinding(
  bindings: Readonly<Record<string, string>>,
  claims: JsonObject,
  event: JsonObject,
): UnmetBinding | null {
  for (const [claim, path] of Object.entries(bindings)) {
    const wanted = comparable(Object.hasOwn(claims, claim) ? claims[claim] : undefined);
    const found = comparable(valueAtPath(event, path));
    const why = wanted === null ? 'no_claim' : found === null ? 'no_field' : wanted === found ? null : 'differs';
    if (why !== null) return { claim, path, why };
  }
  return null;
}

function comparable(value: Json | undefined): string | null {
  if (typeof value === 'string') return value === '' ? null : value;
  if (typeof value === 'bigint') return value.toString();
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value.toString();
  return null;
}
