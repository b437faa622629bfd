import { ruleIdOf } from '@carillon/domain/configuration';
import type { SourceEvent } from '@carillon/domain/events';
import { triggerIdOf } from '@carillon/domain/lookups';
import {
  decisionWords,
  emptyMemory,
  entityOf,
  NOT_FIRED,
  nextDueOf,
  passDeadlines,
  remembered,
  rememberedBindings,
  ruleMemoryOf,
  startTurn,
  totalsAtEvent,
  type Bindings,
  type CompiledRule,
  type EntityMemory,
  type EntityTurn,
  type Explained,
  type KeyedEvent,
  type RuleOutcome,
  type ShownTotals,
} from '@carillon/domain/rules';
import type { Coroutine, DeriveId, Duration, Instant, LogId } from '@carillon/kernel';
import { evaluateOutcomesCoroutine, isFired, type BookRule } from '@carillon/stages';

/** A rule, and the events that it meets. */
export type Rehearsed = {
  readonly entry: Extract<BookRule, { readonly ok: true }>;
  /** In the order in which they are appended. `appendedAt` says when. */
  readonly events: readonly SourceEvent[];
  /** Deadlines up to this instant and at it pass. */
  readonly until: Instant;
  /** Memories of entities before the first event, as an engine keeps them. */
  readonly memories?: readonly EntityMemory[];
};

/** A part of an expression with its value. `field`: the key of the rule that has the expression, such as `when`. */
export type ExpressionPartValue = Explained & { readonly field: string };

/** Result of a rule for an event or a deadline. */
export type RehearsedStep = {
  readonly kind: 'event' | 'deadline';
  /** Append time of the event, or the deadline. */
  readonly at: Instant;
  /** The event. At a deadline, the event from which the message is made. */
  readonly event: SourceEvent;
  readonly outcome: RuleOutcome;
  /** Deadline by which the rule fires. Null: it fires at the event, or does not fire. */
  readonly deadline: Instant | null;
  /** Totals of the rule at the step, including the event. Empty: it has none. */
  readonly totals: ShownTotals;
  /** Sentences about the decisions of the rule. */
  readonly decisions: readonly string[];
  /** Parts of the rule's expressions with their values, and the key that has each expression. Empty at a deadline. */
  readonly explained: readonly ExpressionPartValue[];
  /** Deadline for which the entity waits after the step. Null: it does not wait. */
  readonly waitsUntil: Instant | null;
};

const DAY: Duration = 86_400_000;
/** How long after the last event all deadlines have passed. No deadline is further ahead. */
export const LONGEST_WAIT: Duration = 367 * DAY;

const REPEAT = 'repeat: an event with this id came before';

/**
 * Runs a rule over events with a virtual clock, by the engine's evaluation, over memories that are not saved. Each
 * deadline passes a millisecond after it and the grace of its stream, as if a tick came then. It sends nothing. A rule that is disabled runs too.
 */
export function* rehearse(
  { entry, events, until, memories = [] }: Rehearsed,
  derive: DeriveId,
): Coroutine<readonly RehearsedStep[]> {
  const rehearsal = new Rehearsal(entry, memories, derive);
  for (const event of events) {
    yield* rehearsal.passUntil(event.appendedAt);
    yield* rehearsal.take(event);
  }
  yield* rehearsal.passUntil(until + 1 + (entry.placed.grace ?? 0));
  return rehearsal.steps;
}

class Rehearsal {
  readonly steps: RehearsedStep[] = [];
  readonly #entry: Rehearsed['entry'];
  readonly #derive: DeriveId;
  readonly #memories: Map<string, EntityMemory>;
  #offset: number;
  #watermark: Instant = 0;

  constructor({ placed, rule }: Rehearsed['entry'], memories: readonly EntityMemory[], derive: DeriveId) {
    const enabled = { ...placed, enabled: true };
    this.#entry = { ok: true, placed: enabled, rule: { ...rule, placed: enabled } };
    this.#derive = derive;
    this.#memories = new Map(memories.map((memory) => [memory.entity.key, this.#ownPart(memory)]));
    this.#offset = 1 + Math.max(-1, ...memories.map(({ offset }) => offset));
  }

  get #ruleId(): string {
    return ruleIdOf(this.#entry.placed);
  }

