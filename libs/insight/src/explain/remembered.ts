import { findRuleById, ruleIdOf, ruleTitle, type Configuration, type PlacedRule } from '@carillon/domain/configuration';
import type { Delivery, Intent } from '@carillon/domain/deliveries';
import { formatPosition, type SourceEvent } from '@carillon/domain/events';
import {
  bindingsOf,
  deadlineOf,
  decisionWords,
  DISABLED,
  hasTotals,
  isFiring,
  NOT_FIRED,
  outcomeWithoutFiring,
  ruleMemoryOf,
  StepBudget,
  totalsOf,
  type CompiledRule,
  type Decision,
  type EntityMemory,
  type RuleOutcome,
} from '@carillon/domain/rules';
import { formatInstant, type Instant } from '@carillon/kernel';
import type { EventRow } from '@carillon/ports';
import {
  decisionsAbout,
  deliveryIdOf,
  evaluateFiringCoroutine,
  loadMemory,
  readSourceRecord,
  runYielding,
} from '@carillon/stages';
import { conditionLines } from './explained-lines.ts';
import type { NamedPerson } from './people.ts';
import { newerVersionLines } from './rule-versions.ts';
import { traceRule, type EvaluatedAt, type RuleStory } from './rule-story.ts';
import { step, type TraceStep } from './steps.ts';
import type { TracePorts } from './trace-ports.ts';

/** Stored decisions of a rule with state about an event. */
export type RememberedRule = {
  readonly placed: PlacedRule;
  /** Decisions at the event, and later ones about a wait for it. Oldest first. */
  readonly decisions: readonly Decision[];
  /** Deadline until which the entity waits because of the event. Null if it does not wait. */
  readonly waitsUntil: Instant | null;
  /** The rule was removed or moved since. So the wait has ended, which the state says once it is written again. */
  readonly isWithdrawn: boolean;
  /**
   * Result of `when` and of the rule's switch if the rule does not fire, evaluated again. Null if it fires or can no
   * longer be evaluated.
   */
  readonly nothing: RuleOutcome | null;
  /** Parts of `when` with their values, if it is false. */
  readonly lines: readonly string[];
  /** Offset of a later record by which a person had the entity forgotten. Null: none is known. */
  readonly forgottenAt: number | null;
};

export type RememberedStory = RuleStory & { readonly remembered: RememberedRule };

/** Explains what rules with state did at an event: their decisions, else a new evaluation of the stateless parts. */
export async function rememberedStories(
  event: SourceEvent,
  configuration: Configuration,
  row: EventRow,
  ports: TracePorts,
): Promise<readonly RememberedStory[]> {
  const entries = ports.book.rulesOf(configuration, event.stream);
  const rules = entries.flatMap((entry) => (entry.ok && entry.rule.memory !== null ? [entry.rule] : []));
  const { key } = event;
  if (rules.length === 0 || key === null) return [];
  const memory = await loadMemory({ ...event, key }, ports);
  const stories: RememberedStory[] = [];
  for (const rule of rules) {
    const remembered = rememberedOf(rule, event, memory, ports.configuration.current());
    const story = await storyOf(remembered, event, configuration, row, ports);
    stories.push({ ...story, remembered });
    if (ports.slice.isExpired()) await ports.slice.yield();
  }
  return stories;
}

function rememberedOf(
  rule: CompiledRule,
  event: SourceEvent,
  memory: EntityMemory | null,
  current: Configuration,
): RememberedRule {
  const { placed } = rule;
  const ruleId = ruleIdOf(placed);
  const decisions = memory === null ? [] : decisionsAbout(memory, event).filter((each) => each.ruleId === ruleId);
  const wait = memory === null ? undefined : ruleMemoryOf(memory, placed)?.wait;
  const waitsUntil = wait?.event === event.position.offset ? wait.deadline : null;
  const isWithdrawn = waitsUntil !== null && findRuleById(current, placed.workspace, ruleId)?.since !== placed.since;
  const canEvaluate = readsEventOnly(rule, event) && !hasTotals(rule);
  const bindings = bindingsOf(event);
  const evaluated = canEvaluate ? outcomeWithoutFiring(rule, bindings, new StepBudget()) : null;
  const lines = evaluated === NOT_FIRED ? conditionLines(rule, bindings) : [];
  const forgotten = memory?.forgottenAt ?? -1;
  const forgottenAt = forgotten > event.position.offset ? forgotten : null;
  return {
    placed,
    decisions,
    waitsUntil,
    isWithdrawn,
    nothing: placed.enabled ? evaluated : DISABLED,
    lines,
    forgottenAt,
  };
}

