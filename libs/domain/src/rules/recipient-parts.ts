import { parseInstant, type Instant, type Json } from '@carillon/kernel';
import { LONGEST_DELAY } from '../cadence/delay.ts';
import { ADDRESS_KINDS, firstAddress, type Addresses } from '../channels/channel.ts';
import { STEPS_SPENT, type StepBudget } from './budget.ts';
import type { CompiledRule } from './program.ts';
import type { Bindings, Evaluated, Expression } from './expression.ts';
import { MAX_RECIPIENT_CHARACTERS, type Dropped, type DropReason, type Recipient } from './recipient.ts';

/** Steps shared by recipients that an event names and recipients from a lookup. */

export type Refused = { readonly ok: false; readonly reason: DropReason; readonly detail: string };
export type Made = { readonly ok: true; readonly recipient: Recipient } | Refused;

const ruleError = (field: string, { reason, error }: Extract<Evaluated, { ok: false }>): Refused => ({
  ok: false,
  reason: reason ?? 'rule_error',
  detail: `${field}: ${error}`,
});

type Until = { readonly ok: true; readonly value: Instant | null } | Refused;

/** Returns when a message is due by `cadence.delay.until`. Refuses the recipient if the value is no valid time. */
export function untilOf(until: Expression | null, bindings: Bindings, causedAt: Instant, budget: StepBudget): Until {
  if (until === null) return { ok: true, value: null };
  const result = until.evaluate(bindings, budget);
  if (!result.ok) return ruleError('cadence.delay.until', result);
  const at = typeof result.value === 'string' ? parseInstant(result.value) : undefined;
  if (at !== undefined && at - causedAt > LONGEST_DELAY) {
    return { ok: false, reason: 'rule_error', detail: 'cadence.delay.until is more than 366 days ahead' };
  }
  if (at !== undefined) return { ok: true, value: at };
  return { ok: false, reason: 'rule_error', detail: 'cadence.delay.until is no time (RFC 3339, with its zone)' };
}

type DigestKey = { readonly ok: true; readonly value: string | null } | Refused;

/** Maximum characters of a digest key, which is stored with every message. */
export const MAX_DIGEST_KEY = 1000;

/** Returns the digest key of a recipient. Refuses the recipient if the value is no identifier. */
export function digestKeyOf(key: Expression | null, bindings: Bindings, budget: StepBudget): DigestKey {
  if (key === null) return { ok: true, value: null };
  const result = key.evaluate(bindings, budget);
  if (!result.ok) return ruleError('cadence.digest.key', result);
  const value = identifier(result.value);
  if (value === null) {
    const detail = 'cadence.digest.key is null, empty, or neither text nor number';
    return { ok: false, reason: 'rule_error', detail };
  }
  if (value.length <= MAX_DIGEST_KEY) return { ok: true, value };
  return { ok: false, reason: 'rule_error', detail: `cadence.digest.key has more than ${MAX_DIGEST_KEY} characters` };
}

/** Returns the drop of all recipients from `index` on, because the steps of the rule are used up. */
export const beyondBudget = (index: number, all: number): Dropped => ({
  index,
  reason: 'too_complex',
  detail: STEPS_SPENT,
  count: all - index,
});

/** Returns why `where` excludes a recipient. Null if it includes the recipient. */
export function refusedBy(where: Expression | null, bindings: Bindings, budget: StepBudget): Refused | null {
  const result = where?.evaluate(bindings, budget);
  if (!result) return null;
  if (!result.ok) return ruleError('where', result);
  if (result.value === false) return { ok: false, reason: 'where_false', detail: where?.source ?? '' };
  return result.value === true ? null : { ok: false, reason: 'rule_error', detail: 'where is not true or false' };
}

