import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { RunResult } from '@carillon/control';
import { ruleIdOf, ruleTitle } from '@carillon/domain/configuration';
import {
  NO_READ_COUNTS,
  ROW_BATCH_SIZE,
  SIDES,
  type DifferentSlot,
  type MissingLookup,
  type ReadCounts,
  type Side,
  type SideCounts,
  type CompareRun,
} from '@carillon/domain/runs';
import type { Instant } from '@carillon/kernel';
import {
  asksPartner,
  CHECKSUM_FIELDS,
  checksumOf,
  countPeople,
  findQuietEvents,
  joinSlots,
  streamsOf,
  type CompareContext,
  type PassPosition,
} from '@carillon/stages';
import { findRecordedAnswer, recordAnswers, type LookupPosition } from './answers.ts';
import type { CompareParts } from './compare-parts.ts';
import { addCounts, evaluatePage, NOTHING, type PageFacts } from './compare-page.ts';
import {
  createStatefulComparison,
  startPositions,
  type CompareRange,
  type SidePositions,
  type SideStep,
  type StatefulComparison,
} from './compare-states.ts';
import type { ChildReports } from './protocol.ts';

const TOPIC = 'carillon.events';
/** Records of one page. */
const PAGE_RECORDS = 500;
const REPORT_EVERY_MS = 1_000;
/** Slots joined between two returns to the event loop. */
const SLOTS_PER_TURN = 10_000;

/** State of a run in its scratch file. */
type Checkpoint = {
  /** The lookups to copy next. Null: all are copied. */
  readonly lookups: LookupPosition | null;
  /** Recorded lookups that were read so far. */
  readonly copied: number;
  readonly ranges: readonly CompareRange[];
  /** Index of the range that is read now. */
  readonly at: number;
  /** The offset to read next in each range. */
  readonly next: readonly number[];
  /** How far the sides have come in the range that is read now. Null: no rule of the run keeps state, or the range begins. */
  readonly sides: SidePositions | null;
  readonly read: number;
  readonly counts: ReadCounts;
};

/**
 * Evaluates each event of a run by both configurations, writes a line for each message to the scratch file, and sends the slots on
 * which the sides differ. Continues from the checkpoint of the scratch file.
 */
export async function compareHistory(
  parts: CompareParts,
  reports: ChildReports<'compare'>,
): Promise<RunResult<'compare'>> {
  const { run, scratch } = parts;
  const stateful = createStatefulComparison(parts);
  let state = await readCheckpoint(parts, stateful);
  const { report, reportInTime } = createReporter(run, reports);
  report(state);
  if (state.lookups) {
    if (asksPartner(parts.comparing.configurations, parts.comparing.book)) {
      await recordAnswers(parts, state.lookups, (lookups, records) => {
        state = { ...state, lookups, copied: state.copied + records };
        reportInTime(state);
        return JSON.stringify(state);
      });
    }
    state = { ...state, lookups: null };
    scratch.commit({ checkpoint: JSON.stringify(state) });
  }
  state = await readRanges({ ...parts, stateful, reportInTime }, state);
  if (stateful) {
    const { unanswered, cold } = scratch.settle(stateful.ruleIds);
    const needsLookup = state.counts.needsLookup + unanswered;
    state = { ...state, counts: { ...state.counts, needsLookup, cold, wouldWait: stateful.wouldWait() } };
  }
  report(state);
  const unchanged = await sendSlots(parts, reports);
  await sendLookups(parts, reports);
  const people = countPeople(scratch.people());
  const checksum = checksumOf(scratch.lines(CHECKSUM_FIELDS), createHash('sha256'));
  return { checksum, counts: state.counts, unchanged, people };
}

async function readCheckpoint(
  { run, scratch }: CompareParts,
  stateful: StatefulComparison | null,
): Promise<Checkpoint> {
  if (scratch.checkpoint !== null) return JSON.parse(scratch.checkpoint) as Checkpoint;
  const plain = run.offsets.map((range) => ({ ...range, warmUp: range.first, gap: null }));
  const ranges = stateful ? await stateful.ranges() : plain;
  return {
    lookups: { partition: 0, from: 0 },
    copied: 0,
    ranges,
    at: 0,
    next: ranges.map(({ warmUp }) => warmUp),
    sides: null,
    read: 0,
    counts: NO_READ_COUNTS,
  };
}

