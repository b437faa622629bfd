import type { MetEntity, Unanswered } from '@carillon/adapter-embedded';
import { ruleIdOf } from '@carillon/domain/configuration';
import { formatPosition } from '@carillon/domain/events';
import type { Line, RunOffsets, ScratchLookup, Side, SideCounts } from '@carillon/domain/runs';
import { runToCompletion, type Instant } from '@carillon/kernel';
import type { EventHistory, LogRecord, RuleState } from '@carillon/ports';
import {
  createStatePass,
  linesOf,
  lookbackOf,
  narrowRuleBook,
  offsetAt,
  quietRecords,
  sideFiringCoroutine,
  statefulRules,
  streamOfRecord,
  streamsOf,
  tickAt,
  type CompareContext,
  type PassedRule,
  type PassPosition,
  type PassStep,
  type RuleBook,
} from '@carillon/stages';
import { findRecordedAnswer } from './answers.ts';
import type { CompareParts } from './compare-parts.ts';
import type { Gap } from './gaps.ts';
import { meetEntities, type Meeting } from './met-entities.ts';
import { warmUpOf } from './warm-up.ts';

const TOPIC = 'carillon.events';

/** The part of a partition that a comparison reads. */
export type CompareRange = RunOffsets & {
  /** Offset of the first record that is read for the states at `first`. */
  readonly warmUp: number;
  /** Records before `warmUp`. Null: the comparison reads the partition from its first record. */
  readonly gap: Gap | null;
};

/** How far each side has come in the partition that is read now. */
export type SidePositions = { readonly [Name in Side]: PassPosition };

/** Result of one side of a comparison for some records. */
export type SideStep = Pick<PassStep, 'position' | 'isDone'> & {
  readonly states: readonly RuleState[];
  readonly lines: readonly Line[];
  readonly lookups: readonly ScratchLookup[];
  readonly unanswered: readonly Unanswered[];
  readonly noAddress: number;
  readonly ruleErrors: number;
};

/** Records of one page, with the known states of their entities. */
export type StatePage = {
  readonly records: readonly LogRecord[];
  readonly met: readonly MetEntity[];
  /** Returns true if earlier events, which were not read, may change the messages of an event. */
  readonly isCold: Meeting['isCold'];
  /** True if the records are only read for the states. */
  readonly isWarmUp: boolean;
};

/** Rules that keep state on at least one side of a comparison. Each side has its own states in the scratch file. */
export type StatefulComparison = {
  readonly ruleIds: readonly string[];
  /** The run's book without these rules. */
  readonly others: RuleBook;
  /** Returns all partitions, because a deadline may pass where nothing was appended. */
  ranges(): Promise<readonly CompareRange[]>;
  /** Returns a page as the sides read it. */
  page(records: readonly LogRecord[], range: CompareRange, isWarmUp: boolean): StatePage;
  take(side: Side, page: StatePage, position: PassPosition): Promise<SideStep>;
  /** Lets time pass to an instant, without a record. The position stays. */
  passUntil(side: Side, time: Instant, page: Omit<StatePage, 'records'>, position: PassPosition): Promise<SideStep>;
  /** Waits that no instant of the range ends, by side. */
  wouldWait(): SideCounts;
};

