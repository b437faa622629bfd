import { canonicalAddress } from '@carillon/domain/channels';
import { ruleIdOf, type Configuration, type PlacedRule } from '@carillon/domain/configuration';
import type { SourceEvent } from '@carillon/domain/events';
import { findRecipientsOf, type Trigger } from '@carillon/domain/lookups';
import type { Dropped, LookupRule, Recipient } from '@carillon/domain/rules';
import type { Line, Side, SideCounts } from '@carillon/domain/runs';
import type { Coroutine } from '@carillon/kernel';
import type { Ids } from '@carillon/ports';
import { evaluateOutcomesCoroutine, isFired, makeTriggers, type EvaluatedRule } from '../evaluate/evaluate-event.ts';
import { causeOfEvent, causeOfTrigger, makeMessages, type Cause, type Message } from '../evaluate/make-intents.ts';
import type { RuleBook } from '../evaluate/rule-book.ts';
import { linesOf, type Wanted } from './lines.ts';
import { templatesOf } from './message-content.ts';
import { itemsFor, type FindAnswer } from './recorded-answers.ts';

/** The two configurations of a comparison; one of them may be unpublished. */
export type ComparedConfigurations = { readonly [Name in Side]: Configuration };

export type CompareContext = {
  readonly configurations: ComparedConfigurations;
  /** A book narrowed to the notifications of the run. */
  readonly book: RuleBook;
  readonly ids: Pick<Ids, 'derive' | 'keyed'>;
  readonly findAnswer: FindAnswer;
};

/** A rule that asks a partner about an event. */
export type EventLookup = { readonly ruleId: string; readonly userIds: number };

/** What an event comes to on both sides. */
export type ComparedEvent = {
  readonly lines: readonly Line[];
  /** True if a side asks a partner and no recorded answer says who is notified. */
  readonly needsLookup: boolean;
  /** Rules by which *after* asks a partner without such an answer. */
  readonly lookups: readonly EventLookup[];
  /** Messages without a valid address. */
  readonly noAddress: SideCounts;
  /** Rules and recipients whose evaluation ended in an error. */
  readonly ruleErrors: SideCounts;
};

/** The result of a side for an event. */
type SideResult = {
  readonly wanted: Wanted[];
  /** Rules that need a lookup: number of user ids by rule id. */
  readonly unanswered: Map<string, number>;
  noAddress: number;
  ruleErrors: number;
};

/**
 * Evaluates an event by both configurations and returns a line for each message of either side. Pure: no clock, no store, and
 * a partner is never asked. If a side needs a lookup for a rule, the rule has no lines on either side, because the
 * difference is unknown. A pause is offered between recipients.
 */
export function* compareEventCoroutine(event: SourceEvent, context: CompareContext): Coroutine<ComparedEvent> {
  const before = yield* evaluateSide(event, 'before', context);
  const after = yield* evaluateSide(event, 'after', context);
  const unanswered = new Set([...before.unanswered.keys(), ...after.unanswered.keys()]);
  const known = ({ placed }: Wanted): boolean => !unanswered.has(ruleIdOf(placed));
  const wanted = { before: before.wanted.filter(known), after: after.wanted.filter(known) };
  return {
    lines: linesOf(event, wanted, context.ids),
    needsLookup: unanswered.size > 0,
    lookups: [...after.unanswered].map(([ruleId, userIds]) => ({ ruleId, userIds })),
    noAddress: { before: before.noAddress, after: after.noAddress },
    ruleErrors: { before: before.ruleErrors, after: after.ruleErrors },
  };
}

/** Returns the messages of one side of an event, as `compareEventCoroutine` finds them, with names and addresses. */
export function* wantedMessagesCoroutine(
  event: SourceEvent,
  side: Side,
  context: CompareContext,
): Coroutine<readonly Wanted[]> {
  return (yield* evaluateSide(event, side, context)).wanted;
}

/** The messages of a rule that fired, and what the rule is counted for. */
export type SideFiring = {
  readonly wanted: readonly Wanted[];
  /** User ids that the rule asks a partner about without a recorded answer. Null: none. */
  readonly unanswered: number | null;
  readonly noAddress: number;
  readonly ruleErrors: number;
};