  /** Returns what the memory holds of this rule, because no other rule runs. */
  #ownPart(memory: EntityMemory): EntityMemory {
    const own = ruleMemoryOf(memory, this.#entry.placed);
    return { ...memory, rules: own === undefined ? {} : { [this.#ruleId]: own } };
  }

  #nextPosition() {
    return { logId: '' as LogId, topic: 'rehearsal', partition: 0, offset: this.#offset++ };
  }

  /** Passes the deadlines that are due before an instant, the earliest first. */
  *passUntil(end: Instant): Coroutine<void> {
    for (;;) {
      const waiting = [...this.#memories.values()].map((memory) => ({ memory, due: nextDueOf(memory) ?? end }));
      const [first] = waiting.toSorted((a, b) => a.due - b.due);
      if (!first || first.due >= end) return;
      this.#watermark = Math.max(this.#watermark, first.due + 1);
      yield* this.#pass(first.memory);
    }
  }

  *#pass(memory: EntityMemory): Coroutine<void> {
    const record = { position: this.#nextPosition(), watermark: this.#watermark };
    const { memory: after, passed } = yield* passDeadlines(memory, record, [this.#entry], (placed, eventId) =>
      triggerIdOf(this.#derive, ruleIdOf(placed), eventId),
    );
    this.#memories.set(memory.entity.key, after);
    for (const { event, deadline, outcome, totals } of passed) {
      const shown = { totals: totals ?? {}, explained: [] };
      const facts = { kind: 'deadline', at: deadline, event, outcome, deadline, ...shown } as const;
      this.steps.push({ ...facts, ...this.#remembered(after, record.position.offset) });
    }
  }

  *take(given: SourceEvent): Coroutine<void> {
    const event: SourceEvent = { ...given, position: this.#nextPosition() };
    this.#watermark = Math.max(this.#watermark, event.appendedAt);
    const before =
      event.key === null ? null : remembered(this.#memoryOf({ ...event, key: event.key }), this.#watermark);
    const states = {
      turn: (keyed: KeyedEvent): EntityTurn | null => {
        const memory = this.#memoryOf(keyed);
        return startTurn(memory, keyed, this.#watermark);
      },
      put: (keyed: KeyedEvent, memory: EntityMemory) => void this.#memories.set(keyed.key, memory),
      save: () => Promise.resolve('done' as const),
    };
    const [result] = yield* evaluateOutcomesCoroutine(event, [this.#entry], this.#derive, states);
    const { rule } = this.#entry;
    const after = event.key === null ? null : (this.#memories.get(event.key) ?? null);
    if (!result) {
      const waitsUntil = after?.rules[this.#ruleId]?.wait?.deadline ?? null;
      const facts = { kind: 'event', at: event.appendedAt, event, outcome: NOT_FIRED, deadline: null } as const;
      this.steps.push({ ...facts, totals: {}, decisions: [REPEAT], explained: [], waitsUntil });
      return;
    }
    this.steps.push({
      kind: 'event',
      at: event.appendedAt,
      event,
      outcome: result.outcome,
      deadline: isFired(result) ? result.when.deadline : null,
      totals: (before === null ? null : totalsAtEvent(rule, event, before)) ?? {},
      explained: explainParts(rule, rememberedBindings(rule, event, before)),
      ...this.#remembered(after, event.position.offset),
    });
  }

  #memoryOf(event: KeyedEvent): EntityMemory {
    return this.#memories.get(event.key) ?? emptyMemory(entityOf(event));
  }

  #remembered(memory: EntityMemory | null, record: number): Pick<RehearsedStep, 'decisions' | 'waitsUntil'> {
    const decided = memory?.decisions.filter((decision) => decision.record === record) ?? [];
    return {
      decisions: decided.flatMap(decisionWords),
      waitsUntil: memory?.rules[this.#ruleId]?.wait?.deadline ?? null,
    };
  }
}

/** Explains `when` and the expressions of the rule's forms. */
function explainParts({ when, memory }: CompiledRule, bindings: Bindings): readonly ExpressionPartValue[] {
  const others = memory?.forms.flatMap(({ expressions }) => expressions) ?? [];
  return [['when', when] as const, ...others].flatMap(([field, expression]) =>
    expression.explain(bindings).map((part) => ({ ...part, field })),
  );
}
