import { runToCompletion, type Coroutine } from '@carillon/kernel';
import { addressesOf } from '../channels/channel.ts';
import { StepBudget } from '../rules/budget.ts';
import type { Bindings } from '../rules/expression.ts';
import { totalNumbers } from '../rules/forms/index.ts';
import type { CompiledRule } from '../rules/program.ts';
import type { Dropped, Recipient } from '../rules/recipient.ts';
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
} from '../rules/recipient-parts.ts';
import type { Lookup, LookupItem } from './lookup.ts';

export type Found = { readonly recipients: readonly Recipient[]; readonly dropped: readonly Dropped[] };

/**
 * Returns the recipients of an answer: a pure function of the record and its pinned rule. One answer has the step
 * budget of one rule and event. Yields after each item.
 */
export function* findRecipientsOf(
  rule: CompiledRule,
  { trigger, items }: Pick<Lookup, 'trigger' | 'items'>,
): Coroutine<Found> {
  const recipients: Recipient[] = [];
  const dropped: Dropped[] = [];
  const budget = new StepBudget();
  for (const [index, item] of items.entries()) {
    const bindings: Bindings = {
      event: trigger.event,
      event_id: trigger.eventId,
      time: trigger.time,
      variables: item.variables,
      ...trigger.change,
      ...(trigger.deadline !== undefined && { deadline: trigger.deadline }),
      ...(trigger.totals !== undefined && { totals: totalNumbers(trigger.totals) }),
    };
    const made = makeRecipient(rule, item, bindings, trigger, budget);
    if (budget.exhausted) {
      dropped.push(beyondBudget(index, items.length));
      break;
    }
    if (made.ok) recipients.push(made.recipient);
    else dropped.push({ index, reason: made.reason, detail: made.detail, count: 1 });
    yield;
  }
  return { recipients, dropped };
}

export const recipientsOf = (rule: CompiledRule, lookup: Pick<Lookup, 'trigger' | 'items'>): Found =>
  runToCompletion(findRecipientsOf(rule, lookup));

function makeRecipient(
  rule: CompiledRule,
  { userId, to: written, variables }: LookupItem,
  bindings: Bindings,
  trigger: Lookup['trigger'],
  budget: StepBudget,
): Made {
  const refused = refusedByUnknown(rule, bindings, budget) ?? refusedBy(rule.where, bindings, budget);
  if (refused) return refused;
  // Records of earlier versions have addresses as the partner wrote them.
  const to = addressesOf(written);
  // The partner's value is used literally, even if it equals one of our keywords.
  const said = identifier(variables['unique_id'] ?? null);
  const unique =
    said === null
      ? uniqueIdOf(rule, bindings, to, { eventId: trigger.eventId, triggerId: trigger.id }, budget)
      : { ok: true as const, value: said };
  if (!unique.ok) return unique;
  const named = userId ?? (rule.person ? identifier(valueOrNull(rule.person, bindings, budget)) : null);
  const until = untilOf(rule.until, bindings, trigger.causedAt, budget);
  if (!until.ok) return until;
  const digestKey = digestKeyOf(rule.digestKey, bindings, budget);
  if (!digestKey.ok) return digestKey;
  const person = personOf(named, to, unique.value);
  return madeOf({ to, uniqueId: unique.value, person, variables, until: until.value, digestKey: digestKey.value });
}
