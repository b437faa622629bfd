import { durationOr, type Coroutine, type Duration, type EventId, type Instant } from '@carillon/kernel';
import { DEFAULTS } from '@carillon/shapes/values';
import { ruleIdOf, type PlacedRule } from '../../configuration/streams.ts';
import type { Position } from '../../events/position.ts';
import { StepBudget } from '../budget.ts';
import type { ShownTotals } from '../forms/index.ts';
import type { CompiledRule } from '../program.ts';
import type { RuleOutcome } from '../recipients.ts';
import {
  forgetAtOf,
  forgottenMemory,
  MAX_DECISIONS,
  nextDueOf,
  restoreEvent,
  ruleMemoryOf,
  withSeenId,
  type Decision,
  type EntityMemory,
  type KeptEvent,
  type KeyedEvent,
  type PendingWait,
  type RuleMemory,
} from './entity-memory.ts';
import { stepAtDeadline, type EntityTurn, type RuleStep } from './rule-step.ts';

/** A rule of the entity's stream. `rule` is absent if the rule cannot be compiled. */
export type StreamRule = { readonly placed: PlacedRule; readonly rule?: CompiledRule | undefined };

/** Returns the memory after an event. Returns the same object if nothing changed, so that the caller writes nothing. */
export function memoryAfterEvent(
  { memory, event, watermark, kept }: EntityTurn,
  steps: ReadonlyMap<PlacedRule, RuleStep>,
  rules: readonly StreamRule[],
): EntityMemory {
  const { offset } = event.position;
  const record: DecidedAt = { record: offset, at: watermark };
  const changes = new MemoryChanges(memory, rules, record);
  for (const [placed, { memory: after, decision }] of steps) {
    const ruleId = ruleIdOf(placed);
    const wait = ruleMemoryOf(memory, placed)?.wait;
    const waited = wait === undefined || wait === after?.wait ? undefined : memory.events[wait.event]?.id;
    changes.set(ruleId, after);
    if (decision) changes.decide({ ruleId, eventId: event.id, ...(waited !== undefined && { waited }), ...decision });
  }
  const isKept = event.change === null && rules.some(({ rule }) => rule?.memory?.readsPrevious === true);
  const lastEvent = isKept && kept() !== null ? offset : null;
  if (!changes.any && lastEvent === memory.lastEvent) return memory;
  return {
    ...changes.apply(lastEvent, (at) => (at === offset ? (kept() ?? undefined) : memory.events[at])),
    offset,
    appliedOffset: offset,
    seenIds: withSeenId(memory.seenIds, event.id),
    forgetAt: forgetAtOf(watermark, forgetAfterOf(rules)),
  };
}

const DEFAULT_FORGET_AFTER = durationOr(DEFAULTS.stream.forget_after, 0);

const forgetAfterOf = ([first]: readonly StreamRule[]): Duration => first?.placed.forgetAfter ?? DEFAULT_FORGET_AFTER;

/** A wait that a record ended, with its result and the event from which its message is made. */
export type PassedWait = {
  readonly placed: PlacedRule;
  /** Undefined: the rule cannot be compiled. */
  readonly rule: CompiledRule | undefined;
  readonly event: KeyedEvent;
  readonly deadline: Instant;
  /** Totals of the rule at the deadline. Null: it has none. */
  readonly totals: ShownTotals | null;
  readonly outcome: RuleOutcome;
};

/** A record that moved the watermark of its partition. The events of the entity are in the same partition. */
export type PassingRecord = { readonly position: Position; readonly watermark: Instant };

/**
 * Ends all waits of an entity that are due at a record, by the rules that its stream has at that record. Runs before
 * the record itself is applied. Waits of removed rules end without a message.
 */
