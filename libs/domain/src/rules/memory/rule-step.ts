import type { Coroutine, Instant, Json, JsonObject } from '@carillon/kernel';
import { NO_PREVIOUS } from '../../changes/visible-change.ts';
import type { PlacedRule } from '../../configuration/streams.ts';
import type { SourceEvent } from '../../events/source-event.ts';
import type { StepBudget } from '../budget.ts';
import type { Bindings } from '../expression.ts';
import type { CompiledForm, Deadline, Match, Occasion, RuleEffect } from '../forms/rule-form.ts';
import type { CompiledRule, RuleNeeds } from '../program.ts';
import {
  bindingsOf,
  DISABLED,
  failure,
  fireRule,
  NOT_FIRED,
  outcomeWithoutFiring,
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

/** A rule that remembers something of each entity. */
export type StatefulRule = CompiledRule & { readonly memory: RuleNeeds };

/** An event of an entity, with what is remembered of the entity before it. */
export type EntityTurn = {
  readonly memory: EntityMemory;
  readonly event: KeyedEvent;
  /** The highest append time of the partition up to the event. */
  readonly watermark: Instant;
  /** Returns the event as the memory keeps it, or null if it is too large. */
  readonly kept: () => KeptEvent | null;
};

/** Starts the turn of an event, with what is still remembered of its entity. Null: the event has been applied already. */
export function startTurn(stored: EntityMemory, event: KeyedEvent, watermark: Instant): EntityTurn | null {
  const memory = remembered(stored, watermark);
  if (isApplied(memory, event)) return null;
  let kept: KeptEvent | null | undefined;
  return { memory, event, watermark, kept: () => (kept === undefined ? (kept = fitting(event, memory)) : kept) };
}

function fitting(event: SourceEvent, { events }: EntityMemory): KeptEvent | null {
  const kept = keepEvent(event);
  const others = Object.values(events).reduce((sum, { bytes }) => sum + bytes, 0);
  return kept.bytes > MAX_KEPT_EVENT_BYTES || kept.bytes + others > MAX_KEPT_BYTES ? null : kept;
}

/** What a record comes to for one rule. */
export type RuleStep = {
  readonly outcome: RuleOutcome;
  /** Memory of the rule from now on. The memory before if it stays as it is. */
  readonly memory: RuleMemory | undefined;
  /** Facts for people, and the form that describes them. Null: there are none. */
  readonly decision: { readonly form: string | null; readonly saw: JsonObject } | null;
  /** Deadline by which the rule fires. Null: it fires at its event, or does not fire. */
  readonly deadline: Instant | null;
};

const TOO_LARGE: RuleOutcome = Object.freeze({
  kind: 'failed',
  reason: 'too_large_to_keep',
  error: `the event has more than ${MAX_KEPT_EVENT_BYTES / 1024} KiB, or does not fit beside other events that are kept of the entity`,
});

/** The time of an event that counts for deadlines and cooldowns of a rule: its own on a stream with a `time` path. */
export const countedTime = (
  { appendedAt, time }: Pick<SourceEvent, 'appendedAt' | 'time'>,
  { grace }: Pick<PlacedRule, 'grace'>,
): Instant => (grace === null ? appendedAt : time);

/** Returns true for an event of a stream with a `time` path that comes more than the grace after its time. */
export const isLate = (
  { time }: Pick<SourceEvent, 'time'>,
  { grace }: Pick<PlacedRule, 'grace'>,
  watermark: Instant,
): boolean => grace !== null && time + grace < watermark;

/**
 * Steps a rule over an event of an entity. Pure, except that it takes its steps off the budget. A rule that is disabled or
 * does not look at such changes keeps what it remembers.
 */
export function* stepAtEvent(
  rule: StatefulRule,
  turn: EntityTurn,
  common: Bindings,
  budget: StepBudget,
  triggerId: () => string,
): Coroutine<RuleStep> {
  const { event, memory, watermark } = turn;
  const { forms, readsPrevious } = rule.memory;
  const before = ruleMemoryOf(memory, rule.placed);
  const bindings = withPrevious(rule, common, memory);
  const nothing = outcomeWithoutFiring(rule, bindings, budget);
  const isPassedOver = nothing !== null && nothing !== NOT_FIRED && nothing.kind !== 'failed';
  if (isPassedOver) return { outcome: nothing, memory: before, decision: null, deadline: null };
  if (readsPrevious && turn.kept() === null) return failed(TOO_LARGE, before);

  const wait = before?.wait ?? null;
  const match: Match = {
    kind: 'event',
    event,
    at: countedTime(event, rule.placed),
    grace: rule.placed.grace,
    watermark,
    holds: nothing === null ? true : nothing === NOT_FIRED ? false : null,
    wait,
    waitsFrom: waitsFromOf(rule, memory, before),
    evaluate: (expression) => expression.evaluate(bindings, budget),
  };
  const stepped = stepForms(forms, before?.kept, match, { fires: nothing === null, deadline: null, wait, error: null });
  const { effect } = stepped;
  if (effect.wait !== null && effect.wait !== wait && turn.kept() === null) return failed(TOO_LARGE, before);
  const pending = pendingOf(effect.wait, before?.wait, turn, readsPrevious);
  if (!effect.fires) {
    const error = effect.error === null ? null : failure({ error: effect.error }, budget);
    const outcome = match.holds === null && nothing !== null ? nothing : (error ?? NOT_FIRED);
    const decision = stepped.decision ?? (error === null ? null : failureDecision(error));
    return { outcome, memory: rememberedOf(rule, before, pending, stepped.kept), decision, deadline: null };
  }
  const { deadline } = effect;
  const outcome = yield* fireRule(rule, event, triggerId, withDeadline(bindings, deadline), budget);
  const kept = outcome.kind === 'failed' ? stepped.kept : keptAfterFiring(forms, stepped.kept, match.at);
  return {
    outcome,
    memory: rememberedOf(rule, before, pending, kept),
    decision: firingDecision(outcome, deadline),
    deadline,
  };
}

function waitsFromOf(
  { placed }: CompiledRule,
  { events }: EntityMemory,
  before: RuleMemory | undefined,
): Instant | null {
  const event = before?.wait && events[before.wait.event];
  return event ? countedTime(event, placed) : null;
}

/** Ends a wait of a rule whose deadline the watermark has passed. `event` is the one that the message is made from. */
export function* stepAtDeadline(
  rule: CompiledRule,
  memory: EntityMemory,
  event: KeyedEvent,
  budget: StepBudget,
  triggerId: () => string,
): Coroutine<RuleStep> {
  const before = ruleMemoryOf(memory, rule.placed);
  const { wait } = before ?? {};
  if (!wait) return { outcome: NOT_FIRED, memory: before, decision: null, deadline: null };
  const { deadline } = wait;
  if (!rule.placed.enabled) {
    const decision = { form: null, saw: { kind: 'disabled', deadline } };
    return { outcome: DISABLED, memory: rememberedOf(rule, before, undefined, before?.kept), decision, deadline };
  }
  const forms = rule.memory?.forms ?? [];
  const passed = { kind: 'deadline', at: deadline } as const;
  const stepped = stepForms(forms, before?.kept, passed, { fires: true, deadline, wait: null, error: null });
  if (!stepped.effect.fires) {
    const { kept, decision } = stepped;
    return { outcome: NOT_FIRED, memory: rememberedOf(rule, before, undefined, kept), decision, deadline };
  }
  const own = bindingsOf(event);
  const previous = rule.memory?.readsPrevious === true ? { previous: previousOf(memory, wait.previous) } : {};
  const outcome = yield* fireRule(rule, event, triggerId, { ...own, ...previous, deadline }, budget);
  const kept = outcome.kind === 'failed' ? stepped.kept : keptAfterFiring(forms, stepped.kept, deadline);
  const decision = firingDecision(outcome, deadline);
  return { outcome, memory: rememberedOf(rule, before, undefined, kept), decision, deadline };
}

const failed = (outcome: RuleOutcome, memory: RuleMemory | undefined): RuleStep => ({
  outcome,
  memory,
  decision: failureDecision(outcome),
  deadline: null,
});

/** Characters of an error that a decision holds. */
const MAX_ERROR = 200;

const failureDecision = (outcome: RuleOutcome): RuleStep['decision'] =>
  outcome.kind === 'failed' ? { form: null, saw: { kind: 'failed', error: outcome.error.slice(0, MAX_ERROR) } } : null;

const firingDecision = (outcome: RuleOutcome, deadline: Instant | null): RuleStep['decision'] =>
  failureDecision(outcome) ?? { form: null, saw: { kind: 'fired', ...(deadline !== null && { deadline }) } };

const withPrevious = ({ memory: needs }: CompiledRule, common: Bindings, memory: EntityMemory): Bindings =>
  needs?.readsPrevious === true ? { ...common, previous: previousOf(memory, memory.lastEvent) } : common;

/** Returns what the expressions of a rule see of an event, with the memory of its entity before it. */
export const rememberedBindings = (rule: CompiledRule, event: SourceEvent, memory: EntityMemory | null): Bindings =>
  memory === null ? bindingsOf(event) : withPrevious(rule, bindingsOf(event), memory);

const withDeadline = (bindings: Bindings, deadline: Instant | null): Bindings =>
  deadline === null ? bindings : { ...bindings, deadline };

const previousOf = ({ events }: EntityMemory, offset: number | null): JsonObject =>
  (offset === null ? undefined : events[offset]?.body) ?? NO_PREVIOUS;

type SteppedForms = {
  readonly kept: JsonObject | undefined;
  readonly effect: RuleEffect;
  readonly decision: RuleStep['decision'];
};

/** Steps the forms of a rule one after the other. The decision of the last one counts. */
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

/** Leaves out what forms kept that the rule does not have any more. */
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
