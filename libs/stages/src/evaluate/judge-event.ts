import {
  bindingsOf,
  deliverySettings,
  evaluateRule,
  formatPosition,
  partsOf,
  ruleIdOf,
  ruleTitle,
  triggerIdOf,
  type CompiledRule,
  type Configuration,
  type Intent,
  type PlacedRule,
  type RuleOutcome,
  type SourceEvent,
  type Trigger,
} from '@carillon/domain';
import type { DeriveId, JsonObject, TriggerId } from '@carillon/kernel';
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

/**
 * Judges an event by a configuration: pure, and the same for ever, so that `trace` and replay come to what the engine
 * came to. The trigger of a rule whose event names the recipient is only an id in the intents.
 */
export function judgeEvent(
  event: SourceEvent,
  configuration: Configuration,
  book: RuleBook,
  derive: DeriveId,
): readonly Judgement[] {
  const bindings = bindingsOf(event);
  return book.rulesOf(configuration, event.stream).map((entry): Judgement => {
    const { placed } = entry;
    if (!entry.ok) return nothingOf(placed, { kind: 'failed', error: entry.error });
    let made: TriggerId | null = null;
    const triggerIdNow = (): TriggerId => (made ??= triggerIdOf(derive, ruleIdOf(placed), event.id));
    const outcome = evaluateRule(entry.rule, event, triggerIdNow, bindings);
    if (outcome.kind === 'fired') {
      const triggerId = triggerIdNow();
      const cause = causeOfEvent(event, placed);
      const intents = outcome.recipients.flatMap((who) =>
        makeIntents(placed, cause, who, triggerId, configuration, book, derive),
      );
      return { placed, triggerId, outcome, intents, triggers: NONE };
    }
    if (outcome.kind !== 'asks') return nothingOf(placed, outcome);
    const triggers = makeTriggers(entry.rule, event, outcome.userIds, configuration, book, derive);
    return { placed, triggerId: null, outcome, intents: NONE, triggers };
  });
}

/** The triggers of a fired rule: as many as its list of ids takes, each with what is needed once the answer is there. */
export function makeTriggers(
  rule: CompiledRule,
  event: SourceEvent,
  userIds: readonly string[],
  configuration: Configuration,
  book: RuleBook,
  derive: DeriveId,
): readonly Trigger[] {
  const { placed, lookup } = rule;
  const { notification, workspace } = placed;
  const carried: JsonObject = templateContext(event.body, {}, namesAfterLookup(rule, configuration, book));
  const parts = partsOf(userIds);
  return parts.map((ids, part) => ({
    id: triggerIdOf(derive, ruleIdOf(placed), event.id, part),
    workspace,
    notification: notification.ref.name,
    rule: ruleTitle(placed),
    ruleId: ruleIdOf(placed),
    ruleVersion: placed.version,
    configNumber: configuration.number,
    integration: lookup?.integration ?? '',
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