/**
 * Returns true if the rule reads no earlier event, so that it can be evaluated again. A change contains the previous
 * row.
 */
const readsEventOnly = ({ memory }: CompiledRule, { change }: SourceEvent): boolean =>
  change !== null || memory?.readsPrevious !== true;

async function storyOf(
  { placed, decisions, waitsUntil, isWithdrawn, nothing, forgottenAt }: RememberedRule,
  event: SourceEvent,
  configuration: Configuration,
  row: EventRow,
  ports: TracePorts,
): Promise<RuleStory> {
  const more = { rule: ruleTitle(placed), ruleVersion: placed.version, configNumber: row.configNumber };
  const steps = decisions.map((decision) => decisionStep(decision, event, more));
  const firing = decisions.find((decision) => isFiring(decision) && decision.eventId === event.id);
  if (firing) {
    const story = await firingStory(firing, { placed, event, row }, ports);
    return { ...story, steps: [...steps, ...story.steps] };
  }
  if (isWithdrawn) steps.push(step('rule', decisions.at(-1)?.at ?? row.at, WITHDRAWN, more));
  if (steps.length === 0 && waitsUntil !== null) {
    steps.push(step('rule', row.at, `waits until ${formatInstant(waitsUntil)}`, more));
  }
  const [first, ...others] = steps;
  if (first) {
    const lines = [...first.lines, ...newerVersionLines(placed, ports.configuration.current())];
    return { steps: [{ ...first, lines }, ...others], people: [], intents: [] };
  }
  if (nothing !== null) {
    const evaluated = { placed, triggerId: null, outcome: nothing, intents: [], triggers: [] };
    return traceRule(evaluated, event, row, configuration, ports);
  }
  const sent = await sentByRule(placed, event, row.at, ports);
  if (forgottenAt !== null) {
    const [record] = await ports.log.read('carillon.events', row.partition, forgottenAt, 1);
    const at = record?.offset === forgottenAt ? record.time : null;
    const text = sent.intents.length > 0 ? FIRED_AND_FORGOTTEN : FORGOTTEN;
    return { ...sent, steps: [step('rule', at, text, { ...more, reason: 'not_kept' }), ...sent.steps] };
  }
  const text = sent.intents.length > 0 ? 'fired; the decision is no longer kept' : DECISION_GONE;
  return { ...sent, steps: [step('rule', row.at, text, { ...more, reason: 'not_kept' })] };
}

const FIRED_AND_FORGOTTEN =
  'fired; the entity was forgotten later (carillon state forget), so the decision is no longer kept';
export const FORGOTTEN =
  'the entity was forgotten (carillon state forget): its decisions are not kept, and if it waited, the wait ended without a message';
export const WITHDRAWN =
  'rule_withdrawn: the rule was removed or moved to another stream; the wait ends without a message';
const DECISION_GONE = 'did not fire, or the decision is no longer kept';

/** Returns the trace step of a decision, at the watermark at which the rule decided. */
function decisionStep(decision: Decision, { id }: SourceEvent, more: Partial<TraceStep>): TraceStep {
  const { at, eventId, waited } = decision;
  const text = decisionWords(decision).join('; ');
  if (eventId !== id) return step('rule', at, `${text}, by event ${eventId}`, more);
  return step(
    'rule',
    at,
    waited === undefined || waited === id ? text : `${text}; it waited for event ${waited}`,
    more,
  );
}

type FiredFor = { readonly placed: PlacedRule; readonly event: SourceEvent; readonly row: EventRow };

/**
 * Returns the recipients of a rule that fired. If they depend on `previous`, they come from the ledger, because the
 * previous event is no longer stored.
 */
