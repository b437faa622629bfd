import type { Coroutine, Instant, Json, JsonObject } from '@carillon/kernel';
import { NO_PREVIOUS } from '../../changes/visible-change.ts';
import type { PlacedRule } from '../../configuration/streams.ts';
import type { SourceEvent } from '../../events/source-event.ts';
import { StepBudget } from '../budget.ts';
import type { Bindings } from '../expression.ts';
import type { CompiledForm, Deadline, Match, Moment, Occasion, Room, RuleEffect } from '../forms/rule-form.ts';
import { bytesOfKept, totalNumbers, type ShownTotals } from '../forms/index.ts';
import type { CompiledRule, RuleNeeds } from '../program.ts';
import {
  bindingsOf,
  conditionOutcome,
  DISABLED,
  failure,
  fireRule,
  NOT_FIRED,
  passedOverOutcome,
  type RuleOutcome,
} from '../recipients.ts';
import {
  isApplied,
  keepEvent,
  MAX_KEPT_BYTES,
  MAX_KEPT_EVENT_BYTES,
  remembered,
  ruleMemoryOf,
  type EntityMemory,
  type KeptEvent,
  type KeyedEvent,
  type PendingWait,
  type RuleMemory,
} from './entity-memory.ts';

/** A rule that stores a memory per entity. */
export type StatefulRule = CompiledRule & { readonly memory: RuleNeeds };

/** An event of an entity, with the memory of the entity before the event. */
export type EntityTurn = {
  readonly memory: EntityMemory;
  readonly event: KeyedEvent;
  /** The highest append time of the partition up to the event. */
  readonly watermark: Instant;
  /** Returns the event as the memory keeps it, or null if it is too large. */
  readonly kept: () => KeptEvent | null;
  /** Room that the event may take in the memory. All rules of the stream share it. */
  readonly room: Room;
};

/**
 * Combines an event with the memory that still counts for its entity. Returns null if the event was applied already.
 */
export function startTurn(stored: EntityMemory, event: KeyedEvent, watermark: Instant): EntityTurn | null {
  const memory = remembered(stored, watermark);
  if (isApplied(memory, event)) return null;
  let kept: KeptEvent | null | undefined;
  const room = roomOf(memory);
  return { memory, event, watermark, room, kept: () => (kept === undefined ? (kept = fitting(event, room)) : kept) };
}

/** Returns the room that the stored events and totals of a memory leave. They are counted on the first use. */
function roomOf({ events, rules }: EntityMemory): Room {
  let left: number | null = null;
  return {
    take(bytes) {
      left ??=
        MAX_KEPT_BYTES -
        Object.values(events).reduce((sum, event) => sum + event.bytes, 0) -
        Object.values(rules).reduce((sum, { kept }) => sum + (kept === undefined ? 0 : bytesOfKept(kept)), 0);
      if (bytes > left) return false;
      left -= bytes;
      return true;
    },
  };
}

function fitting(event: SourceEvent, room: Room): KeptEvent | null {
  const kept = keepEvent(event);
  return kept.bytes <= MAX_KEPT_EVENT_BYTES && room.take(kept.bytes) ? kept : null;
}

/** Result of a record for one rule. */
export type RuleStep = {
  readonly outcome: RuleOutcome;
  /** Memory of the rule from now on. The same object if nothing changed. */
  readonly memory: RuleMemory | undefined;
  /** Facts of a decision for people, and the form that describes them. Null without a decision. */
  readonly decision: { readonly form: string | null; readonly saw: JsonObject } | null;
  /** Deadline by which the rule fires. Null: it fires at its event, or does not fire. */
  readonly deadline: Instant | null;
  /** Totals of the rule, including the event. Null: it has none, or did not look at the event. */
  readonly totals: ShownTotals | null;
};

const TOO_LARGE: RuleOutcome = Object.freeze({
  kind: 'failed',
  reason: 'too_large_to_keep',
  error: `the event has more than ${MAX_KEPT_EVENT_BYTES / 1024} KiB, or does not fit beside other events that are kept of the entity`,
});

/**
 * Returns the event time that counts for deadlines and cooldowns of a rule: the event's own time on a stream with a
 * `time` path, else its append time.
 */
export const countedTime = (
  { appendedAt, time }: Pick<SourceEvent, 'appendedAt' | 'time'>,
  { grace }: Pick<PlacedRule, 'grace'>,
): Instant => (grace === null ? appendedAt : time);

