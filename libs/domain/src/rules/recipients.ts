import { runToCompletion, type Coroutine, type Json } from '@carillon/kernel';
import { addressesBy, addressOrText, type AddressKind } from '../channels/channel.ts';
import { visibleChange, type UnknownReason } from '../changes/visible-change.ts';
import type { SourceEvent } from '../events/source-event.ts';
import { STEPS_SPENT, StepBudget } from './budget.ts';
import type { CompiledRule, EventRule } from './program.ts';
import type { Bindings, Expression } from './expression.ts';
import type { Dropped, Recipient } from './recipient.ts';
import {
  beyondBudget,
  identifier,
  madeOf,
  personOf,
  refusedBy,
  refusedByUnknown,
  uniqueIdOf,
  digestKeyOf,
  untilOf,
  valueOrNull,
  type Made,
} from './recipient-parts.ts';

/** `too_large_to_keep`: the rule remembers events, and this one does not fit. */
export type FailureReason = 'rule_error' | 'too_complex' | 'too_large_to_keep' | UnknownReason;

export type RuleOutcome =
  /** `because`: the rule does not look at such changes. */
  | { readonly kind: 'not_fired'; readonly because?: 'other_change' }
  | { readonly kind: 'disabled' }
  | { readonly kind: 'failed'; readonly reason: FailureReason; readonly error: string }
  | { readonly kind: 'fired'; readonly recipients: readonly Recipient[]; readonly dropped: readonly Dropped[] }
  /** Fired, and a partner has to say who is told: each id once. */
  | { readonly kind: 'asks'; readonly userIds: readonly string[]; readonly dropped: readonly Dropped[] };

/** One event tells at most this many people by `for_each`; the rest are dropped with a reason, never silently. */
export const MAX_RECIPIENTS = 500;

/** Most rules come to this for most events: one value for all, since making it took as long as the condition. */
export const NOT_FIRED: RuleOutcome = Object.freeze({ kind: 'not_fired' });
/** What a rule comes to for a change that is not of its `changes`. */
export const OTHER_CHANGE: RuleOutcome = Object.freeze({ kind: 'not_fired', because: 'other_change' });
export const DISABLED: RuleOutcome = Object.freeze({ kind: 'disabled' });

/** What the expressions of a rule see of an event; the same for all rules. */
export const bindingsOf = ({ body, id, time, change }: SourceEvent): Bindings =>
  change === null ? { event: body, event_id: id, time } : { event: body, event_id: id, time, ...visibleChange(change) };

/** Evaluates a rule for an event, without a pause and on a budget of its own. */
export const evaluateRule = (rule: CompiledRule, event: SourceEvent, triggerId: () => string): RuleOutcome =>
  runToCompletion(evaluateRuleCoroutine(rule, event, triggerId));

/**
 * Evaluates a rule for an event: pure, the same answer for ever. `triggerId` is asked only where the rule fires: making it
 * costs more than most rules. A pause is offered between recipients.
 */
export function* evaluateRuleCoroutine(
  rule: CompiledRule,
  event: SourceEvent,
  triggerId: () => string,
): Coroutine<RuleOutcome> {
  const bindings = bindingsOf(event);
  const budget = new StepBudget();
  return outcomeWithoutFiring(rule, bindings, budget) ?? (yield* fireRule(rule, event, triggerId, bindings, budget));
}

/** What the condition alone comes to; null: the rule fires, and `fireRule` says for whom. */
export const outcomeWithoutFiring = (rule: CompiledRule, bindings: Bindings, budget: StepBudget): RuleOutcome | null =>
  passedOverOutcome(rule, bindings) ?? conditionOutcome(rule, bindings, budget);

/** Returns the outcome of a rule that does not look at the event. Null: the rule looks at it. */
export function passedOverOutcome(rule: CompiledRule, { op }: Pick<Bindings, 'op'>): RuleOutcome | null {
  if (!rule.placed.enabled) return DISABLED;
  return op !== undefined && !rule.changes.includes(op) ? OTHER_CHANGE : null;
}

/** Returns the outcome of a rule whose `when` does not hold. Null: `when` holds, so that the rule fires. */
export function conditionOutcome(rule: CompiledRule, bindings: Bindings, budget: StepBudget): RuleOutcome | null {
  const fired = rule.when.evaluate(bindings, budget);
  if (!fired.ok) return failure(fired, budget);
  if (fired.value === true) return null;
  return fired.value === false ? NOT_FIRED : failure({ error: 'when is not true or false' }, budget);
}

/**
 * Returns the people or the user ids of a rule whose condition holds. A pause is offered after each recipient. Calls
 * `triggerId` only if `unique_id` is the trigger's, because deriving the id costs more than most rules.
 */
export function* fireRule(
  rule: CompiledRule,
  event: SourceEvent,
  triggerId: () => string,
  bindings: Bindings,
  budget: StepBudget,
): Coroutine<RuleOutcome> {
  if (rule.from === 'lookup') return findUserIds(rule.userIds, bindings, budget);
  return yield* findRecipients(rule, event, rule.uniqueId === 'trigger_id' ? triggerId() : '', bindings, budget);
}

type Failure = { readonly error: string; readonly reason?: UnknownReason };

