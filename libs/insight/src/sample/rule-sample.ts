import { isAddressKind } from '@carillon/domain/channels';
import { readChange, writeChange, type Change, type ChangeSource } from '@carillon/domain/changes';
import type { PlacedRule } from '@carillon/domain/configuration';
import { pathText, readEvent, type FieldStep, type SourceEvent } from '@carillon/domain/events';
import {
  evaluateRule,
  firingSentence,
  NOT_FIRED,
  sampleEventsOf,
  type CompiledRule,
  type RequiredField,
  type Requirement,
  type RuleOutcome,
} from '@carillon/domain/rules';
import {
  runToCompletion,
  stringifyJson,
  type EventId,
  type Coroutine,
  type DeriveId,
  type Duration,
  type Instant,
  type Json,
  type JsonObject,
} from '@carillon/kernel';
import { LONGEST_WAIT, rehearse, type RehearsedStep } from '../rehearsal/rehearse.ts';
import { buildEvent, placeholder, pruneEvent, valueAt, type ShapeField } from './event-shape.ts';
import { eventSteps, type Minimum, type MinimumField } from './minimum-fields.ts';
import { triedChange, triedEvent, triedSource, type FiredEvent } from './tried-event.ts';
import { buildChange, changeSteps, ofPart, usualOfChange } from './change-sample.ts';
import { solve, type Assignment } from './solver.ts';

/** Where a value of a sample comes from. `absent`: the field is not in the sample. */
export type ValueOrigin = 'condition' | 'fired_event' | 'placeholder' | 'absent';

export type SampleField = MinimumField & {
  /** In lists that of the first element; null where it is not there. */
  readonly value: Json;
  readonly origin: ValueOrigin;
};

/** An event that comes so many times, one after the other. */
export type EarlierEvent = { readonly event: JsonObject; readonly times: number };

export type RuleSample = {
  readonly event: JsonObject;
  /** The change whose row `event` is. Null: the rule's stream has no changes. */
  readonly change: Change | null;
  /** Events of the same entity that have to come first, oldest first. Empty: `event` alone is enough. */
  readonly earlier: readonly EarlierEvent[];
  /** When the rule fires after `event`. Null: at the event. */
  readonly sentence: string | null;
  readonly fields: readonly SampleField[];
  /** Whether the rule was seen to fire for exactly this event. */
  readonly fires: boolean;
  /** Number of recipients of the sample, or of ids in a question to a partner. */
  readonly recipients: number;
};

/** Proposals that are judged before the search is given up. */
const MAX_PROPOSALS = 200;
/** Fewer, if each is tried with up to 500 events. */
const MAX_LONG_PROPOSALS = 5;

/** The smallest event for a rule, without a pause. */
export const sampleRule = (
  rule: CompiledRule,
  minimum: Minimum,
  firedEvent: FiredEvent | null,
  now: Instant,
): RuleSample => runToCompletion(sampleRuleCoroutine(rule, minimum, firedEvent, now));

/**
 * Returns the smallest event for a rule (docs/rules.md). Its values make the rule fire if the condition consists of
 * comparisons with literals. Otherwise they come from an event that fired, without addresses, so that trying the sample
 * reaches nobody, or are placeholders. The rule itself is evaluated to check whether the sample fires. A pause is
 * offered between proposals.
 */
export function* sampleRuleCoroutine(
  rule: CompiledRule,
  minimum: Minimum,
  firedEvent: FiredEvent | null,
  now: Instant,
): Coroutine<RuleSample> {
  let best: RuleSample | null = null;
  const most = sampleEventsOf(rule.placed.body, {}).length > 1 ? MAX_LONG_PROPOSALS : MAX_PROPOSALS;
  for (const ahead of rule.memory === null ? [0] : TIMES_AHEAD) {
    const tried = ahead === 0 ? minimum : withTimes(rule, minimum);
    if (ahead > 0 && !tried.fields.some(({ type }) => type === 'time')) break;
    for (const assignments of proposalsFor(rule, tried, now).take(most)) {
      const sample = yield* judged(rule, tried, proposed(rule, tried, assignments, now + ahead), now);
      if (better(sample, best)) best = sample;
      if (best !== null && best.recipients > 0) return best;
      yield;
    }
  }
  if (best) return best;
  const recorded = firedEvent && (yield* judged(rule, minimum, taken(minimum, firedEvent, now), now));
  return recorded?.fires ? recorded : yield* judged(rule, minimum, proposed(rule, minimum, [], now), now);
}

const DAY = 86_400_000;
/** Placeholders of times are tried this far ahead, for a rule that waits until a time of the event. */
const TIMES_AHEAD: readonly Duration[] = [0, 8 * DAY, 100 * DAY];