/** Returns the messages of a rule that the evaluate stage has evaluated for an event, maybe at a deadline. */
export function* sideFiringCoroutine(
  event: SourceEvent,
  { placed, outcome, intents, triggers }: EvaluatedRule,
  side: Side,
  context: CompareContext,
): Coroutine<SideFiring> {
  const configuration = context.configurations[side];
  const result: SideResult = { wanted: [], unanswered: new Map(), noAddress: 0, ruleErrors: 0 };
  const work: SideWork = { ...context, configuration, result };
  if (outcome.kind === 'failed') result.ruleErrors += 1;
  if (outcome.kind === 'fired' || outcome.kind === 'asks') result.ruleErrors += countErrors(outcome.dropped);
  for (const intent of intents) {
    const { channel, uniqueId } = intent.slot;
    addMessage({ ...intent, channel }, { placed, uniqueId, person: intent.person }, work);
  }
  if (triggers.length > 0) {
    const entry = work.book
      .rulesOf(configuration, event.stream)
      .find((each) => ruleIdOf(each.placed) === ruleIdOf(placed));
    if (entry?.ok && entry.rule.from === 'lookup') yield* addAnswers(entry.rule, triggers, work);
  }
  return { ...result, unanswered: result.unanswered.get(ruleIdOf(placed)) ?? null };
}

const isError = ({ reason }: Dropped): boolean => reason === 'rule_error' || reason === 'too_complex';
const countErrors = (dropped: readonly Dropped[]): number =>
  dropped.filter(isError).reduce((sum, { count }) => sum + count, 0);

/** What one side is evaluated with, and what it has come to so far. */
type SideWork = CompareContext & { readonly configuration: Configuration; readonly result: SideResult };

function* evaluateSide(event: SourceEvent, side: Side, context: CompareContext): Coroutine<SideResult> {
  const { book, configurations, ids } = context;
  const configuration = configurations[side];
  const result: SideResult = { wanted: [], unanswered: new Map(), noAddress: 0, ruleErrors: 0 };
  const work: SideWork = { ...context, configuration, result };
  const rules = book.rulesOf(configuration, event.stream);
  for (const evaluated of yield* evaluateOutcomesCoroutine(event, rules, ids.derive)) {
    if (!isFired(evaluated)) {
      if (evaluated.outcome.kind === 'failed') result.ruleErrors += 1;
      continue;
    }
    const { fired, placed, outcome } = evaluated;
    result.ruleErrors += countErrors(outcome.dropped);
    if (outcome.kind === 'fired') yield* addWanted(placed, causeOfEvent(event, placed), outcome.recipients, work);
    else if (fired.from === 'lookup') yield* addAnswered(fired, event, outcome.userIds, work);
  }
  return result;
}

/** Resolves the recorded answers of a rule that asks a partner. If one is missing, the rule counts as unanswered as a whole. */
function* addAnswered(
  rule: LookupRule,
  event: SourceEvent,
  userIds: readonly string[],
  work: SideWork,
): Coroutine<void> {
  const { book, configuration, ids } = work;
  const triggers = makeTriggers(rule, event, userIds, { configuration, book, derive: ids.derive, runId: null });
  yield* addAnswers(rule, triggers, work);
}

function* addAnswers(rule: LookupRule, triggers: readonly Trigger[], work: SideWork): Coroutine<void> {
  const { findAnswer, result } = work;
  const ruleId = ruleIdOf(rule.placed);
  const answered = triggers.map((trigger) => ({
    trigger,
    items: itemsFor(trigger, findAnswer(ruleId, trigger.eventId, trigger.part)),
  }));
  if (answered.some(({ items }) => items === null)) {
    result.unanswered.set(
      ruleId,
      triggers.reduce((sum, { userIds }) => sum + userIds.length, 0),
    );
    return;
  }
  for (const { trigger, items } of answered) {
    const { recipients, dropped } = yield* findRecipientsOf(rule, { trigger, items: items ?? [] });
    result.ruleErrors += countErrors(dropped);
    yield* addWanted(rule.placed, causeOfTrigger(trigger), recipients, work);
  }
}

function* addWanted(
  placed: PlacedRule,
  cause: Cause,
  recipients: readonly Recipient[],
  work: SideWork,
): Coroutine<void> {
  for (const recipient of recipients) {
    for (const message of makeMessages(placed, cause, recipient, work)) {
      addMessage(message, { placed, uniqueId: recipient.uniqueId, person: recipient.person }, work);
    }
    if (recipients.length > 1) yield;
  }
}

function addMessage(
  { channel, template, to, variables }: Message,
  who: Pick<Wanted, 'placed' | 'uniqueId' | 'person'>,
  { configuration, result }: SideWork,
): void {
  if (to === null || canonicalAddress(channel, to) === null) {
    result.noAddress += 1;
    return;
  }
  const { workspace, notification } = who.placed;
  const message = { channel, template, to, variables };
  const templates = templatesOf(configuration, workspace, notification.body, message);
  result.wanted.push({ ...message, ...who, templates });
}