async function firingStory(firing: Decision, { placed, event, row }: FiredFor, ports: TracePorts): Promise<RuleStory> {
  const sent = await sentByRule(placed, event, firing.at, ports);
  const configuration = await configurationOfFiring(firing, { placed, event, row }, sent.intents, ports);
  const rules = configuration ? ports.book.rulesOf(configuration, event.stream) : [];
  const entry = rules.find((each) => ruleIdOf(each.placed) === ruleIdOf(placed));
  if (!configuration || !entry?.ok || !readsEventOnly(entry.rule, event)) return sent;
  const making = { configuration, book: ports.book, derive: ports.ids.derive };
  const when = { deadline: deadlineOf(firing), totals: hasTotals(entry.rule) ? totalsOf(firing) : null };
  const work = evaluateFiringCoroutine(entry.rule, event, when, making);
  const evaluated = await runYielding(work, ports.slice);
  const at: EvaluatedAt = { at: firing.at, configNumber: configuration.number };
  return traceRule(evaluated, event, at, configuration, ports);
}

/**
 * Returns the configuration with which a rule fired: that of the event or its messages. Without a message, the newest
 * one if the rule has not changed since the event. Null if unknown.
 */
async function configurationOfFiring(
  { record }: Decision,
  { placed, event, row }: FiredFor,
  [intent]: readonly Intent[],
  { configuration }: TracePorts,
): Promise<Configuration | null> {
  if (record === event.position.offset) return configuration.at(row.configNumber);
  if (intent) return configuration.at(intent.configNumber);
  const newest = configuration.current();
  const found = findRuleById(newest, placed.workspace, ruleIdOf(placed));
  return found?.version === placed.version ? newest : null;
}

/** Messages per rule and event that are read from the ledger. */
const MAX_SENT = 100;

/** Returns the messages of a rule for an event from the ledger, without those of sending jobs. */
async function sentByRule(
  placed: PlacedRule,
  { id }: SourceEvent,
  at: Instant,
  { ledger, ids }: TracePorts,
): Promise<RuleStory> {
  const rule = ruleTitle(placed);
  const { items } = await ledger.list({ workspace: placed.workspace, eventId: id }, MAX_SENT);
  const intents = items.map(({ intent }) => intent).filter((each) => each.rule === rule && each.sentBy === undefined);
  const people = intents.map((intent, index): NamedPerson => ({
    rule,
    place: index + 1,
    count: 1,
    item: null,
    recipient: { uniqueId: intent.slot.uniqueId, person: intent.person, address: intent.to },
    message: { intentId: intent.id, deliveryId: deliveryIdOf(intent, ids), channel: intent.slot.channel },
    dropped: null,
  }));
  const [first] = intents;
  const more = first && { rule, ruleVersion: first.ruleVersion, configNumber: first.configNumber, id: first.triggerId };
  const text = `${intents.length === 1 ? '1 message' : `${intents.length} messages`} in the ledger`;
  return { steps: more ? [step('trigger', at, text, more)] : [], people, intents };
}

/**
 * Returns the arrival of a delivery's event, and the watermark at which its waiting rule fired. Both are null if the
 * rule did not wait.
 */
export async function waitOfDelivery(
  { intent }: Delivery,
  ports: TracePorts,
): Promise<{ readonly receivedAt: Instant | null; readonly passedAt: Instant | null }> {
  if (intent.deadline === undefined) return { receivedAt: null, passedAt: null };
  const rows = await ports.readModels.event(intent.eventId);
  const row = rows.find((each) => positionOf(each, ports) === intent.eventPosition);
  if (!row) return { receivedAt: null, passedAt: null };
  const [record] = await ports.log.read('carillon.events', row.partition, row.offset, 1);
  const read = record?.offset === row.offset ? readSourceRecord(record, ports.log.logId) : null;
  const event = read?.ok && read.value.kind === 'event' ? read.value.event : null;
  const memory =
    event?.key === undefined || event.key === null ? null : await loadMemory({ ...event, key: event.key }, ports);
  const firing = memory?.decisions.find(
    (each) => each.ruleId === intent.ruleId && each.eventId === intent.eventId && isFiring(each),
  );
  return { receivedAt: row.at, passedAt: firing?.at ?? null };
}

const positionOf = (row: EventRow, { log }: TracePorts): string =>
  formatPosition({ logId: log.logId, topic: 'carillon.events', ...row });
