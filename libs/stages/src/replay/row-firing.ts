import { ruleIdOf, ruleTitle, type PlacedRule } from '@carillon/domain/configuration';
import type { SourceEvent } from '@carillon/domain/events';
import { gatesOfForms, hasTotals, type CompiledRule, type Expression, type ShownTotals } from '@carillon/domain/rules';
import type { Coroutine, Instant } from '@carillon/kernel';
import { evaluateFiringCoroutine, type EvaluatedRule, type Making } from '../evaluate/evaluate-event.ts';

/** Names a firing of a rule for an event. `at`: append time of the event, or the deadline by which the rule fired. */
export type FiringName = {
  readonly isMeant: (placed: PlacedRule) => boolean;
  readonly at: Instant;
  /** Values of the rule's totals when it fired. Undefined: it has none. */
  readonly totals?: ShownTotals | undefined;
};

export const isRuleOfRow =
  ({ ruleId, rule }: { readonly ruleId?: string; readonly rule: string }) =>
  (placed: PlacedRule): boolean =>
    ruleId === undefined ? ruleTitle(placed) === rule : ruleIdOf(placed) === ruleId;

/** Firings of the meant rule, and of the other rules with state of the stream. */
export type RowFirings = { readonly meant: readonly EvaluatedRule[]; readonly others: readonly EvaluatedRule[] };

/**
 * Evaluates the rules with state of an event's stream as if they fired for it. A comparison found that the meant rule fires; messages of
 * the others only say which slots the event may have. A rule is left out if its messages show values of another event.
 */
export function* rowFiringsCoroutine(
  event: SourceEvent,
  { isMeant, at, totals }: FiringName,
  making: Making,
): Coroutine<RowFirings> {
  const meant: EvaluatedRule[] = [];
  const others: EvaluatedRule[] = [];
  for (const entry of making.book.rulesOf(making.configuration, event.stream)) {
    if (!entry.ok || entry.rule.memory === null || showsEventBefore(entry.rule)) continue;
    const own = isMeant(entry.placed) ? (totals ?? null) : zeroTotals(entry.placed);
    // A rule with totals makes no message without their values.
    if (own === null && hasTotals(entry.rule)) continue;
    const deadline = gatesOfForms(entry.placed.body).includes('deadline') ? at : null;
    const evaluated = yield* evaluateFiringCoroutine(entry.rule, event, { deadline, totals: own }, making);
    (isMeant(entry.placed) ? meant : others).push(evaluated);
  }
  return { meant, others };
}

/** Returns zero for each total of a rule. The slots of its messages seldom depend on them. */
const zeroTotals = ({ body }: PlacedRule): ShownTotals | null =>
  body.totals ? Object.fromEntries(Object.keys(body.totals).map((name) => [name, 0])) : null;

/** Returns true if messages show values of the entity's event before. The row before a change comes with the change. */
export function showsEventBefore(rule: CompiledRule): boolean {
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
