import { isAddressKind } from '@carillon/domain/channels';
import { readChange, writeChange, type Change } from '@carillon/domain/changes';
import type { PlacedRule } from '@carillon/domain/configuration';
import { pathText, readEvent, type FieldStep, type SourceEvent } from '@carillon/domain/events';
import {
  evaluateRule,
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
  type Instant,
  type Json,
  type JsonObject,
} from '@carillon/kernel';
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
 * The smallest event for a rule (docs/rules.md). Its values make the rule fire where the condition can be read as
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
  for (const assignments of proposalsFor(rule, minimum, now).take(MAX_PROPOSALS)) {
    const sample = judged(rule, minimum, proposed(rule, minimum, assignments, now), now);
    if (better(sample, best)) best = sample;
    if (best !== null && best.recipients > 0) break;
    yield;
  }
  if (best) return best;
  const recorded = firedEvent && judged(rule, minimum, taken(minimum, firedEvent, now), now);
  return recorded?.fires ? recorded : judged(rule, minimum, proposed(rule, minimum, [], now), now);
}

/** One that tells somebody is better than one that only fires. */
const better = (found: RuleSample, best: RuleSample | null): boolean =>
  found.fires && (best === null || found.recipients > best.recipients);

/** First what satisfies `where` too, then `when` alone. */
function* proposalsFor(rule: CompiledRule, minimum: Minimum, now: Instant): Generator<readonly Assignment[]> {
  const source = triedSource(minimum.stream, now);
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

type Proposal = {
  readonly event: JsonObject;
  readonly change: Change | null;
  readonly originOf: (field: MinimumField) => ValueOrigin;
};

function proposed(rule: CompiledRule, minimum: Minimum, assignments: readonly Assignment[], now: Instant): Proposal {
  const source = triedSource(minimum.stream, now);
  const own = source ? ofPart(assignments, 'event') : assignments;
  const assigned = new Set(own.map(({ steps }) => pathText(steps)));
  const fields: readonly ShapeField[] = minimum.fields.map(({ steps, type }) => ({ steps, type }));
  const change = source && buildChange(rule, fields, assignments, source, now);
  return {
    event: change?.event ?? buildEvent([...fields, ...own.map((one) => ({ type: null, ...one }))], now),
    change,
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
    originOf: ({ path }) => (invented.has(path) ? 'placeholder' : 'fired_event'),
  };
}

const isOnlyAddress = ({ type, usedBy }: MinimumField): boolean =>
  isAddressKind(type) && !usedBy.some((by) => by === 'when' || by === 'for_each' || by === 'where');

/** Reads the event as the intake would, and lets the rule judge it; what is switched off still has a sample. */
function judged(rule: CompiledRule, minimum: Minimum, proposal: Proposal, now: Instant): RuleSample {
  const { event, change, originOf } = proposal;
  const { placed } = rule;
  const sample = triedSample(placed, proposal, now);
  const enabled = { ...rule, placed: { ...placed, enabled: true } };
  const outcome = sample && evaluateRule(enabled, sample, () => 'trg_sample');
  return {
    event,
    change,
    fields: minimum.fields.map((field) => {
      const value = valueAt(event, field.steps);
      return { ...field, value: value ?? null, origin: value === undefined ? 'absent' : originOf(field) };
    }),
    fires: outcome !== null && hasFired(outcome),
    recipients: countTold(outcome),
  };
}

function triedSample(placed: PlacedRule, { event, change }: Proposal, now: Instant): SourceEvent | null {
  const id = 'evt_sample' as EventId;
  if (change) {
    const read = readChange(writeChange(change));
    return read.ok ? triedChange(placed, read.value, now, id) : null;
  }
  const read = readEvent(new TextEncoder().encode(stringifyJson(event)));
  return read.ok ? triedEvent(placed, read.value.body, now, id) : null;
}

export const hasFired = ({ kind }: RuleOutcome): boolean => kind === 'fired' || kind === 'asks';

function countTold(outcome: RuleOutcome | null): number {
  if (outcome?.kind === 'asks') return outcome.userIds.length;
  return outcome?.kind === 'fired' ? outcome.recipients.length : 0;
}