/** Takes texts that only a form of the rule reads as times. */
function withTimes({ memory }: CompiledRule, minimum: Minimum): Minimum {
  const keys = new Set(memory?.forms.flatMap(({ expressions }) => expressions.map(([key]) => key)));
  const fields = minimum.fields.map((field) => {
    const isText = field.type === null || field.type === 'string';
    return isText && field.usedBy.every((by) => keys.has(by)) ? { ...field, type: 'time' as const } : field;
  });
  return { ...minimum, fields };
}

/** A sample with a recipient is better than a sample that fires without recipients. */
const better = (found: RuleSample, best: RuleSample | null): boolean =>
  found.fires && (best === null || found.recipients > best.recipients);

/** First what satisfies `where` too, then `when` alone. */
function* proposalsFor(rule: CompiledRule, minimum: Minimum, now: Instant): Generator<readonly Assignment[]> {
  const source = sourceOf(rule, minimum, now);
  const usual = (steps: readonly FieldStep[]): Json => {
    const path = pathText(steps);
    const type = minimum.fields.find((field) => field.path === path)?.type ?? null;
    return placeholder(type, steps, now);
  };
  const around = {
    stepsOf: ({ field }: { readonly field: RequiredField }) =>
      source ? changeSteps(rule, field) : eventSteps(rule, field),
    usual: (steps: readonly FieldStep[]) => (source ? usualOfChange(steps, rule, source, usual) : usual(steps)),
  };
  const ofForms = rule.memory?.forms.flatMap((form) => form.sampleRequirement?.(rule.when) ?? []) ?? [];
  for (const when of [...ofForms, rule.when.requirement()]) {
    if (rule.where) {
      const both: Requirement = { kind: 'all', of: [when, rule.where.requirement()] };
      yield* solve(both, around);
    }
    yield* solve(when, around);
  }
}

/**
 * Returns the source of a sample's previous row: a change, or the entity's previous event. Null if the sample is a
 * single event.
 */
const sourceOf = (rule: CompiledRule, { stream }: Minimum, now: Instant): ChangeSource | null =>
  triedSource(stream, now) ?? (rule.memory?.readsPrevious === true ? NO_SOURCE : null);

const NO_SOURCE: ChangeSource = { integration: '', table: '', tx: 0, position: '', at: '' };

type Proposal = {
  readonly event: JsonObject;
  readonly change: Change | null;
  readonly previous: JsonObject | null;
  readonly originOf: (field: MinimumField) => ValueOrigin;
};

function proposed(rule: CompiledRule, minimum: Minimum, assignments: readonly Assignment[], now: Instant): Proposal {
  const source = sourceOf(rule, minimum, now);
  const own = source ? ofPart(assignments, 'event') : assignments;
  const assigned = new Set(own.map(({ steps }) => pathText(steps)));
  const fields: readonly ShapeField[] = minimum.fields.map(({ steps, type }) => ({ steps, type }));
  const change = source && buildChange(rule, fields, assignments, source, now);
  const isChange = triedSource(minimum.stream, now) !== null;
  return {
    event: change?.event ?? buildEvent([...fields, ...own.map((one) => ({ type: null, ...one }))], now),
    change: isChange ? change : null,
    previous: isChange ? null : (change?.previous ?? null),
    originOf: ({ path }) => (assigned.has(path) ? 'condition' : 'placeholder'),
  };
}

/** Fields of an event that really came. Addresses only where the rule would not fire without them. */
function taken(minimum: Minimum, { body, change }: FiredEvent, now: Instant): Proposal {
  const invented = new Set(minimum.fields.filter(isOnlyAddress).map(({ path }) => path));
  const fields = minimum.fields.map(({ path, steps, type }): ShapeField => {
    if (!invented.has(path)) return { steps, type };
    return { steps, type, value: placeholder(type, steps, now) };
  });
  const pruned = (row: JsonObject): JsonObject => (minimum.whole.length > 0 ? row : pruneEvent(row, fields));
  const event = pruned(body);
  const previous = change?.previous;
  return {
    event,
    change: change && { ...change, event, ...(previous && { previous: pruned(previous) }) },
    previous: null,
    originOf: ({ path }) => (invented.has(path) ? 'placeholder' : 'fired_event'),
  };
}

const isOnlyAddress = ({ type, usedBy }: MinimumField): boolean =>
  isAddressKind(type) && !usedBy.some((by) => by === 'when' || by === 'for_each' || by === 'where');