/** Returns true if an event of a stream with a `time` path arrives later than its time plus grace. */
export const isLate = (
  { time }: Pick<SourceEvent, 'time'>,
  { grace }: Pick<PlacedRule, 'grace'>,
  watermark: Instant,
): boolean => grace !== null && time + grace < watermark;

/**
 * Applies an event to a rule. Pure, except that it subtracts its steps from the budget. A rule that is disabled or
 * ignores such changes keeps its memory.
 */
export function* stepAtEvent(
  rule: StatefulRule,
  turn: EntityTurn,
  common: Bindings,
  budget: StepBudget,
  triggerId: () => string,
): Coroutine<RuleStep> {
  const { event, memory, watermark, room } = turn;
  const { placed } = rule;
  const { timeZone, grace } = placed;
  const { forms, readsPrevious } = rule.memory;
  const before = ruleMemoryOf(memory, placed);
  const passedOver = passedOverOutcome(rule, common);
  if (passedOver) return { outcome: passedOver, memory: before, decision: null, deadline: null, totals: null };

  const at = countedTime(event, placed);
  const earlier = withPrevious(rule, common, memory);
  const evaluate: Match['evaluate'] = (expression) => expression.evaluate(bindings, budget);
  let bindings = earlier;
  const prepared = prepareForms(forms, before?.kept, { kind: 'event', event, at, timeZone, grace, room, evaluate });
  const { totals } = prepared;
  bindings = withTotals(earlier, totals);
  const nothing = conditionOutcome(rule, bindings, budget);
  const tooLarge = (): RuleStep => failed(TOO_LARGE, rememberedOf(rule, before, before?.wait, prepared.kept), totals);
  if (readsPrevious && turn.kept() === null) return tooLarge();

  const wait = before?.wait ?? null;
  const match: Match = {
    kind: 'event',
    event,
    at,
    grace,
    watermark,
    holds: nothing === null ? true : nothing === NOT_FIRED ? false : null,
    wait,
    waitsFrom: waitsFromOf(rule, memory, before),
    evaluate,
  };
  const effectBefore = { fires: nothing === null, deadline: null, wait, error: prepared.error };
  const stepped = stepForms(forms, prepared.kept, match, effectBefore);
  const { effect } = stepped;
  if (effect.wait !== null && effect.wait !== wait && turn.kept() === null) return tooLarge();
  const pending = pendingOf(effect.wait, before?.wait, turn, readsPrevious);
  if (!effect.fires) {
    const error = effect.error === null ? null : formFailure(effect.error, prepared, budget);
    const outcome = match.holds === null && nothing !== null ? nothing : (error ?? NOT_FIRED);
    const decision =
      stepped.decision ?? (error === null ? countedDecision(prepared, before?.kept) : failureDecision(error));
    const after = rememberedOf(rule, before, pending, stepped.kept);
    return { outcome, memory: after, decision: sawTotals(decision, prepared), deadline: null, totals };
  }
  const { deadline } = effect;
  const outcome = yield* fireRule(rule, event, triggerId, withDeadline(bindings, deadline), budget);
  const kept = outcome.kind === 'failed' ? stepped.kept : keptAfterFiring(forms, stepped.kept, match.at);
  const decision = sawTotals(firingDecision(outcome, deadline), prepared);
  return { outcome, memory: rememberedOf(rule, before, pending, kept), decision, deadline, totals };
}

function waitsFromOf(
  { placed }: CompiledRule,
  { events }: EntityMemory,
  before: RuleMemory | undefined,
): Instant | null {
  const event = before?.wait && events[before.wait.event];
  return event ? countedTime(event, placed) : null;
}