/** Returns the recipient, or a refusal if its data is too large for a record of the log. */
export function madeOf(recipient: Recipient): Made {
  const { variables, to, uniqueId, person, digestKey } = recipient;
  if (isWithin([variables, to, uniqueId, person, digestKey], MAX_RECIPIENT_CHARACTERS)) return { ok: true, recipient };
  const detail = `its variables and addresses have more than ${MAX_RECIPIENT_CHARACTERS} characters together`;
  return { ok: false, reason: 'too_large', detail };
}

/**
 * Returns true if values have at most `most` characters. Values other than text count as a fixed number. Stops counting
 * at the maximum.
 */
function isWithin(values: readonly Json[], most: number): boolean {
  let left = most;
  const take = (value: Json): boolean => {
    left -= typeof value === 'string' ? value.length + 4 : 24;
    if (left < 0) return false;
    if (typeof value !== 'object' || value === null) return true;
    if (Array.isArray(value)) return value.every(take);
    return Object.entries(value).every(([name, field]) => {
      left -= name.length;
      return take(field);
    });
  };
  return values.every(take);
}

/**
 * Refuses a recipient if an address, the person or a variable needs a value that the database did not send. A missing
 * field is null there, but it is unknown whether this field is missing. Costs nothing if all values are known.
 */
export function refusedByUnknown(rule: CompiledRule, bindings: Bindings, budget: StepBudget): Refused | null {
  if (bindings.unknown === undefined) return null;
  const parts: readonly (readonly [string, Expression | null])[] =
    rule.from === 'lookup'
      ? [['person', rule.person]]
      : [
          ...ADDRESS_KINDS.map((kind) => [`to.${kind}`, rule.to[kind]] as const),
          ['person', rule.person],
          ...rule.variables.map(([name, expression]) => [`variables.${name}`, expression] as const),
        ];
  for (const [field, expression] of parts) {
    const result = expression?.evaluate(bindings, budget);
    if (result?.ok === false && result.reason !== undefined) return ruleError(field, result);
  }
  return null;
}

/** Returns the value of an expression in `to` or `variables`, where a missing field is null (docs/expressions.md). */
export function valueOrNull(expression: Expression, bindings: Bindings, budget: StepBudget): Json {
  const result = expression.evaluate(bindings, budget);
  return result.ok ? result.value : null;
}

/** Returns a value as an identifier: text unchanged, numbers as decimal text. Null for empty text and anything else. */
export function identifier(value: Json): string | null {
  if (typeof value === 'string') return value === '' ? null : value;
  return typeof value === 'number' || typeof value === 'bigint' ? String(value) : null;
}

/** Returns the person of a recipient: the name from rule or partner, else the first address, else the `unique_id`. */
export const personOf = (named: string | null, to: Addresses, uniqueId: string): string =>
  named ?? firstAddress(to) ?? uniqueId;

type Unique = { readonly ok: true; readonly value: string } | Refused;

/**
 * Returns the `unique_id` of a recipient (docs/unique-id.md). A rule without an expression falls back to the recipient's first address.
 * `event_id` and `trigger_id` get the first address appended, so that each recipient of an event has a slot of its own.
 */
export function uniqueIdOf(
  rule: CompiledRule,
  bindings: Bindings,
  to: Addresses,
  { eventId, triggerId }: { readonly eventId: string; readonly triggerId: string },
  budget: StepBudget,
): Unique {
  const first = firstAddress(to);
  if (rule.uniqueId === 'event_id') return { ok: true, value: `${eventId}:${first ?? ''}` };
  if (rule.uniqueId === 'trigger_id') return { ok: true, value: `${triggerId}:${first ?? ''}` };
  if (rule.uniqueId === null) {
    if (first !== null) return { ok: true, value: first };
    return { ok: false, reason: 'no_unique_id', detail: 'neither an address nor a unique_id' };
  }
  const result = rule.uniqueId.evaluate(bindings, budget);
  if (!result.ok) return ruleError('unique_id', result);
  const value = identifier(result.value);
  if (value !== null) return { ok: true, value };
  return { ok: false, reason: 'rule_error', detail: 'unique_id is null, empty, or neither text nor number' };
}
