import {
  deliverySettings,
  evaluateRule,
  formatPosition,
  notificationIdOf,
  ruleIdOf,
  ruleTitle,
  type Configuration,
  type Intent,
  type PlacedRule,
  type Recipient,
  type RuleOutcome,
  type SourceEvent,
} from '@carillon/domain';
import type { DeriveId, IntentId, Json, JsonObject, TriggerId } from '@carillon/kernel';
import type { TemplateNames } from '@carillon/ports';
import type { RuleBook } from './rule-book.ts';

/** What one rule made of one event. */
export type Judgement = {
  readonly placed: PlacedRule;
  readonly triggerId: TriggerId;
  readonly outcome: RuleOutcome;
  readonly intents: readonly Intent[];
};

/** Reserved variables: the recipient's own, read by the helpers of templates (rules.md section 3). */
const RESERVED = ['time_zone', 'locale'] as const;

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
  return book.rulesOf(configuration, event.stream).map((entry): Judgement => {
    const { placed } = entry;
    const triggerId = derive('trigger', ruleIdOf(placed), event.id, '') as TriggerId;
    if (!entry.ok) return { placed, triggerId, outcome: { kind: 'failed', error: entry.error }, intents: [] };
    const outcome = evaluateRule(entry.rule, event, triggerId);
    const intents =
      outcome.kind === 'fired'
        ? outcome.recipients.flatMap((who) => makeIntents(placed, event, who, triggerId, configuration, book, derive))
        : [];
    return { placed, triggerId, outcome, intents };
  });
}

/** The intents of one recipient of a fired rule: one for each channel of its notification. */
export function makeIntents(
  placed: PlacedRule,
  event: SourceEvent,
  recipient: Recipient,
  triggerId: TriggerId,
  configuration: Configuration,
  book: RuleBook,
  derive: DeriveId,
): Intent[] {
  const { notification, workspace } = placed;
  const email = notification.body.channels.email;
  if (!email) return [];
  const template = book.template(configuration, workspace, email.template);
  const notificationId = notificationIdOf(notification);
  const to = recipient.to.email;
  return [
    {
      id: derive('intent', triggerId, 'email', recipient.uniqueId, to ?? '') as IntentId,
      slot: { workspace, notificationId, channel: 'email', uniqueId: recipient.uniqueId },
      notification: notification.ref.name,
      rule: ruleTitle(placed),
      ruleId: ruleIdOf(placed),
      ruleVersion: placed.version,
      configNumber: configuration.number,
      eventId: event.id,
      eventPosition: formatPosition(event.position),
      triggerId,
      to,
      person: recipient.person,
      variables: templateContext(event.body, recipient.variables, template.names),
      template: email.template,
      templateVersion: template.version,
      causedAt: event.appendedAt,
      notAfter: event.appendedAt + deliverySettings(notification.body).expires,
      traceparent: event.traceparent,
    },
  ];
}

/** The fields and variables that the template refers to, a variable before a field of the same name; nothing else. */
export function templateContext(event: JsonObject, variables: JsonObject, names: TemplateNames): JsonObject {
  if (names.all) return { ...event, ...variables };
  return Object.fromEntries(
    [...names.names, ...RESERVED].flatMap((name): [string, Json][] => {
      const holder = [variables, event].find((one) => Object.hasOwn(one, name));
      const value = holder?.[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