/** Returns null if no rule of the run keeps state. */
export function createStatefulComparison(parts: CompareParts): StatefulComparison | null {
  const { comparing, history, run, scratch } = parts;
  const { configurations, ids } = comparing;
  const rules = statefulRules(configurations, comparing.book);
  if (rules.size === 0) return null;
  const book = narrowRuleBook(comparing.book, (placed) => rules.has(ruleIdOf(placed)));
  const context: CompareContext = { ...comparing, book, findAnswer: findRecordedAnswer(scratch) };
  const streams = streamsOf(configurations, book);
  const lookback = lookbackOf(configurations, book);
  const runOf = (side: Side): string => `${run.id}/${side}`;
  const passOf = (side: Side) =>
    createStatePass({
      runId: runOf(side),
      store: scratch.states(runOf(side)),
      book,
      configuration: { at: async () => configurations[side] },
      deadLetters: parts.deadLetters,
      ids,
      clock: { now: () => run.createdAt },
      // The child returns to its event loop after each page.
      slice: { isExpired: () => false, yield: async () => undefined },
      log: { logId: history.logId, partitions: () => history.partitions(TOPIC) },
    });
  const passes = { before: passOf('before'), after: passOf('after') };
  const isRelevant = (record: LogRecord): boolean => {
    const kind = record.headers['kind'];
    if (kind === 'marker' || kind === 'tick') return false;
    const stream = streamOfRecord(record);
    return stream === null || streams.has(stream);
  };

  function stepOf(side: Side, { position, isDone, states, rules: passed }: PassStep, page: Omit<StatePage, 'records'>) {
    const step = { lines: [] as Line[], lookups: [] as ScratchLookup[], unanswered: [] as Unanswered[] };
    let [noAddress, ruleErrors] = [0, 0];
    for (const rule of page.isWarmUp ? [] : passed) {
      const at = causedAt(rule);
      if (!isCounted(rule, at, run)) continue;
      const { event, evaluated } = rule;
      const totals = evaluated.totals && { totals: evaluated.totals };
      const firing = runToCompletion(sideFiringCoroutine(event, evaluated, side, context));
      noAddress += firing.noAddress;
      ruleErrors += firing.ruleErrors;
      const wanted = { before: [], after: [], [side]: firing.wanted };
      step.lines.push(...linesOf(event, wanted, ids, { at, isCold: page.isCold(event), ...totals }));
      if (firing.unanswered === null) continue;
      const where = { ruleId: ruleIdOf(evaluated.placed), position: formatPosition(event.position) };
      step.unanswered.push(where);
      if (side === 'after') step.lookups.push({ ...where, eventId: event.id, at, userIds: firing.unanswered });
    }
    return { ...step, position, isDone, states, noAddress, ruleErrors };
  }

  return {
    ruleIds: [...rules],
    others: narrowRuleBook(comparing.book, (placed) => !rules.has(ruleIdOf(placed))),
    ranges: () => rangesOf(run, lookback.span, history),
    page(records, range, isWarmUp) {
      const read = quietRecords(records, isRelevant);
      return { records: read, isWarmUp, ...meetEntities(read, { ...lookback, gapOf: () => range.gap, ids, scratch }) };
    },
    async take(side, page, position) {
      return stepOf(side, await passes[side].take(page.records, position), page);
    },
    async passUntil(side, time, page, position) {
      const step = await passes[side].take([tickAt(position.partition, position.next, time)], position);
      return stepOf(side, { ...step, position: { ...step.position, next: position.next } }, page);
    },
    wouldWait() {
      const count = (side: Side): number => {
        let waits = 0;
        for (const state of scratch.waiting(runOf(side))) waits += state.waits.length;
        return waits;
      };
      return { before: count('before'), after: count('after') };
    },
  };
}

/** The append time of the event, or the deadline by which the rule fired. */
const causedAt = ({ event, evaluated: { intents, triggers } }: PassedRule): Instant =>
  intents[0]?.causedAt ?? triggers[0]?.causedAt ?? event.appendedAt;

/** A deadline that passed before the range did so at the end of the warm-up. */
function isCounted({ evaluated }: PassedRule, at: Instant, { from, to }: CompareParts['run']): boolean {
  const [output] = [...evaluated.intents, ...evaluated.triggers];
  if (!output) return true;
  return at < to && (output.deadline !== undefined || at >= from);
}

async function rangesOf(
  { offsets, from, to }: CompareParts['run'],
  span: number,
  history: Pick<EventHistory, 'partitions' | 'read' | 'bounds'>,
): Promise<readonly CompareRange[]> {
  const known = new Map(offsets.map((range) => [range.partition, range]));
  // Twice the span: an entity without events for one span has a state that the run knows.
  const since = from - 2 * span;
  return Promise.all(
    Array.from({ length: history.partitions(TOPIC) }, async (_, partition) => {
      const at = known.has(partition) ? 0 : await offsetAt(history, TOPIC, partition, to);
      const range = known.get(partition) ?? { partition, first: at, end: at };
      return { ...range, ...(await warmUpOf(history, { partition, first: range.first, since })) };
    }),
  );
}

export const startPositions = (range: CompareRange): SidePositions => {
  const position = { partition: range.partition, next: range.warmUp, watermark: 0, configNumber: 0 };
  return { before: position, after: position };
};
