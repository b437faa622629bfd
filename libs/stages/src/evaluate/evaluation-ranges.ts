import { ruleTitle, type PlacedRule } from '@carillon/domain/configuration';
import type { Evaluation, RuleTally } from '@carillon/domain/events';
import { countDropped } from '@carillon/domain/rules';
import type { EventId, Instant } from '@carillon/kernel';
import type { DecisionCount } from '@carillon/ports';
import type { EvaluatedRule } from './evaluate-event.ts';
import type { StateEffect } from './state-effect.ts';

/** Totals of one evaluation record over the events that it covers. */
export type Tally = {
  events: number;
  repeated: number;
  late: number;
  /** Late events of each rule with state, by `workspace/notification.rule`. */
  readonly lateOf: Map<string, DecisionCount>;
  intents: number;
  triggers: number;
  deadLetters: number;
  readonly rules: Map<string, RuleTally>;
};

type EvaluatedRange = { readonly from: number; to: number; readonly configNumber: number; readonly tally: Tally };

const emptyTally = (): Tally => ({
  events: 0,
  repeated: 0,
  late: 0,
  lateOf: new Map(),
  intents: 0,
  triggers: 0,
  deadLetters: 0,
  rules: new Map(),
});

/** The evaluation records of a batch. Neighbouring records evaluated under one configuration number share one. */
export class EvaluationRanges {
  readonly #partition: number;
  readonly #ranges: EvaluatedRange[] = [];

  constructor(partition: number) {
    this.#partition = partition;
  }

  /** Returns the counts for a record and adds the record to the range. */
  at(offset: number, configNumber: number): Tally {
    const range = this.#rangeBefore(offset, configNumber);
    range.to = offset + 1;
    return range.tally;
  }

  /**
   * Returns the counts for what happens before a record. If the commit ends there, the record is left to the next
   * commit.
   */
  before(offset: number, configNumber: number): Tally {
    return this.#rangeBefore(offset, configNumber).tally;
  }

  get ruleErrors(): number {
    return this.#ranges.flatMap(({ tally }) => [...tally.rules.values()]).reduce((sum, { failed }) => sum + failed, 0);
  }

  /** Decisions of rules with state, by rule and range. */
  get decided(): readonly DecisionCount[] {
    const late = this.#ranges.flatMap(({ tally }) => [...tally.lateOf.values()]);
    const tallies = this.#ranges.flatMap(({ tally }) => [...tally.rules.values()]);
    const decisions = tallies.flatMap(({ workspace, rule, ...tally }) =>
      DECISIONS.flatMap(([decision, key]) =>
        tally[key] === 0 ? [] : [{ workspace, rule, decision, count: tally[key] }],
      ),
    );
    return [...decisions, ...late];
  }

  evaluations(at: Instant): readonly Evaluation[] {
    return this.#ranges.map(({ tally, from, to, configNumber }) => ({
      partition: this.#partition,
      from,
      to,
      configNumber,
      events: tally.events,
      repeated: tally.repeated,
      intents: tally.intents,
      triggers: tally.triggers,
      late: tally.late,
      duplicates: 0,
      deadLetters: tally.deadLetters,
      rules: [...tally.rules.values()],
      at,
    }));
  }

  #rangeBefore(offset: number, configNumber: number): EvaluatedRange {
    const last = this.#ranges.at(-1);
    if (last && last.configNumber === configNumber) return last;
    const from = last ? last.to : offset;
    const range: EvaluatedRange = { from, to: from, configNumber, tally: emptyTally() };
    this.#ranges.push(range);
    return range;
  }
}

const DECISIONS = [
  ['wait_started', 'waitsStarted'],
  ['wait_cancelled', 'waitsCancelled'],
  ['in_cooldown', 'inCooldown'],
  ['fired_by_deadline', 'firedByDeadline'],
] as const satisfies readonly (readonly [StateEffect, keyof RuleTally])[];

/** Counts an event that came later than its time plus grace, for the rules with state of its stream. */
export function countLate(tally: Tally, rules: readonly PlacedRule[]): void {
  tally.late += 1;
  for (const placed of rules) {
    const [workspace, rule] = [placed.workspace, ruleTitle(placed)];
    const count = 1 + (tally.lateOf.get(`${workspace}/${rule}`)?.count ?? 0);
    tally.lateOf.set(`${workspace}/${rule}`, { workspace, rule, decision: 'late', count });
  }
}

/** Adds the result of a rule for an event. Callers skip results without effect, which are most. */
export function countRule(tally: Tally, eventId: EventId | null, evaluated: EvaluatedRule): void {
  const { placed, outcome, intents, triggers, effect } = evaluated;
  const key = `${placed.workspace}/${ruleTitle(placed)}@${placed.version}`;
  const before = tally.rules.get(key);
  const failed = outcome.kind === 'failed';
  const fired = outcome.kind === 'fired' || outcome.kind === 'asks';
  const drops = fired ? outcome.dropped : [];
  // Recipients that `where` excludes are dropped on purpose and do not count as lost.
  const lost = drops.find(({ reason }) => reason !== 'where_false');
  const error = failed ? outcome.error : (lost?.detail ?? null);
  const added = (counted: boolean): number => (counted ? 1 : 0);
  tally.intents += intents.length;
  tally.triggers += triggers.length;
  tally.rules.set(key, {
    workspace: placed.workspace,
    rule: ruleTitle(placed),
    ruleVersion: placed.version,
    fired: (before?.fired ?? 0) + added(fired),
    failed: (before?.failed ?? 0) + added(failed),
    dropped: (before?.dropped ?? 0) + countDropped(drops),
    waitsStarted: (before?.waitsStarted ?? 0) + added(effect === 'wait_started'),
    waitsCancelled: (before?.waitsCancelled ?? 0) + added(effect === 'wait_cancelled'),
    inCooldown: (before?.inCooldown ?? 0) + added(effect === 'in_cooldown'),
    firedByDeadline: (before?.firedByDeadline ?? 0) + added(effect === 'fired_by_deadline'),
    sampleEventId: before?.sampleEventId ?? (error === null ? null : eventId),
    sampleError: before?.sampleError ?? error,
  });
}
