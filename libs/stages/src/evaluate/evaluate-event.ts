import { CHANGE_OPS, type Change, type ChangeOp } from '@carillon/domain/changes';
import { ruleIdOf, ruleTitle, type Configuration, type PlacedRule } from '@carillon/domain/configuration';
import { deliverySettings, type Intent } from '@carillon/domain/deliveries';
import { formatPosition, type SourceEvent } from '@carillon/domain/events';
import { partsOf, triggerIdOf, type Trigger } from '@carillon/domain/lookups';
import {
  bindingsOf,
  EventBudget,
  fireRule,
  isLate,
  NOT_FIRED,
  OTHER_CHANGE,
  memoryAfterEvent,
  outcomeWithoutFiring,
  ruleMemoryOf,
  stepAtEvent,
  type Bindings,
  type CompiledRule,
  type EntityTurn,
  type KeyedEvent,
  type LookupRule,
  type PassedWait,
  type RuleOutcome,
  type RuleStep,
  type ShownTotals,
  StepBudget,
  withTotals,
} from '@carillon/domain/rules';
import {
  runToCompletion,
  type DeriveId,
  type Coroutine,
  type Instant,
  type JsonObject,
  type TriggerId,
} from '@carillon/kernel';
import { isKeyed, NO_ENTITY, type EntityStates } from './entity-states.ts';
import {
  AT_EVENT,
  causeOfEvent,
  changeAfterLookup,
  makeIntents,
  namesAfterLookup,
  templateContext,
  type FiringTime,
  type IntentContext,
} from './make-intents.ts';
import type { BookRule, RuleBook } from './rule-book.ts';
import { effectOfDeadline, effectOfEvent, type StateEffect } from './state-effect.ts';

/**
 * Result of one rule for one event: intents if the event names the recipients, triggers if a partner must name them.
 */
export type EvaluatedRule = {
  readonly placed: PlacedRule;
  /** Null: no trigger came of it. */ readonly triggerId: TriggerId | null;
  readonly outcome: RuleOutcome;
  readonly intents: readonly Intent[];
  readonly triggers: readonly Trigger[];
  /** The effect on the state of the rule, for the counts of the evaluation record. Undefined without one. */
  readonly effect?: StateEffect;
  /** Values of the rule's totals when it fired. Undefined: it has none. */
  readonly totals?: ShownTotals;
};

const NONE: readonly never[] = [];
const nothingOf = (placed: PlacedRule, outcome: RuleOutcome): EvaluatedRule => ({
  placed,
  triggerId: null,
  outcome,
  intents: NONE,
  triggers: NONE,
});

/** Results that the rules of a stream have for most events. Created once per list of rules instead of per event. */
type Quiet = {
  readonly unfired: readonly EvaluatedRule[];
  readonly skipped: readonly EvaluatedRule[];
  /** Kinds of changes that no rule of the stream looks at. */
  readonly skippedByAll: ReadonlySet<ChangeOp>;
  /** Rules that remember entities. */
  readonly remembering: readonly PlacedRule[];
};
const quiet = new WeakMap<readonly BookRule[], Quiet>();
function quietRules(entries: readonly BookRule[]): Quiet {
  let known = quiet.get(entries);
  if (!known) {
    known = {
      unfired: entries.map(({ placed }) => nothingOf(placed, NOT_FIRED)),
      skipped: entries.map(({ placed }) => nothingOf(placed, OTHER_CHANGE)),
      remembering: entries.flatMap((entry) => (entry.ok && entry.rule.memory !== null ? [entry.placed] : [])),
      skippedByAll: new Set(CHANGE_OPS.filter((op) => entries.every((entry) => skips(entry, op)))),
    };
    quiet.set(entries, known);
  }
  return known;
}

const skips = (entry: BookRule, op: ChangeOp): boolean =>
  entry.ok && entry.placed.enabled && entry.rule.memory === null && !entry.rule.changes.includes(op);

/** Returns true if every rule of the stream ignores this kind of change. */
export const isSkippedByAll = ({ op }: Pick<Change, 'op'>, entries: readonly BookRule[]): boolean =>
  quietRules(entries).skippedByAll.has(op);

