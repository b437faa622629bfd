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

/** Why a rule failed. `too_large_to_keep`: the rule stores events, and this event is too large. */
export type FailureReason = 'rule_error' | 'too_complex' | 'too_large_to_keep' | UnknownReason;

export type RuleOutcome =
  /** `because` is set if the rule ignores this kind of change. */
  | { readonly kind: 'not_fired'; readonly because?: 'other_change' }
  | { readonly kind: 'disabled' }
  | { readonly kind: 'failed'; readonly reason: FailureReason; readonly error: string }
  | { readonly kind: 'fired'; readonly recipients: readonly Recipient[]; readonly dropped: readonly Dropped[] }
  /** The rule fired, and a partner must name the recipients. Each user id occurs once. */
  | { readonly kind: 'asks'; readonly userIds: readonly string[]; readonly dropped: readonly Dropped[] };

/** Maximum recipients of one event by `for_each`. Further recipients are dropped with a reason. */
export const MAX_RECIPIENTS = 500;

/**
 * Outcome of most rules for most events. One shared value, because creating it took as long as evaluating the
 * condition.
 */
export const NOT_FIRED: RuleOutcome = Object.freeze({ kind: 'not_fired' });
/** Outcome of a rule for a kind of change that is not in its `changes`. */
export const OTHER_CHANGE: RuleOutcome = Object.freeze({ kind: 'not_fired', because: 'other_change' });
export const DISABLED: RuleOutcome = Object.freeze({ kind: 'disabled' });

/** Returns the names that expressions see for an event, equal for all rules. */
export const bindingsOf = ({ body, id, time, change }: SourceEvent): Bindings =>
  change === null ? { event: body, event_id: id, time } : { event: body, event_id: id, time, ...visibleChange(change) };

/** Evaluates a rule for an event, without a pause and with a separate budget. */
export const evaluateRule = (rule: CompiledRule, event: SourceEvent, triggerId: () => string): RuleOutcome =>
  runToCompletion(evaluateRuleCoroutine(rule, event, triggerId));

/**
 * Evaluates a rule for an event. Pure: the same event always has the same outcome. Calls `triggerId` only if the rule
 * fires, because deriving the id costs more than most rules. Offers a pause between recipients.
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

/**
 * Returns the outcome of a rule whose condition does not fire it. Null if the rule fires; `fireRule` then returns the
 * recipients.
 */
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

/** Maximum user ids about which one event asks a partner. Further ids are dropped with a reason. */
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