export const failure = ({ error, reason }: Failure, budget: StepBudget, field = ''): RuleOutcome => ({
  kind: 'failed',
  reason: budget.exhausted ? 'too_complex' : (reason ?? 'rule_error'),
  error: budget.exhausted ? STEPS_SPENT : field + error,
});

/** One event asks about at most this many ids; the rest are dropped with a reason, never silently. */
export const MAX_USER_IDS = 50_000;
const MAX_ID_LENGTH = 255;

function findUserIds(expression: Expression, bindings: Bindings, budget: StepBudget): RuleOutcome {
  const found = expression.evaluate(bindings, budget);
  if (!found.ok) return failure(found, budget, 'user_ids: ');
  const values = Array.isArray(found.value) ? (found.value as readonly Json[]) : [found.value];
  const userIds = new Set<string>();
  const dropped: Dropped[] = [];
  let beyond = 0;
  for (const [index, value] of values.entries()) {
    const id = identifier(value);
    if (id === null) dropped.push(invalidId(index, 'neither text nor number, or empty'));
    else if (id.length > MAX_ID_LENGTH) {
      dropped.push(invalidId(index, `longer than ${MAX_ID_LENGTH} characters`));
    } else if (userIds.size < MAX_USER_IDS) userIds.add(id);
    else beyond += 1;
  }
  if (beyond > 0) {
    const detail = `${beyond} beyond the ${MAX_USER_IDS} of one event`;
    dropped.push({ index: values.length - beyond, reason: 'too_many_user_ids', detail, count: beyond });
  }
  if (values.length === 0) {
    dropped.push({ index: 0, reason: 'no_user_ids', detail: 'the list of user ids is empty', count: 1 });
  }
  return { kind: 'asks', userIds: [...userIds], dropped };
}

const invalidId = (index: number, detail: string): Dropped => ({ index, reason: 'invalid_user_id', detail, count: 1 });

function* findRecipients(
  rule: EventRule,
  event: SourceEvent,
  triggerId: string,
  bindings: Bindings,
  budget: StepBudget,
): Coroutine<RuleOutcome> {
  const items = listItems(rule.forEach, bindings, budget);
  if (!items.ok) return failure(items, budget, 'for_each: ');
  const recipients: Recipient[] = [];
  const dropped: Dropped[] = [];
  const all = items.value.length;
  for (const [index, item] of items.value.entries()) {
    if (index >= MAX_RECIPIENTS) {
      const count = all - MAX_RECIPIENTS;
      const detail = `${count} beyond the ${MAX_RECIPIENTS} of one event`;
      dropped.push({ index, reason: 'too_many_recipients', detail, count });
      break;
    }
    const each = rule.forEach ? { ...bindings, item } : bindings;
    const made = makeRecipient(rule, each, event, triggerId, budget);
    if (budget.exhausted) {
      dropped.push(beyondBudget(index, all));
      break;
    }
    if (made.ok) recipients.push(made.recipient);
    else dropped.push({ index, reason: made.reason, detail: made.detail, count: 1 });
    yield;
  }
  return { kind: 'fired', recipients, dropped };
}

type Items = { ok: true; value: readonly Json[] } | ({ ok: false } & Failure);

function listItems(forEach: Expression | null, bindings: Bindings, budget: StepBudget): Items {
  if (!forEach) return { ok: true, value: [null] };
  const list = forEach.evaluate(bindings, budget);
  if (!list.ok) return list;
  return Array.isArray(list.value)
    ? { ok: true, value: list.value as readonly Json[] }
    : { ok: false, error: 'expected a list' };
}

function makeRecipient(
  rule: EventRule,
  bindings: Bindings,
  { id: eventId, appendedAt }: SourceEvent,
  triggerId: string,
  budget: StepBudget,
): Made {
  const unknown = refusedByUnknown(rule, bindings, budget);
  if (unknown) return unknown;
  const variables = Object.fromEntries(
    rule.variables.map(([name, expression]) => [name, valueOrNull(expression, bindings, budget)]),
  );
  const refused = refusedBy(rule.where, { ...bindings, variables }, budget);
  if (refused) return refused;
  const to = addressesBy((kind) => addressOf(kind, rule.to[kind], bindings, budget));
  const unique = uniqueIdOf(rule, bindings, to, { eventId, triggerId }, budget);
  if (!unique.ok) return unique;
  const named = rule.person ? identifier(valueOrNull(rule.person, bindings, budget)) : null;
  const until = untilOf(rule.until, bindings, bindings.deadline ?? appendedAt, budget);
  if (!until.ok) return until;
  const digestKey = digestKeyOf(rule.digestKey, { ...bindings, variables }, budget);
  if (!digestKey.ok) return digestKey;
  const person = personOf(named, to, unique.value);
  return madeOf({ to, uniqueId: unique.value, person, variables, until: until.value, digestKey: digestKey.value });
}

function addressOf(
  kind: AddressKind,
  expression: Expression | null,
  bindings: Bindings,
  budget: StepBudget,
): string | null {
  const value = expression ? valueOrNull(expression, bindings, budget) : null;
  return typeof value === 'string' ? addressOrText(kind, value) : null;
}
