import { ruleTitle, type Configuration } from '@carillon/domain/configuration';
import { deliverySettings, type Intent } from '@carillon/domain/deliveries';
import { findRecipientsOf, triggerIdOf, type Lookup, type Trigger } from '@carillon/domain/lookups';
import type { Dropped, Recipient } from '@carillon/domain/rules';
import { err, runToCompletion, ok, type DeriveId, type Coroutine, type Instant, type Result } from '@carillon/kernel';
import { causeOfTrigger, makeIntents } from '../evaluate/make-intents.ts';
import type { RuleBook } from '../evaluate/rule-book.ts';

/** What an answer comes to. */
export type Resolution = {
  /** `notification.rule`, as it was called by that configuration. */
  readonly rule: string;
  readonly recipients: readonly Recipient[];
  readonly dropped: readonly Dropped[];
  readonly intents: readonly Intent[];
};

/** Returns a trigger with its live id. `unique_id: trigger_id` then gives the slots that the live rule gives. */
const asLive = (trigger: Trigger, derive: DeriveId): Trigger =>
  trigger.sentBy
    ? { ...trigger, id: triggerIdOf(derive, trigger.ruleId, trigger.eventId, { part: trigger.part }) }
    : trigger;

/** Returns the recipients of a recorded answer, without yielding. */
export function resolveLookup(
  lookup: Lookup,
  configuration: Configuration,
  book: RuleBook,
  derive: DeriveId,
): Result<Resolution, string> {
  return runToCompletion(resolveLookupCoroutine(lookup, configuration, book, derive));
}

/**
 * Returns the recipients of a recorded answer under the configuration that fired its trigger. Pure, so the result never
 * changes. The error says why that configuration's rule cannot be applied. After an operator's redrive messages get
 * their full time again (docs/internals/delivery-states.md). Yields between recipients.
 */
export function* resolveLookupCoroutine(
  lookup: Pick<Lookup, 'trigger' | 'items'>,
  configuration: Configuration,
  book: RuleBook,
  derive: DeriveId,
  redrivenAt: Instant | null = null,
): Coroutine<Result<Resolution, string>> {
  const { trigger } = lookup;
  const entry = book.ruleOf(configuration, trigger);
  if (!entry) return err(`configuration ${configuration.number} has no rule ${trigger.rule}`);
  if (!entry.ok) return err(entry.error);
  const { recipients, dropped } = yield* findRecipientsOf(entry.rule, { ...lookup, trigger: asLive(trigger, derive) });
  const { expires } = deliverySettings(entry.placed.notification.body);
  const cause = { ...causeOfTrigger(trigger), ...(redrivenAt !== null && { notAfter: redrivenAt + expires }) };
  const intents: Intent[] = [];
  for (const who of recipients) {
    intents.push(...makeIntents(entry.placed, cause, who, trigger.id, { configuration, book, derive }));
    yield;
  }
  return ok({ rule: ruleTitle(entry.placed), recipients, dropped, intents });
}
