import type { Json } from '@carillon/kernel';
import { addressOrText, type Addresses, type AddressKind } from '../channels/channel.ts';
import type { SourceEvent } from '../events/source-event.ts';
import type { CompiledRule } from './compiled-rule.ts';
import type { Bindings, Expression } from './expression.ts';
import type { Dropped, Recipient } from './recipient.ts';
import { identifier, madeOf, personOf, refusedBy, uniqueIdOf, valueOrNull, type Made } from './recipient-parts.ts';

export type RuleOutcome =
  | { readonly kind: 'not_fired' }
  | { readonly kind: 'disabled' }
  | { readonly kind: 'failed'; readonly error: string }
  | { readonly kind: 'fired'; readonly recipients: readonly Recipient[]; readonly dropped: readonly Dropped[] }
  /** Fired, and a partner has to say who is told: each id once. */
  | { readonly kind: 'asks'; readonly userIds: readonly string[]; readonly dropped: readonly Dropped[] };

/** One event tells at most this many people by `for_each`; the rest are dropped with a reason, never silently. */
export const MAX_RECIPIENTS = 500;

/** What most rules come to for most events: one for all, since making it took as long as the condition. */
const NOT_FIRED: RuleOutcome = Object.freeze({ kind: 'not_fired' });

/** What the expressions of a rule see of an event; the same for all rules. */
export const bindingsOf = (event: SourceEvent): Bindings => ({
  event: event.body,
  event_id: event.id,
  time: event.time,
});

/**
 * Evaluates a rule for an event: pure, the same answer for ever. `triggerId` is asked only where the rule fires: making it
 * costs more than most rules. `bindings` are those of the event, for whoever evaluates many rules.
 */
export function evaluateRule(
  rule: CompiledRule,
  event: SourceEvent,
  triggerId: () => string,
  bindings = bindingsOf(event),
): RuleOutcome {
  if (!rule.placed.enabled) return { kind: 'disabled' };
  const fired = rule.when.evaluate(bindings);
  if (!fired.ok) return { kind: 'failed', error: fired.error };
  if (fired.value !== true) {
    if (fired.value === false) return NOT_FIRED;
    return { kind: 'failed', error: 'when is not true or false' };
  }
  return rule.lookup ? findUserIds(rule.lookup.userIds, bindings) : findRecipients(rule, event, triggerId(), bindings);
}

/** One event asks about at most this many ids; the rest are dropped with a reason, never silently. */
export const MAX_USER_IDS = 50_000;
const MAX_ID_LENGTH = 255;

function findUserIds(expression: Expression, bindings: Bindings): RuleOutcome {
  const found = expression.evaluate(bindings);
  if (!found.ok) return { kind: 'failed', error: `user_ids: ${found.error}` };
  const values = Array.isArray(found.value) ? (found.value as readonly Json[]) : [found.value];
  const userIds = new Set<string>();
  const dropped: Dropped[] = [];
  let beyond = 0;
  for (const [index, value] of values.entries()) {
    const id = identifier(value);
    if (id === null) dropped.push({ index, reason: 'invalid_user_id', detail: 'neither text nor number, or empty' });
    else if (id.length > MAX_ID_LENGTH) {
      dropped.push({ index, reason: 'invalid_user_id', detail: `longer than ${MAX_ID_LENGTH} characters` });
    } else if (userIds.size < MAX_USER_IDS) userIds.add(id);
    else beyond += 1;
  }
  if (beyond > 0) {
    const detail = `${beyond} beyond the ${MAX_USER_IDS} of one event`;
    dropped.push({ index: values.length - beyond, reason: 'too_many_user_ids', detail });
  }
  if (values.length === 0) dropped.push({ index: 0, reason: 'no_user_ids', detail: 'the list of user ids is empty' });
  return { kind: 'asks', userIds: [...userIds], dropped };
}

function findRecipients(rule: CompiledRule, event: SourceEvent, triggerId: string, bindings: Bindings): RuleOutcome {
  const items = listItems(rule.forEach, bindings);
  if (!items.ok) return { kind: 'failed', error: `for_each: ${items.error}` };
  const recipients: Recipient[] = [];
  const dropped: Dropped[] = [];
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

function makeRecipient(rule: CompiledRule, bindings: Bindings, eventId: string, triggerId: string): Made {
  const variables = Object.fromEntries(
    rule.variables.map(([name, expression]) => [name, valueOrNull(expression, bindings)]),
  );
  const refused = refusedBy(rule.where, { ...bindings, variables });
  if (refused) return refused;
  const to: Addresses = {
    email: addressOf('email', rule.to.email, bindings),
    phone: addressOf('phone', rule.to.phone, bindings),
    token: addressOf('token', rule.to.token, bindings),
  };
  const unique = uniqueIdOf(rule, bindings, to, eventId, triggerId);
  if (!unique.ok) return unique;
  const named = rule.person ? identifier(valueOrNull(rule.person, bindings)) : null;
  return madeOf({ to, uniqueId: unique.value, person: personOf(named, to, unique.value), variables });
}

function addressOf(kind: AddressKind, expression: Expression | null, bindings: Bindings): string | null {
  const value = expression ? valueOrNull(expression, bindings) : null;
  return typeof value === 'string' ? addressOrText(kind, value) : null;
}
