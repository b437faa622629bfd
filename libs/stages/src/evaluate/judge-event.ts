import {
  bindingsOf,
  deliverySettings,
  EventBudget,
  fireRule,
  formatPosition,
  outcomeWithoutFiring,
  partsOf,
  ruleIdOf,
  ruleTitle,
  triggerIdOf,
  type Bindings,
  type CompiledRule,
  type Configuration,
  type Intent,
  type LookupRule,
  type PlacedRule,
  type RuleOutcome,
  type SourceEvent,
  type StepBudget,
  type Trigger,
} from '@carillon/domain';
import { inOneGo, type DeriveId, type InParts, type JsonObject, type TriggerId } from '@carillon/kernel';
import { causeOfEvent, makeIntents, namesAfterLookup, templateContext } from './make-intents.ts';
import type { RuleBook } from './rule-book.ts';

/** What one rule made of one event: intents where the event names the recipients, triggers where a partner has to. */
export type Judgement = {
  readonly placed: PlacedRule;
  /** Null: no trigger came of it. */ readonly triggerId: TriggerId | null;
  readonly outcome: RuleOutcome;
  readonly intents: readonly Intent[];
  readonly triggers: readonly Trigger[];
};

const NONE: readonly never[] = [];
const nothingOf = (placed: PlacedRule, outcome: RuleOutcome): Judgement => ({
  placed,
  triggerId: null,
  outcome,
  intents: NONE,
  triggers: NONE,
});

/** Judges an event in the live run, without a pause. */
export function judgeEvent(
  event: SourceEvent,
  configuration: Configuration,
  book: RuleBook,
  derive: DeriveId,
): readonly Judgement[] {
  return inOneGo(judgeEventInParts(event, configuration, book, derive, null));
}

/**
 * Judges an event by a configuration: pure, and the same for ever, so that `trace` and replay come to what the engine
 * came to. The trigger of a rule whose event names the recipient is only an id in the intents. The event has one budget of
 * steps for all rules, of which each has a share; a pause is offered between recipients, and between rules that took long.
 */
export function* judgeEventInParts(
  event: SourceEvent,
  configuration: Configuration,
  book: RuleBook,
  derive: DeriveId,
  runId: string | null,
): InParts<readonly Judgement[]> {
  const bindings = bindingsOf(event);
  const budget = new EventBudget();
  const judgements: Judgement[] = [];
  for (const entry of book.rulesOf(configuration, event.stream)) {
    if (!entry.ok) {
      judgements.push(nothingOf(entry.placed, { kind: 'failed', reason: 'rule_error', error: entry.error }));
      continue;
    }
    const share = budget.nextRule();
    const nothing = outcomeWithoutFiring(entry.rule, bindings, share);
    judgements.push(
      nothing
        ? nothingOf(entry.placed, nothing)
        : yield* fire(entry.rule, event, bindings, share, configuration, book, derive, runId),
    );
    if (budget.pauseIsDue()) yield;
  }
  return judgements;
}

function* fire(
  rule: CompiledRule,
  event: SourceEvent,
  bindings: Bindings,
  budget: StepBudget,
  configuration: Configuration,
  book: RuleBook,
  derive: DeriveId,
  runId: string | null,
): InParts<Judgement> {
  const { placed } = rule;
  let made: TriggerId | null = null;
  const triggerIdNow = (): TriggerId => (made ??= triggerIdOf(derive, ruleIdOf(placed), event.id, { runId }));
  const outcome = yield* fireRule(rule, event, triggerIdNow, bindings, budget);
  if (outcome.kind === 'asks' && rule.from === 'lookup') {
    const triggers = makeTriggers(rule, event, outcome.userIds, configuration, book, derive, runId);
    return { placed, triggerId: null, outcome, intents: NONE, triggers };
  }
  if (outcome.kind !== 'fired') return nothingOf(placed, outcome);
  const cause = causeOfEvent(event, placed);
  const triggerId = triggerIdNow();
  const intents: Intent[] = [];
  for (const who of outcome.recipients) {
    intents.push(...makeIntents(placed, cause, who, triggerId, configuration, book, derive));
    if (outcome.recipients.length > 1) yield;
  }
  return { placed, triggerId, outcome, intents, triggers: NONE };
}

/** The triggers of a fired rule: as many as its list of ids takes, each with what is needed once the answer is there. */
export function makeTriggers(
  rule: LookupRule,
  event: SourceEvent,
  userIds: readonly string[],
  configuration: Configuration,
  book: RuleBook,
  derive: DeriveId,
  runId: string | null = null,
): readonly Trigger[] {
  const { placed, integration } = rule;
  const { notification, workspace } = placed;
  const carried: JsonObject = templateContext(event.body, {}, namesAfterLookup(rule, configuration, book));
  const parts = partsOf(userIds);
  return parts.map((ids, part) => ({
    id: triggerIdOf(derive, ruleIdOf(placed), event.id, { part, runId }),
    workspace,
    notification: notification.ref.name,
    rule: ruleTitle(placed),
    ruleId: ruleIdOf(placed),
    ruleVersion: placed.version,
    configNumber: configuration.number,
    integration,
    eventId: event.id,
    eventPosition: formatPosition(event.position),
    part,
    parts: parts.length,
    userIds: ids,
    event: carried,
    time: event.time,
    causedAt: event.appendedAt,
    notAfter: event.appendedAt + deliverySettings(notification.body).expires,
    traceparent: event.traceparent,
  }));
}