/** Returns true if a rule of the stream stores state per entity. */
export const keepsState = (entries: readonly BookRule[]): boolean => quietRules(entries).remembering.length > 0;

/** Returns the rules with state for which an event is late. `watermark`: the highest append time up to the event. */
export const lateRules = (
  event: SourceEvent,
  entries: readonly BookRule[],
  watermark: Instant,
): readonly PlacedRule[] => quietRules(entries).remembering.filter((placed) => isLate(event, placed, watermark));

/** Evaluates an event in the live run, without a pause. */
export function evaluateEvent(
  event: SourceEvent,
  configuration: Configuration,
  book: RuleBook,
  derive: DeriveId,
): readonly EvaluatedRule[] {
  return runToCompletion(evaluateEventCoroutine(event, configuration, book, derive));
}

/**
 * Run in which an event is evaluated, and the known state of its entity. If the state is null, rules with state are
 * skipped.
 */
export type EvaluationRun = {
  readonly runId: string | null;
  readonly states: Pick<EntityStates, 'turn' | 'put'> | null;
  /** Highest append time of the partition up to the event. Defaults to that of the event. */
  readonly watermark?: Instant;
};
const LIVE: EvaluationRun = { runId: null, states: null };

/** A rule that fires for an event or asks a partner about it, before intents and triggers are made. */
export type FiredRule = {
  readonly fired: CompiledRule;
  readonly placed: PlacedRule;
  readonly outcome: Extract<RuleOutcome, { readonly kind: 'fired' | 'asks' }>;
  /** Derives the id of the live trigger on its first call. */
  readonly triggerId: () => TriggerId;
  readonly when: FiringTime;
  readonly effect?: StateEffect;
};

/**
 * Evaluates an event by a configuration. Pure and repeatable, so that `trace` and replay get the result of the engine.
 * If the event names the recipients, the trigger of a rule is only an id in the intents. All rules share the step
 * budget of the event. A pause is offered between recipients, and between rules that took long.
 */
export function* evaluateEventCoroutine(
  event: SourceEvent,
  configuration: Configuration,
  book: RuleBook,
  derive: DeriveId,
  run: EvaluationRun = LIVE,
): Coroutine<readonly EvaluatedRule[]> {
  const results = yield* evaluateOutcomesCoroutine(
    event,
    book.rulesOf(configuration, event.stream),
    derive,
    run.states,
    run.watermark,
  );
  if (!results.some(isFired)) return results as readonly EvaluatedRule[];
  const making: Making = { configuration, book, derive, runId: run.runId };
  const evaluatedRules: EvaluatedRule[] = [];
  for (const result of results) {
    evaluatedRules.push(isFired(result) ? yield* makeOutputs(result, event, making) : result);
  }
  return evaluatedRules;
}

export const isFired = (result: EvaluatedRule | FiredRule): result is FiredRule => 'fired' in result;

/**
 * Evaluates the rules of a stream for an event as `evaluateEventCoroutine` does, without making messages. Derives an id
 * only for a rule whose `unique_id` is the trigger's. Every run uses the id of the live trigger, so that a message has
 * the same slot in every run.
 */