/** `report` reports at once; `reportInTime` reports on its first call, and then once per second. */
function createReporter({ progress: { total } }: CompareRun, reports: ChildReports<'compare'>) {
  let reportedAt = Number.NEGATIVE_INFINITY;
  const report = ({ read, counts, copied }: Checkpoint): void => reports.progress({ read, total }, counts, copied);
  const reportInTime = (state: Checkpoint): void => {
    const now = performance.now();
    if (now - reportedAt < REPORT_EVERY_MS) return;
    reportedAt = now;
    report(state);
  };
  return { report, reportInTime };
}

type ReadingParts = CompareParts & {
  readonly stateful: StatefulComparison | null;
  readonly reportInTime: (state: Checkpoint) => void;
};

async function readRanges(parts: ReadingParts, begun: Checkpoint): Promise<Checkpoint> {
  const { run, stateful } = parts;
  let state = begun;
  for (let index = begun.at; index < begun.ranges.length; index += 1) {
    const range = begun.ranges[index];
    if (!range) break;
    const { first, end, warmUp } = range;
    if (stateful && !state.sides) state = { ...state, sides: startPositions(range) };
    if (warmUp < first && (state.next[index] ?? end) <= first) {
      state = await readPages(parts, { index, range, end: first, isWarmUp: true }, state);
      state = await passUntil(parts, { index, range, end: first, isWarmUp: true }, run.from, state);
    }
    state = await readPages(parts, { index, range, end, isWarmUp: false }, state);
    state = await passUntil(parts, { index, range, end, isWarmUp: false }, run.to, state);
    state = { ...state, at: index + 1, sides: null };
  }
  return state;
}

/** A part of a range: up to its start, or the range itself. */
type Stretch = {
  readonly index: number;
  readonly range: CompareRange;
  readonly end: number;
  readonly isWarmUp: boolean;
};

async function readPages(parts: ReadingParts, stretch: Stretch, begun: Checkpoint): Promise<Checkpoint> {
  const { run, history, scratch, comparing, pace, stateful, reportInTime, pageRecords = PAGE_RECORDS } = parts;
  const { index, range, end, isWarmUp } = stretch;
  const book = stateful?.others ?? comparing.book;
  const context: CompareContext = { ...comparing, book, findAnswer: findRecordedAnswer(scratch) };
  const streams = streamsOf(comparing.configurations, comparing.book);
  const isQuiet = findQuietEvents(context, history.logId);
  const facts: PageFacts = { context, streams, isQuiet, run, logId: history.logId };
  const { partition } = range;
  let state = begun;
  let from = state.next[index] ?? end;
  let startedAt = performance.now();
  for await (const page of history.pages({ topic: TOPIC, partition, from, end }, pageRecords)) {
    const statePage = stateful?.page(page.records, range, isWarmUp);
    if (stateful && statePage) {
      for (const side of SIDES) state = await takeSide(parts, side, state, (at) => stateful.take(side, statePage, at));
    }
    for (const { next, counts, lines, lookups } of isWarmUp
      ? [{ ...NOTHING, next: page.next }]
      : evaluatePage(page, facts)) {
      const behind = isWarmUp ? { copied: state.copied + next - from } : { read: state.read + next - from };
      state = { ...state, ...behind, next: state.next.with(index, next), counts: addCounts(state.counts, counts) };
      // In each part, because a page is read from behind its last part again.
      const met = statePage?.met ?? [];
      scratch.commit({ lines, lookups, met, checkpoint: JSON.stringify(state) });
      from = next;
      reportInTime(state);
    }
    await pace.afterPage(startedAt);
    startedAt = performance.now();
  }
  return state;
}