/** Evaluates the rule for a proposed event. A rule that is switched off has a sample too. */
function* judged(rule: CompiledRule, minimum: Minimum, proposal: Proposal, now: Instant): Coroutine<RuleSample> {
  const { event, change, previous, originOf } = proposal;
  const { outcome, earlier } = yield* triedOutcome(rule, proposal, now);
  return {
    event,
    change,
    earlier: grouped([...(previous === null ? [] : [previous]), ...earlier]),
    sentence: firingSentence(rule.placed.body, earlier.length + 1),
    fields: minimum.fields.map((field) => {
      const value = valueAt(event, field.steps);
      return { ...field, value: value ?? null, origin: value === undefined ? 'absent' : originOf(field) };
    }),
    fires: outcome !== null && hasFired(outcome),
    recipients: countTold(outcome),
  };
}

/** Events next to each other that are the same, as one with the number of times. */
function grouped(events: readonly JsonObject[]): readonly EarlierEvent[] {
  const groups: EarlierEvent[] = [];
  for (const event of events) {
    const last = groups.at(-1);
    if (last && stringifyJson(last.event) === stringifyJson(event)) {
      groups[groups.length - 1] = { event, times: last.times + 1 };
    } else groups.push({ event, times: 1 });
  }
  return groups;
}

type Tried = {
  /** Null: the intake would refuse the event. */
  readonly outcome: RuleOutcome | null;
  /** Events like it that had to come before it. */
  readonly earlier: readonly JsonObject[];
};

function* triedOutcome(rule: CompiledRule, proposal: Proposal, now: Instant): Coroutine<Tried> {
  const { placed } = rule;
  const sample = triedSample(placed, proposal, now);
  if (sample === null) return { outcome: null, earlier: [] };
  const enabled = { ...rule, placed: { ...placed, enabled: true } };
  return rule.memory === null
    ? { outcome: evaluateRule(enabled, sample, () => 'trg_sample'), earlier: [] }
    : yield* rehearsedOutcome(enabled, proposal, sample);
}

const derive: DeriveId = (kind, ...parts) => [kind, ...parts].join('_');

/** How many events are tried, so that few are soon tried. */
const ATTEMPTS = [8, 64, Infinity];

/** Rehearses a rule with state, with as few events of the same entity as make it fire or wait. */
function* rehearsedOutcome(rule: CompiledRule, { event, previous }: Proposal, sample: SourceEvent): Coroutine<Tried> {
  const [, ...alike] = sampleEventsOf(rule.placed.body, event);
  const before = previous === null ? [] : [previous];
  let earlier: readonly JsonObject[] = [];
  for (const most of alike.length === 0 ? [] : ATTEMPTS) {
    const tried = alike.slice(0, most);
    const steps = yield* rehearsedSteps(rule, [...before, ...tried, event], sample);
    const matched = steps.findIndex(({ outcome, waitsUntil }) => hasFired(outcome) || waitsUntil !== null);
    if (matched >= 0) earlier = tried.slice(0, Math.max(0, matched - before.length));
    if (matched >= 0 || !isCounted(steps)) break;
  }
  const steps = yield* rehearsedSteps(rule, [...before, ...earlier, event], sample);
  const outcomes = steps.map(({ outcome }) => outcome);
  return { outcome: outcomes.find(hasFired) ?? outcomes.at(-1) ?? NOT_FIRED, earlier };
}

/** Returns true if more events like the first one change a total. */
const isCounted = (steps: readonly RehearsedStep[]): boolean =>
  stringifyJson(steps[0]?.totals ?? {}) !== stringifyJson(steps.at(-1)?.totals ?? {});

function rehearsedSteps(
  rule: CompiledRule,
  bodies: readonly JsonObject[],
  sample: SourceEvent,
): Coroutine<readonly RehearsedStep[]> {
  const events = bodies.map((body, index): SourceEvent => {
    const change = sample.change && { ...sample.change, event: body };
    const id = `${sample.id}${String(index).padStart(13, '0')}` as EventId;
    return { ...sample, id, key: '', body, change };
  });
  const entry = { ok: true, placed: rule.placed, rule } as const;
  return rehearse({ entry, events, until: sample.appendedAt + LONGEST_WAIT }, derive);
}

function triedSample(placed: PlacedRule, { event, change, previous }: Proposal, now: Instant): SourceEvent | null {
  const id = 'evt_sample' as EventId;
  if (change) {
    const read = readChange(writeChange(change));
    return read.ok ? triedChange(placed, read.value, now, id) : null;
  }
  const read = readEvent(new TextEncoder().encode(stringifyJson(event)));
  const isPreviousRead = previous === null || readEvent(new TextEncoder().encode(stringifyJson(previous))).ok;
  return read.ok && isPreviousRead ? triedEvent(placed, read.value.body, now, id) : null;
}

export const hasFired = ({ kind }: RuleOutcome): boolean => kind === 'fired' || kind === 'asks';

function countTold(outcome: RuleOutcome | null): number {
  if (outcome?.kind === 'asks') return outcome.userIds.length;
  return outcome?.kind === 'fired' ? outcome.recipients.length : 0;
}