export function* evaluateOutcomesCoroutine(
  event: SourceEvent,
  entries: readonly BookRule[],
  derive: DeriveId,
  states: EvaluationRun['states'] = null,
  watermark: Instant = event.appendedAt,
): Coroutine<readonly (EvaluatedRule | FiredRule)[]> {
  const bindings = bindingsOf(event);
  const budget = new EventBudget();
  const progress: Progress = { at: 0, fires: false, share: budget.nextRule(), results: [] };
  const entity = states && keepsState(entries) ? startEntity(event, states, watermark) : null;
  for (;;) {
    evaluateQuietRules(entries, bindings, budget, progress);
    const entry = entries[progress.at];
    if (!entry) {
      if (entity) remember(entity, entries);
      return progress.results;
    }
    if (progress.fires && entry.ok) {
      const triggerId = onceTriggerId(entry.rule.placed, event, derive);
      const outcome = yield* fireRule(entry.rule, event, triggerId, bindings, progress.share);
      progress.results.push(resultOf(entry.rule, outcome, triggerId));
      progress.at += 1;
    } else if (entry.ok && entry.rule.memory) {
      const rule = { ...entry.rule, memory: entry.rule.memory };
      if (entity) {
        const triggerId = onceTriggerId(rule.placed, event, derive);
        const step = yield* stepAtEvent(rule, entity.turn, bindings, budget.nextRule(), triggerId);
        entity.steps.set(rule.placed, step);
        const effect = effectOfEvent(ruleMemoryOf(entity.turn.memory, rule.placed), step);
        progress.results.push(withEffect(resultOf(rule, step.outcome, triggerId, step), effect));
      } else if (states && !isKeyed(event)) {
        progress.results.push(nothingOf(rule.placed, { kind: 'failed', reason: 'rule_error', error: NO_ENTITY }));
      }
      progress.at += 1;
    }
    if (budget.pauseIsDue()) yield;
  }
}

/**
 * Progress through the rules of an event. `fires`: the condition of the rule at `at` is true, and its steps are
 * subtracted from `share`.
 */
type Progress = { at: number; fires: boolean; share: StepBudget; readonly results: (EvaluatedRule | FiredRule)[] };

/**
 * Evaluates rules until one fires, keeps state, or a pause is due. Most rules of most events end here, and a plain loop
 * is faster than a coroutine.
 */
function evaluateQuietRules(
  entries: readonly BookRule[],
  bindings: Bindings,
  budget: EventBudget,
  progress: Progress,
): void {
  const { results } = progress;
  const { unfired, skipped } = quietRules(entries);
  progress.fires = false;
  for (; progress.at < entries.length; progress.at += 1) {
    const entry = entries[progress.at];
    if (!entry?.ok) {
      if (entry) results.push(nothingOf(entry.placed, { kind: 'failed', reason: 'rule_error', error: entry.error }));
      continue;
    }
    if (entry.rule.memory || budget.isPauseDue()) return;
    progress.share = budget.nextRule();
    const nothing = outcomeWithoutFiring(entry.rule, bindings, progress.share);
    if (!nothing) {
      progress.fires = true;
      return;
    }
    const same = nothing === NOT_FIRED ? unfired : nothing === OTHER_CHANGE ? skipped : undefined;
    results.push(same?.[progress.at] ?? nothingOf(entry.placed, nothing));
  }
}

/** Inputs from which the intents and triggers of a run are made. */
export type Making = IntentContext & { readonly runId: string | null };

/** Returns a function that derives the id of a rule's live trigger once, when it is needed. */
function onceTriggerId(placed: PlacedRule, event: SourceEvent, derive: DeriveId): () => TriggerId {
  let made: TriggerId | null = null;
  return () => (made ??= triggerIdOf(derive, ruleIdOf(placed), event.id));
}

const resultOf = (
  fired: CompiledRule,
  outcome: RuleOutcome,
  triggerId: () => TriggerId,
  { deadline, totals }: FiringTime = AT_EVENT,
): EvaluatedRule | FiredRule =>
  outcome.kind === 'fired' || outcome.kind === 'asks'
    ? { fired, placed: fired.placed, outcome, triggerId, when: { deadline, totals } }
    : nothingOf(fired.placed, outcome);

const withEffect = <Result extends EvaluatedRule | FiredRule>(result: Result, effect: StateEffect | null): Result =>
  effect === null ? result : { ...result, effect };

/** An event of an entity, with the step results of the rules evaluated so far. */
type EntityProgress = {
  readonly states: Pick<EntityStates, 'put'>;
  readonly event: KeyedEvent;
  readonly turn: EntityTurn;
  readonly steps: Map<PlacedRule, RuleStep>;
};

/** Returns null if the event has no entity, or if it was applied already, so that its outputs are on the log. */
function startEntity(
  event: SourceEvent,
  states: Pick<EntityStates, 'turn' | 'put'>,
  watermark: Instant,
): EntityProgress | null {
  const turn = isKeyed(event) ? states.turn(event, watermark) : null;
  return turn && { states, event: turn.event, turn, steps: new Map() };
}