/** Lets time pass on both sides to the end of a stretch. */
async function passUntil(
  parts: ReadingParts,
  { range, isWarmUp }: Stretch,
  time: Instant,
  begun: Checkpoint,
): Promise<Checkpoint> {
  const { stateful } = parts;
  if (!stateful) return begun;
  const page = stateful.page([], range, isWarmUp);
  let state = begun;
  for (const side of SIDES)
    state = await takeSide(parts, side, state, (at) => stateful.passUntil(side, time, page, at));
  return state;
}

/** Runs one side of a comparison to its end. Each step is one commit of states and lines. */
async function takeSide(
  { scratch, run }: ReadingParts,
  side: Side,
  begun: Checkpoint,
  take: (position: PassPosition) => Promise<SideStep>,
): Promise<Checkpoint> {
  let state = begun;
  for (let isDone = false; !isDone;) {
    if (!state.sides) throw new Error('the sides of a comparison have no position');
    const step = await take(state.sides[side]);
    const { lines, lookups, unanswered, noAddress, ruleErrors } = step;
    const counts = addCounts(state.counts, {
      ...NO_READ_COUNTS,
      noAddress: { ...NOBODY, [side]: noAddress },
      ruleErrors: { ...NOBODY, [side]: ruleErrors },
    });
    state = { ...state, counts, sides: { ...state.sides, [side]: step.position } };
    const states = { run: `${run.id}/${side}`, states: step.states };
    scratch.commit({ lines, lookups, unanswered, states, checkpoint: JSON.stringify(state) });
    ({ isDone } = step);
  }
  return state;
}

const NOBODY: SideCounts = { before: 0, after: 0 };

/** Sends the slots that differ, and keeps their people in the scratch file. Returns the number of the others by rule. */
async function sendSlots(
  { scratch, comparing }: CompareParts,
  reports: ChildReports<'compare'>,
): Promise<readonly (readonly [string, number])[]> {
  const unchanged = new Map<string, number>();
  let batch: DifferentSlot[] = [];
  const sendBatch = async (): Promise<void> => {
    const states = await reports.slots(batch);
    const people = batch.map(({ difference, person }, index) => ({
      difference,
      person,
      isNotified: states[index] === 'notified',
    }));
    scratch.commit({ people });
    batch = [];
  };
  let joined = 0;
  for (const slot of joinSlots(scratch.lines(['slot']), titlesOf(comparing))) {
    // Yield to the event loop regularly, because the child process only notices the end of its parent there.
    joined += 1;
    if (joined % SLOTS_PER_TURN === 0) await nextTurn();
    if (slot.difference === 'unchanged') {
      unchanged.set(slot.rule, (unchanged.get(slot.rule) ?? 0) + 1);
      continue;
    }
    batch.push({ ...slot, difference: slot.difference });
    if (batch.length >= ROW_BATCH_SIZE) await sendBatch();
  }
  if (batch.length > 0) await sendBatch();
  return [...unchanged];
}

/** Sends events and rules that need a lookup. */
async function sendLookups({ scratch, comparing }: CompareParts, reports: ChildReports<'compare'>): Promise<void> {
  const titleOf = titlesOf(comparing);
  let batch: MissingLookup[] = [];
  for (const { ruleId, ...lookup } of scratch.lookups()) {
    batch.push({ ...lookup, rule: titleOf(ruleId) });
    if (batch.length < ROW_BATCH_SIZE) continue;
    await reports.lookups(batch);
    batch = [];
  }
  if (batch.length > 0) await reports.lookups(batch);
}

/** Returns the title of a rule by its id. A renamed rule has the title of the side *after*. */
function titlesOf({ configurations, book }: CompareParts['comparing']): (ruleId: string) => string {
  const titles = new Map<string, string>();
  const streams = [...streamsOf(configurations, book)];
  for (const side of SIDES) {
    const rules = streams.flatMap((stream) => book.rulesOf(configurations[side], stream));
    for (const { placed } of rules) titles.set(ruleIdOf(placed), ruleTitle(placed));
  }
  return (ruleId) => titles.get(ruleId) ?? ruleId;
}