/** Ends a wait of a rule whose deadline the watermark has passed. The message is made from `event`. */
export function* stepAtDeadline(
  rule: CompiledRule,
  memory: EntityMemory,
  event: KeyedEvent,
  budget: StepBudget,
  triggerId: () => string,
): Coroutine<RuleStep> {
  const before = ruleMemoryOf(memory, rule.placed);
  const { wait } = before ?? {};
  if (!wait) return { outcome: NOT_FIRED, memory: before, decision: null, deadline: null, totals: null };
  const { deadline } = wait;
  if (!rule.placed.enabled) {
    const decision = { form: null, saw: { kind: 'disabled', deadline } };
    const after = rememberedOf(rule, before, undefined, before?.kept);
    return { outcome: DISABLED, memory: after, decision, deadline, totals: null };
  }
  const forms = rule.memory?.forms ?? [];
  const passed = { kind: 'deadline', at: deadline } as const;
  const prepared = prepareForms(forms, before?.kept, { ...passed, timeZone: rule.placed.timeZone });
  const { totals } = prepared;
  const stepped = stepForms(forms, prepared.kept, passed, { fires: true, deadline, wait: null, error: null });
  if (!stepped.effect.fires) {
    const after = rememberedOf(rule, before, undefined, stepped.kept);
    return { outcome: NOT_FIRED, memory: after, decision: sawTotals(stepped.decision, prepared), deadline, totals };
  }
  const own = withTotals(bindingsOf(event), totals);
  const previous = rule.memory?.readsPrevious === true ? { previous: previousOf(memory, wait.previous) } : {};
  const outcome = yield* fireRule(rule, event, triggerId, { ...own, ...previous, deadline }, budget);
  const kept = outcome.kind === 'failed' ? stepped.kept : keptAfterFiring(forms, stepped.kept, deadline);
  const decision = sawTotals(firingDecision(outcome, deadline), prepared);
  return { outcome, memory: rememberedOf(rule, before, undefined, kept), decision, deadline, totals };
}

const failed = (outcome: RuleOutcome, memory: RuleMemory | undefined, totals: ShownTotals | null): RuleStep => ({
  outcome,
  memory,
  decision: sawTotals(failureDecision(outcome), { totals, error: null }),
  deadline: null,
  totals,
});

const formFailure = (error: string, { isTooLarge }: PreparedForms, budget: StepBudget): RuleOutcome =>
  isTooLarge ? { kind: 'failed', reason: 'too_large_to_keep', error } : failure({ error }, budget);

/** Returns the decision for an event that only changes totals. */
const countedDecision = ({ kept, counts }: PreparedForms, before: JsonObject | undefined): RuleStep['decision'] =>
  counts === null || kept === before ? null : { form: counts, saw: { kind: 'counted' } };

/** Adds the totals to the facts of a decision, and why an event was left out of a total. */
function sawTotals(
  decision: RuleStep['decision'],
  { totals, error }: Pick<PreparedForms, 'totals' | 'error'>,
): RuleStep['decision'] {
  if (decision === null || totals === null) return decision;
  const leftOut = error !== null && decision.saw['kind'] !== 'failed' && { left_out: error.slice(0, MAX_ERROR) };
  return { ...decision, saw: { ...decision.saw, totals, ...leftOut } };
}

/** Maximum characters of an error in a decision. */
const MAX_ERROR = 200;

const failureDecision = (outcome: RuleOutcome): RuleStep['decision'] =>
  outcome.kind === 'failed' ? { form: null, saw: { kind: 'failed', error: outcome.error.slice(0, MAX_ERROR) } } : null;

const firingDecision = (outcome: RuleOutcome, deadline: Instant | null): RuleStep['decision'] =>
  failureDecision(outcome) ?? { form: null, saw: { kind: 'fired', ...(deadline !== null && { deadline }) } };

const withPrevious = ({ memory: needs }: CompiledRule, common: Bindings, memory: EntityMemory): Bindings =>
  needs?.readsPrevious === true ? { ...common, previous: previousOf(memory, memory.lastEvent) } : common;

/**
 * Returns the names that the expressions of a rule see for an event, with the memory of its entity before the event.
 */
export const rememberedBindings = (rule: CompiledRule, event: SourceEvent, memory: EntityMemory | null): Bindings =>
  memory === null
    ? bindingsOf(event)
    : withTotals(withPrevious(rule, bindingsOf(event), memory), totalsAtEvent(rule, event, memory));

/**
 * Returns the totals of a rule including an event, from the memory of its entity before the event. Null if the rule has
 * none.
 */
export function totalsAtEvent(rule: CompiledRule, event: SourceEvent, memory: EntityMemory): ShownTotals | null {
  const budget = new StepBudget();
  const bindings = withPrevious(rule, bindingsOf(event), memory);
  return prepareForms(rule.memory?.forms ?? [], ruleMemoryOf(memory, rule.placed)?.kept, {
    kind: 'event',
    event,
    at: countedTime(event, rule.placed),
    timeZone: rule.placed.timeZone,
    grace: rule.placed.grace,
    room: roomOf(memory),
    evaluate: (expression) => expression.evaluate(bindings, budget),
  }).totals;
}