function remember({ states, event, turn, steps }: EntityProgress, entries: readonly BookRule[]): void {
  const memory = memoryAfterEvent(turn, steps, entries);
  if (memory !== turn.memory) states.put(event, memory);
}

/** Makes the intents of a rule whose event names the recipients, or the triggers of a rule that asks a partner. */
function* makeOutputs(
  { fired, placed, outcome, triggerId: liveTriggerId, when, effect }: FiredRule,
  event: SourceEvent,
  making: Making,
): Coroutine<EvaluatedRule> {
  const facts = { ...(effect && { effect }), ...(when.totals && { totals: when.totals }) };
  if (outcome.kind === 'asks') {
    if (fired.from !== 'lookup') return nothingOf(placed, outcome);
    const triggers = makeTriggers(fired, event, outcome.userIds, making, when);
    return { placed, triggerId: null, outcome, intents: NONE, triggers, ...facts };
  }
  const cause = causeOfEvent(event, placed, when);
  const { derive, runId } = making;
  const triggerId = runId === null ? liveTriggerId() : triggerIdOf(derive, ruleIdOf(placed), event.id, { runId });
  const intents: Intent[] = [];
  for (const who of outcome.recipients) {
    intents.push(...makeIntents(placed, cause, who, triggerId, making));
    if (outcome.recipients.length > 1) yield;
  }
  return { placed, triggerId, outcome, intents, triggers: NONE, ...facts };
}

/**
 * Evaluates the recipients of a rule that fired for an event again, and makes its messages or triggers. The rule must
 * not read `previous` of the entity.
 */
export function* evaluateFiringCoroutine(
  rule: CompiledRule,
  event: SourceEvent,
  when: FiringTime,
  making: IntentContext & Partial<Pick<Making, 'runId'>>,
): Coroutine<EvaluatedRule> {
  const { deadline, totals } = when;
  const triggerId = onceTriggerId(rule.placed, event, making.derive);
  const bindings = withTotals({ ...bindingsOf(event), ...(deadline !== null && { deadline }) }, totals);
  const outcome = yield* fireRule(rule, event, triggerId, bindings, new StepBudget());
  const result = resultOf(rule, outcome, triggerId, when);
  return isFired(result) ? yield* makeOutputs(result, event, { runId: null, ...making }) : result;
}

/** Makes the intents or triggers of a rule whose wait a record ended, from the event of the wait. */
export function* outputsOfPassed(passed: PassedWait, making: Making): Coroutine<EvaluatedRule> {
  const { placed, rule, event, outcome } = passed;
  const effect = effectOfDeadline(passed);
  const triggerId = onceTriggerId(placed, event, making.derive);
  const result = rule ? resultOf(rule, outcome, triggerId, passed) : nothingOf(placed, outcome);
  const counted = withEffect(result, effect);
  return isFired(counted) ? yield* makeOutputs(counted, event, making) : counted;
}

/**
 * Returns the triggers of a fired rule: one per part of its list of user ids, each with the data that is needed after
 * the partner's answer.
 */
export function makeTriggers(
  rule: LookupRule,
  event: SourceEvent,
  userIds: readonly string[],
  { configuration, book, derive, runId }: Making,
  { deadline, totals }: FiringTime = AT_EVENT,
): readonly Trigger[] {
  const { placed, integration } = rule;
  const { notification, workspace } = placed;
  const names = namesAfterLookup(rule, configuration, book);
  const carried: JsonObject = templateContext(event.body, {}, names);
  const { change } = event;
  const parts = partsOf(userIds);
  const causedAt = deadline ?? event.appendedAt;
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
    ...(change !== null && { change: changeAfterLookup(rule, change, names) }),
    time: event.time,
    causedAt,
    ...(deadline !== null && { deadline }),
    ...(totals !== null && { totals }),
    notAfter: causedAt + deliverySettings(notification.body).expires,
    traceparent: event.traceparent,
  }));
}
