import type { Json, JsonObject } from '@carillon/kernel';
import type { SourceEvent } from '../events/source-event.ts';
import type { CompiledRule } from './compiled-rule.ts';
import type { Bindings, Expression } from './expression.ts';

export type Addresses = { readonly email: string | null; readonly phone: string | null; readonly token: string | null };

/** Somebody whom a fired rule tells. */
export type Recipient = {
  readonly to: Addresses;
  readonly uniqueId: string;
  /** Who is told, for limits, opt-outs and why-not: `recipients.person`, else the address. */
  readonly person: string;
  readonly variables: JsonObject;
};

export type DropReason = 'rule_error' | 'where_false' | 'no_unique_id' | 'too_many_recipients' | 'too_large';

export type RuleOutcome =
  | { readonly kind: 'not_fired' }
  | { readonly kind: 'disabled' }
  | { readonly kind: 'failed'; readonly error: string }
  | {
      readonly kind: 'fired';
      readonly recipients: readonly Recipient[];
      readonly dropped: readonly { readonly index: number; readonly reason: DropReason; readonly detail: string }[];
    };

/** One event tells at most this many people by `for_each`; the rest are dropped with a reason, never silently. */
export const MAX_RECIPIENTS = 500;

/**
 * Characters of what a rule makes for one recipient, fields of variables included. With the event beside it, an intent
 * of it is smaller than what a topic takes, however the characters are written.
 */
export const MAX_RECIPIENT_CHARACTERS = 400_000;

/** Evaluates a rule for an event: pure, the same answer for ever. */
export function evaluateRule(rule: CompiledRule, event: SourceEvent, triggerId: string): RuleOutcome {
  if (!rule.placed.enabled) return { kind: 'disabled' };
  const bindings: Bindings = { event: event.body, event_id: event.id, time: event.time };
  const fired = rule.when.evaluate(bindings);
  if (!fired.ok) return { kind: 'failed', error: fired.error };
  if (fired.value !== true) {
    if (fired.value === false) return { kind: 'not_fired' };
    return { kind: 'failed', error: 'when is not true or false' };
  }
  return findRecipients(rule, event, triggerId, bindings);
}

function findRecipients(rule: CompiledRule, event: SourceEvent, triggerId: string, bindings: Bindings): RuleOutcome {
  const items = listItems(rule.forEach, bindings);
  if (!items.ok) return { kind: 'failed', error: `for_each: ${items.error}` };
  const recipients: Recipient[] = [];
  const dropped: { index: number; reason: DropReason; detail: string }[] = [];
  for (const [index, item] of items.value.entries()) {
    if (index >= MAX_RECIPIENTS) {
      const rest = items.value.length - MAX_RECIPIENTS;
      dropped.push({
        index,
        reason: 'too_many_recipients',
        detail: `${rest} beyond the ${MAX_RECIPIENTS} of one event`,
      });
      break;
    }
    const each = rule.forEach ? { ...bindings, item } : bindings;
    const made = makeRecipient(rule, each, event.id, triggerId);
    if (made.ok) recipients.push(made.recipient);
    else dropped.push({ index, reason: made.reason, detail: made.detail });
  }
  return { kind: 'fired', recipients, dropped };
}

type Items = { ok: true; value: readonly Json[] } | { ok: false; error: string };

function listItems(forEach: Expression | null, bindings: Bindings): Items {
  if (!forEach) return { ok: true, value: [null] };
  const list = forEach.evaluate(bindings);
  if (!list.ok) return list;
  return Array.isArray(list.value)
    ? { ok: true, value: list.value as readonly Json[] }
    : { ok: false, error: 'expected a list' };
}

type Made = { ok: true; recipient: Recipient } | { ok: false; reason: DropReason; detail: string };

function makeRecipient(rule: CompiledRule, bindings: Bindings, eventId: string, triggerId: string): Made {
  const variables = Object.fromEntries(
    rule.variables.map(([name, expression]) => [name, valueOrNull(expression, bindings)]),
  );
  if (rule.where) {
    const kept = rule.where.evaluate({ ...bindings, variables });
    if (!kept.ok) return { ok: false, reason: 'rule_error', detail: `where: ${kept.error}` };
    if (kept.value === false) return { ok: false, reason: 'where_false', detail: rule.where.source };
    if (kept.value !== true) return { ok: false, reason: 'rule_error', detail: 'where is not true or false' };
  }
  const to: Addresses = {
    email: addressOf(rule.to.email, bindings),
    phone: addressOf(rule.to.phone, bindings),
    token: addressOf(rule.to.token, bindings),
  };
  const unique = uniqueIdOf(rule, bindings, to, eventId, triggerId);
  if (!unique.ok) return unique;
  const named = rule.person ? identifier(valueOrNull(rule.person, bindings)) : null;
  const person = named ?? to.email?.toLowerCase() ?? to.phone ?? to.token ?? unique.value;
  if (!isWithin([variables, to, unique.value, person], MAX_RECIPIENT_CHARACTERS)) {
    const detail = `its variables and addresses have more than ${MAX_RECIPIENT_CHARACTERS} characters together`;
    return { ok: false, reason: 'too_large', detail };
  }
  return { ok: true, recipient: { to, uniqueId: unique.value, person, variables } };
}

/** Whether values have at most so many characters, each other thing counted as some; looks at no more than that. */
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

/** In `to` and `variables` a missing field is null (rules.md section 1). */
function valueOrNull(expression: Expression, bindings: Bindings): Json {
  const result = expression.evaluate(bindings);
  return result.ok ? result.value : null;
}

/** No address has control characters. One is never repaired: what is suppressed, told and sent to must be one text. */
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

function addressOf(expression: Expression | null, bindings: Bindings): string | null {
  const value = expression ? valueOrNull(expression, bindings) : null;
  if (typeof value !== 'string') return null;
  const address = value.trim();
  return address === '' || CONTROL.test(address) ? null : address;
}

/** Text as it is; numbers as their decimal text; anything else is no identifier. */
function identifier(value: Json): string | null {
  if (typeof value === 'string') return value === '' ? null : value;
  return typeof value === 'number' || typeof value === 'bigint' ? String(value) : null;
}

type Unique = { ok: true; value: string } | { ok: false; reason: DropReason; detail: string };

/**
 * rules.md section 3. The fallback to the first address is only for rules without an expression; `event_id` and
 * `trigger_id` get the recipient's first address added, so that each recipient of each event counts.
 */
function uniqueIdOf(rule: CompiledRule, bindings: Bindings, to: Addresses, eventId: string, triggerId: string): Unique {
  const first = to.email ?? to.phone ?? to.token;
  if (rule.uniqueId === 'event_id') return { ok: true, value: `${eventId}:${first ?? ''}` };
  if (rule.uniqueId === 'trigger_id') return { ok: true, value: `${triggerId}:${first ?? ''}` };
  if (rule.uniqueId === null) {
    if (first !== null) return { ok: true, value: first };
    return { ok: false, reason: 'no_unique_id', detail: 'neither an address nor a unique_id' };
  }
  const result = rule.uniqueId.evaluate(bindings);
  if (!result.ok) return { ok: false, reason: 'rule_error', detail: `unique_id: ${result.error}` };
  const value = identifier(result.value);
  if (value !== null) return { ok: true, value };
  return { ok: false, reason: 'rule_error', detail: 'unique_id is null, empty, or neither text nor number' };
}