export const withTotals = (bindings: Bindings, totals: ShownTotals | null): Bindings =>
  totals === null ? bindings : { ...bindings, totals: totalNumbers(totals) };

const withDeadline = (bindings: Bindings, deadline: Instant | null): Bindings =>
  deadline === null ? bindings : { ...bindings, deadline };

const previousOf = ({ events }: EntityMemory, offset: number | null): JsonObject =>
  (offset === null ? undefined : events[offset]?.body) ?? NO_PREVIOUS;

type PreparedForms = {
  readonly kept: JsonObject | undefined;
  /** Null: no form of the rule has totals. */
  readonly totals: ShownTotals | null;
  /** The form that has the totals. */
  readonly counts: string | null;
  readonly error: string | null;
  readonly isTooLarge: boolean;
};

/** Prepares the forms of a rule, which add names for its expressions, before `when` is evaluated. */
function prepareForms(forms: readonly CompiledForm[], before: JsonObject | undefined, moment: Moment): PreparedForms {
  let prepared: PreparedForms = { kept: before, totals: null, counts: null, error: null, isTooLarge: false };
  for (const form of forms) {
    if (!form.prepare) continue;
    const { name } = form;
    const own = before !== undefined && Object.hasOwn(before, name) ? before[name] : undefined;
    const { kept, ...facts } = form.prepare(own, moment);
    prepared = { ...facts, counts: name, kept: withKept(prepared.kept, name, kept) };
  }
  return prepared;
}

type SteppedForms = {
  readonly kept: JsonObject | undefined;
  readonly effect: RuleEffect;
  readonly decision: RuleStep['decision'];
};

/** Applies the forms of a rule in their order. The decision of the last form counts. */
function stepForms(
  forms: readonly CompiledForm[],
  before: JsonObject | undefined,
  occasion: Occasion,
  effectBefore: RuleEffect,
): SteppedForms {
  let kept = withoutOthers(before, forms);
  let effect = effectBefore;
  let decision: RuleStep['decision'] = null;
  for (const form of forms) {
    const step = form.step(kept?.[form.name], occasion, effect);
    kept = withKept(kept, form.name, step.kept);
    effect = step.effect;
    if (step.decision) decision = { form: form.name, saw: step.decision };
  }
  return { kept, effect, decision };
}

function keptAfterFiring(
  forms: readonly CompiledForm[],
  before: JsonObject | undefined,
  at: Instant,
): JsonObject | undefined {
  let kept = before;
  for (const form of forms) {
    if (form.fired) kept = withKept(kept, form.name, form.fired(kept?.[form.name], at));
  }
  return kept;
}

function withKept(kept: JsonObject | undefined, name: string, value: Json | undefined): JsonObject | undefined {
  if (kept?.[name] === value) return kept;
  const { [name]: _, ...others } = kept ?? {};
  return value === undefined ? others : { ...others, [name]: value };
}

/** Removes stored values of forms that the rule no longer has. */
function withoutOthers(kept: JsonObject | undefined, forms: readonly CompiledForm[]): JsonObject | undefined {
  const isOwn = (name: string): boolean => forms.some((form) => form.name === name);
  if (kept === undefined || Object.keys(kept).every(isOwn)) return kept;
  return Object.fromEntries(Object.entries(kept).filter(([name]) => isOwn(name)));
}

function pendingOf(
  wait: Deadline | null,
  before: PendingWait | undefined,
  { event, memory }: EntityTurn,
  readsPrevious: boolean,
): PendingWait | undefined {
  if (wait === null) return undefined;
  if (wait === before) return before;
  const { deadline, due } = wait;
  return { deadline, due, event: event.position.offset, previous: readsPrevious ? memory.lastEvent : null };
}

function rememberedOf(
  { placed: { since } }: CompiledRule,
  before: RuleMemory | undefined,
  wait: PendingWait | undefined,
  kept: JsonObject | undefined,
): RuleMemory | undefined {
  if (before?.wait === wait && before?.kept === kept) return before;
  const hasKept = kept !== undefined && Object.keys(kept).length > 0;
  if (wait === undefined && !hasKept) return undefined;
  return { since, ...(wait && { wait }), ...(hasKept && { kept }) };
}