export function* passDeadlines(
  memory: EntityMemory,
  { position, watermark }: PassingRecord,
  rules: readonly StreamRule[],
  triggerIdOf: (placed: PlacedRule, eventId: EventId) => string,
): Coroutine<{ readonly memory: EntityMemory; readonly passed: readonly PassedWait[] }> {
  const record: DecidedAt = { record: position.offset, at: watermark };
  if ((nextDueOf(memory) ?? watermark) >= watermark) return { memory, passed: [] };
  const changes = new MemoryChanges(memory, rules, record);
  const passed: PassedWait[] = [];
  for (const { placed, rule } of rules) {
    const ruleId = ruleIdOf(placed);
    const wait = ruleMemoryOf(memory, placed)?.wait;
    if (!wait || wait.due >= watermark) continue;
    const stored = memory.events[wait.event];
    // If the store has lost the event, the wait is dropped. Otherwise it would be due again at every record.
    if (!stored) changes.set(ruleId, undefined);
    if (!stored) continue;
    const event = restoreEvent(stored, memory.entity, { ...position, offset: wait.event });
    const triggerId = (): string => triggerIdOf(placed, event.id);
    const step = rule ? yield* stepAtDeadline(rule, memory, event, new StepBudget(), triggerId) : uncompiled(wait);
    changes.set(ruleId, step.memory);
    if (step.decision) changes.decide({ ruleId, eventId: event.id, ...step.decision });
    passed.push({ placed, rule, event, deadline: wait.deadline, totals: step.totals, outcome: step.outcome });
    yield;
  }
  const after = changes.apply(memory.lastEvent, (at) => memory.events[at]);
  // Passed deadlines count as activity. Otherwise a tick that passes them early could have the entity forgotten
  // earlier.
  const passedDeadlines = Object.values(memory.rules).flatMap(({ wait }) =>
    wait && wait.due < watermark ? [wait.deadline] : [],
  );
  const forgetAt = Math.max(memory.forgetAt ?? 0, forgetAtOf(Math.max(...passedDeadlines), forgetAfterOf(rules)));
  return { memory: { ...after, offset: position.offset, forgetAt }, passed };
}

/** Result of a record that has an entity forgotten. */
export type ForgottenEntity = {
  readonly memory: EntityMemory;
  /** Rules whose waits ended without a message. */
  readonly waited: readonly PlacedRule[];
};

/**
 * Forgets an entity at a record, by the rules of its stream. Returns null if nothing is stored for it, or if the record
 * was applied already.
 */
export function forgetEntity(
  memory: EntityMemory,
  { position, watermark }: PassingRecord,
  rules: readonly StreamRule[],
): ForgottenEntity | null {
  // A memory without event ids was never changed, so there is nothing to forget.
  if (memory.seenIds.length === 0 || memory.appliedOffset >= position.offset) return null;
  const waited = rules.flatMap(({ placed }) => (ruleMemoryOf(memory, placed)?.wait ? [placed] : []));
  const forgetAt = forgetAtOf(watermark, forgetAfterOf(rules));
  return { memory: { ...forgottenMemory(memory.entity, position.offset), forgetAt }, waited };
}

const CANNOT_COMPILE = 'this engine cannot compile the rule';

const uncompiled = ({ deadline }: PendingWait): RuleStep => ({
  outcome: { kind: 'failed', reason: 'rule_error', error: CANNOT_COMPILE },
  memory: undefined,
  decision: { form: null, saw: { kind: 'failed', error: CANNOT_COMPILE } },
  deadline,
  totals: null,
});

type DecidedAt = Pick<Decision, 'record' | 'at'>;

/** Collects the changes of a record to a memory. First it removes the memory of rules that were removed or moved. */
class MemoryChanges {
  readonly #memory: EntityMemory;
  readonly #record: DecidedAt;
  readonly #rules: Record<string, RuleMemory>;
  readonly #decisions: Decision[] = [];
  any = false;

  constructor(memory: EntityMemory, rules: readonly StreamRule[], record: DecidedAt) {
    this.#memory = memory;
    this.#record = record;
    this.#rules = { ...memory.rules };
    const known = new Map(rules.map(({ placed }) => [ruleIdOf(placed), placed.since]));
    for (const [ruleId, { since, wait }] of Object.entries(memory.rules)) {
      if (known.get(ruleId) === since) continue;
      this.set(ruleId, undefined);
      const event = wait && memory.events[wait.event];
      if (event) this.decide({ ruleId, eventId: event.id, form: null, saw: { kind: 'rule_withdrawn' } });
    }
  }

  set(ruleId: string, after: RuleMemory | undefined): void {
    if (this.#rules[ruleId] === after) return;
    this.any = true;
    if (after === undefined) delete this.#rules[ruleId];
    else this.#rules[ruleId] = after;
  }

  decide(decision: Omit<Decision, keyof DecidedAt>): void {
    this.any = true;
    this.#decisions.push({ ...this.#record, ...decision });
  }

  /** Returns the memory with the changes. Drops stored events that neither a wait nor `previous` needs. */
  apply(lastEvent: number | null, eventAt: (offset: number) => KeptEvent | undefined): EntityMemory {
    const needed = new Set<number>(lastEvent === null ? [] : [lastEvent]);
    for (const { wait } of Object.values(this.#rules)) {
      if (!wait) continue;
      needed.add(wait.event);
      if (wait.previous !== null) needed.add(wait.previous);
    }
    const events: Record<string, KeptEvent> = {};
    for (const offset of [...needed].toSorted((a, b) => a - b)) {
      const event = eventAt(offset);
      if (event) events[offset] = event;
    }
    const decisions = [...this.#memory.decisions, ...this.#decisions].slice(-MAX_DECISIONS);
    return { ...this.#memory, lastEvent, events, rules: this.#rules, decisions };
  }
}
