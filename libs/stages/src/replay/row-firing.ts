import { ruleIdOf, ruleTitle, type PlacedRule } from '@carillon/domain/configuration';
import type { SourceEvent } from '@carillon/domain/events';
import { gatesOfForms, hasTotals, type CompiledRule, type Expression } from '@carillon/domain/rules';
import type { Coroutine, Instant } from '@carillon/kernel';
import { evaluateFiringCoroutine, type EvaluatedRule, type Making } from '../evaluate/evaluate-event.ts';

/** Names a firing of a rule for an event. `at`: append time of the event, or the deadline by which the rule fired. */
export type FiringName = {
  readonly isMeant: (placed: PlacedRule) => boolean;
  readonly at: Instant;
};

export const isRuleOfRow =
  ({ ruleId, rule }: { readonly ruleId?: string; readonly rule: string }) =>
  (placed: PlacedRule): boolean =>
    ruleId === undefined ? ruleTitle(placed) === rule : ruleIdOf(placed) === ruleId;

/**
 * Evaluates the rules with state of an event's stream as if they fired for it, the meant rule first. A comparison found that it fires;
 * messages of the others only say which slots the event may have. A rule is left out if its messages say more than event and deadline do.
 */
export function* rowFiringsCoroutine(
  event: SourceEvent,
  { isMeant, at }: FiringName,
  making: Making,
): Coroutine<readonly EvaluatedRule[]> {
  const meant: EvaluatedRule[] = [];
  const others: EvaluatedRule[] = [];
  for (const entry of making.book.rulesOf(making.configuration, event.stream)) {
    if (!entry.ok || entry.rule.memory === null || saysMoreThanEvent(entry.rule)) continue;
    const deadline = gatesOfForms(entry.placed.body).includes('deadline') ? at : null;
    const evaluated = yield* evaluateFiringCoroutine(entry.rule, event, { deadline, totals: null }, making);
    (isMeant(entry.placed) ? meant : others).push(evaluated);
  }
  return [...meant, ...others];
}

/** Returns true if messages show values of earlier events. The row before a change comes with the change. Templates may show totals. */
function saysMoreThanEvent(rule: CompiledRule): boolean {
  if (hasTotals(rule)) return true;
  const roots = new Set<string>(expressionsOf(rule).flatMap(({ fields }) => fields.map(({ root }) => root)));
  return roots.has('previous') && rule.memory?.readsPrevious === true;
}

function expressionsOf(rule: CompiledRule): readonly Expression[] {
  const { uniqueId, person, where, until, digestKey } = rule;
  const own =
    rule.from === 'lookup'
      ? [rule.userIds]
      : [rule.forEach, rule.to.email, rule.to.phone, rule.to.token, ...rule.variables.map(([, value]) => value)];
  const all = [...own, typeof uniqueId === 'string' ? null : uniqueId, person, where, until, digestKey];
  return all.filter((each) => each !== null);
}
