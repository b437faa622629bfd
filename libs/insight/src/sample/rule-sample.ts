import { isAddressKind } from '@carillon/domain/channels';
import { readChange, writeChange, type Change, type ChangeSource } from '@carillon/domain/changes';
import type { PlacedRule } from '@carillon/domain/configuration';
import { pathText, readEvent, type FieldStep, type SourceEvent } from '@carillon/domain/events';
import {
  evaluateRule,
  firingSentence,
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
import { rehearse } from '../rehearsal/rehearse.ts';
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

export type RuleSample = {
  readonly event: JsonObject;
  /** The change whose row `event` is. Null: the rule's stream has no changes. */
  readonly change: Change | null;
  /** Event of the same entity that has to come first. Null: the rule does not compare events of an entity. */
  readonly previous: JsonObject | null;
  /** When the rule fires after `event`. Null: at the event. */
  readonly sentence: string | null;
  readonly fields: readonly SampleField[];
  /** Whether the rule was seen to fire for exactly this event. */
  readonly fires: boolean;
  /** How many people it tells then, or how many a partner is asked about. */
  readonly recipients: number;
};

/** Proposals that are judged before the search is given up. */
const MAX_PROPOSALS = 200;

/** The smallest event for a rule, without a pause. */
export const sampleRule = (
  rule: CompiledRule,
  minimum: Minimum,
  firedEvent: FiredEvent | null,
  now: Instant,
): RuleSample => runToCompletion(sampleRuleCoroutine(rule, minimum, firedEvent, now));

/**
 * Returns the smallest event for a rule (docs/rules.md). Its values make the rule fire where the condition can be read as
 * comparisons with literals; else they are those of an event that fired, save addresses, so that trying the sample writes
 * to nobody; else placeholders. Whether it fires is not concluded but seen: the rule judges it. A pause is offered between
 * proposals.
 */
export function* sampleRuleCoroutine(
  rule: CompiledRule,
  minimum: Minimum,
  firedEvent: FiredEvent | null,
  now: Instant,
): Coroutine<RuleSample> {
  let best: RuleSample | null = null;
  for (const ahead of rule.memory === null ? [0] : TIMES_AHEAD) {
    const tried = ahead === 0 ? minimum : withTimes(rule, minimum);
    for (const assignments of proposalsFor(rule, tried, now).take(MAX_PROPOSALS)) {
      const sample = judged(rule, tried, proposed(rule, tried, assignments, now + ahead), now);
      if (better(sample, best)) best = sample;
      if (best !== null && best.recipients > 0) return best;
      yield;
    }
  }
  if (best) return best;
  const recorded = firedEvent && judged(rule, minimum, taken(minimum, firedEvent, now), now);
  return recorded?.fires ? recorded : judged(rule, minimum, proposed(rule, minimum, [], now), now);
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
  const when = rule.when.requirement();
  if (rule.where) {
    const both: Requirement = { kind: 'all', of: [when, rule.where.requirement()] };
    yield* solve(both, around);
  }
  yield* solve(when, around);
}

/** Where a sample has a row before: in a change, or in the event before of the same entity. Null: the sample is one event. */
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
function judged(rule: CompiledRule, minimum: Minimum, proposal: Proposal, now: Instant): RuleSample {
  const { event, change, previous, originOf } = proposal;
  const outcome = outcomeOf(rule, proposal, now);
  return {
    event,
    change,
    previous,
    sentence: firingSentence(rule.placed.body),
    fields: minimum.fields.map((field) => {
      const value = valueAt(event, field.steps);
      return { ...field, value: value ?? null, origin: value === undefined ? 'absent' : originOf(field) };
    }),
    fires: outcome !== null && hasFired(outcome),
    recipients: countTold(outcome),
  };
}

/** Null: the intake would refuse the event. */
function outcomeOf(rule: CompiledRule, proposal: Proposal, now: Instant): RuleOutcome | null {
  const { placed } = rule;
  const sample = triedSample(placed, proposal, now);
  if (sample === null) return null;
  const enabled = { ...rule, placed: { ...placed, enabled: true } };
  return rule.memory === null
    ? evaluateRule(enabled, sample, () => 'trg_sample')
    : rehearsedOutcome(enabled, proposal, sample);
}

/** How long a rule that waits is given. No deadline is further ahead. */
const LONGEST_WAIT: Duration = 367 * DAY;
const derive: DeriveId = (kind, ...parts) => [kind, ...parts].join('_');

/** Rehearses the events that make a rule with state fire, as events of the same entity. */
function rehearsedOutcome(rule: CompiledRule, { event, previous }: Proposal, sample: SourceEvent): RuleOutcome {
  const timed = sampleEventsOf(rule.placed.body, event);
  const bodies = [...(previous === null ? [] : [{ after: 0, event: previous }]), ...timed];
  const events = bodies.map(({ after, event: body }, at): SourceEvent => {
    const time = sample.appendedAt + after;
    const change = sample.change && { ...sample.change, event: body };
    const id = `${sample.id}${String(at).padStart(13, '0')}` as EventId;
    return { ...sample, id, key: '', body, change, appendedAt: time, time };
  });
  const until = (events.at(-1)?.appendedAt ?? sample.appendedAt) + LONGEST_WAIT;
  const entry = { ok: true, placed: rule.placed, rule } as const;
  const steps = runToCompletion(rehearse({ entry, events, until }, derive));
  const outcomes = steps.map(({ outcome }) => outcome);
  return outcomes.find(hasFired) ?? outcomes.at(-1) ?? { kind: 'not_fired' };
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
