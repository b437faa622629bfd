import { formatPosition } from '@carillon/domain/events';
import { readMemory } from '@carillon/domain/rules';
import type { RunOffsets } from '@carillon/domain/runs';
import type { LogRecord } from '@carillon/ports';
import { createStatePass, quietRecords, type PassedRule, type PassPosition, type StatePass } from '@carillon/stages';
import { gapOf, withGaps } from './gaps.ts';
import { meetEntities, type Meeting } from './met-entities.ts';
import { addPage, compare, emptyPage, normalized, outputsOf, type VerifiedPage } from './verify-compare.ts';
import { rangeCheck, type Commit } from './verify-copy.ts';
import { markBefore, newerMark } from './verify-marks.ts';
import type { Mark, VerifyParts, VerifyState } from './verify-parts.ts';
import type { StatefulRules } from './verify-rules.ts';
import { stretchesOf, type Stretch } from './verify-stretches.ts';
import { warmUpOf } from './warm-up.ts';

const EVENTS = 'carillon.events';
const PAGE_RECORDS = 500;
/** Waits that one commit notes. */
const BATCH_SIZE = 1_000;

/** Key of an event whose rules with state are uncertain, because earlier events of the entity were not read. */
export const coldKey = (eventPosition: string): string => `cold ${eventPosition}`;
/** Key of a wait that no record of the range ends. */
export const waitKey = (ruleId: string, eventPosition: string): string => `waits ${ruleId} ${eventPosition}`;

/** Verifies the streams whose rules keep state over one range. */
export type VerifiedStates = {
  /** Reads the records before the range, so that the states are those of the engine. */
  warmUp(begun: VerifyState, commit: Commit): Promise<VerifyState>;
  /** Verifies the outputs of records of the range. The mark of `begun` is the newest before them. */
  take(records: readonly LogRecord[], begun: VerifyState, commit: Commit): Promise<VerifyState>;
};

type StateWork = VerifyParts & {
  readonly rules: StatefulRules;
  readonly partition: number;
  readonly pass: StatePass;
  readonly isInRange: (position: string) => boolean;
};
/** How records are read. Outputs of a warm-up are not compared. */
type Reading = { readonly mark: Mark | null; readonly isWarmUp: boolean; readonly commit: Commit };

export function verifyStates(
  { partition, first }: Pick<RunOffsets, 'partition' | 'first'>,
  rules: StatefulRules,
  parts: VerifyParts,
): VerifiedStates {
  const { book, codecs, configuration, history, ids, pace, run, scratch } = parts;
  const pass = createStatePass({
    runId: run.id,
    store: scratch.states(run.id),
    book,
    configuration,
    deadLetters: codecs.deadLetter,
    ids,
    clock: { now: () => run.createdAt },
    // The child returns to its event loop after each page.
    slice: { isExpired: () => false, yield: async () => undefined },
    log: { logId: history.logId, partitions: () => history.partitions(EVENTS) },
  });
  const work = { ...parts, rules, partition, pass, isInRange: rangeCheck(run.offsets) };
  return {
    async warmUp(begun, commit) {
      let state = begun.pass ? begun : commit({}, await startPass(begun, first, work));
      const from = state.pass?.next ?? first;
      if (from >= first) return state;
      let mark = await markBefore(partition, from, parts);
      let startedAt = performance.now();
      for await (const { records } of history.pages({ topic: EVENTS, partition, from, end: first }, PAGE_RECORDS)) {
        state = await takeAll(records, state, { mark, isWarmUp: true, commit }, work);
        for (const record of records) mark = newerMark(mark, record, history.logId);
        state = { ...state, copied: state.copied + records.length };
        await pace.afterPage(startedAt);
        startedAt = performance.now();
      }
      return state;
    },
    take: (records, begun, commit) => takeAll(records, begun, { mark: begun.mark, isWarmUp: false, commit }, work),
  };
}

async function startPass(
  state: VerifyState,
  first: number,
  { history, partition, rules, run, ...parts }: StateWork,
): Promise<VerifyState> {
  const since = run.from - 2 * rules.lookback.span;
  const { warmUp, gap } = await warmUpOf(history, { partition, first, since });
  const time = Math.max(gap?.time ?? 0, rules.movedAt ?? 0);
  const gaps = time > 0 ? [{ partition, stream: null, offset: warmUp - 1, time }] : [];
  const mark = await markBefore(partition, warmUp, { ...parts, history, run });
  const pass: PassPosition = { partition, next: warmUp, watermark: 0, configNumber: mark?.number ?? -1 };
  return { ...state, pass, gaps: withGaps(state.gaps, gaps) };
}

async function takeAll(
  records: readonly LogRecord[],
  begun: VerifyState,
  reading: Reading,
  work: StateWork,
): Promise<VerifyState> {
  let state = begun;
  for (const stretch of await stretchesOf(records, reading.mark, work)) {
    // A page is read again after a crash.
    const end = stretch.records.at(-1)?.offset ?? -1;
    if (end >= (state.pass?.next ?? 0)) state = await takeStretch(stretch, state, reading, work);
  }
  return state;
}

async function takeStretch(
  { records, relevant, gaps }: Stretch,
  begun: VerifyState,
  { isWarmUp, commit }: Reading,
  work: StateWork,
): Promise<VerifyState> {
  const { history, ids, partition, pass, rules, run, scratch } = work;
  let state: VerifyState = { ...begun, gaps: withGaps(begun.gaps, gaps) };
  const read = quietRecords(records, (record) => relevant.has(record));
  const gapIn = (stream: string) => gapOf(state.gaps, partition, stream);
  const meeting = meetEntities(read, { ...rules.lookback, gapOf: gapIn, ids, scratch });
  const cold = (isWarmUp ? [] : meeting.cold).map((offset) => ({
    key: coldKey(formatPosition({ logId: history.logId, topic: EVENTS, partition, offset })),
    answer: '',
  }));
  for (let isDone = false; !isDone;) {
    if (!state.pass) throw new Error('the states of a verification have no position');
    const taken = await pass.take(read, state.pass);
    const verified = emptyPage();
    if (!isWarmUp) for (const rule of taken.rules) await verifyRule(rule, meeting, { ...work, state }, verified);
    ({ isDone } = taken);
    const page = { ...verified, states: { run: run.id, states: taken.states } };
    state = { ...state, pass: taken.position, counts: addPage(state.counts, verified) };
    state = commit(isDone ? { ...page, answers: [...page.answers, ...cold], met: meeting.met } : page, state);
  }
  return state;
}

async function verifyRule(
  { event, evaluated }: PassedRule,
  { isCold }: Meeting,
  work: StateWork & { readonly state: VerifyState },
  page: VerifiedPage,
): Promise<void> {
  const [output] = [...evaluated.intents, ...evaluated.triggers];
  const position = formatPosition(event.position);
  if (!output || !work.isInRange(position)) return;
  if (isCold(event) && (await work.rules.isStateful(output.configNumber, output.ruleId))) return;
  const at = Math.max(output.causedAt, event.appendedAt);
  await compare(await normalized(outputsOf([evaluated]), work), position, at, work, page);
}

/** Counts the waits that no record of the range ends, and notes those whose messages are on the log. Safe to repeat. */
export function copyWaits({ history, run, scratch }: VerifyParts, begun: VerifyState, commit: Commit): VerifyState {
  let answers: { readonly key: string; readonly answer: string }[] = [];
  let state = begun;
  let wouldWait = 0;
  for (const { data, offset: record, partition } of scratch.waiting(run.id)) {
    for (const [ruleId, { wait }] of Object.entries(readMemory(data, record).rules)) {
      if (!wait) continue;
      wouldWait += 1;
      const position = formatPosition({ logId: history.logId, topic: EVENTS, partition, offset: wait.event });
      if (scratch.outputsOf(position).length > 0) answers.push({ key: waitKey(ruleId, position), answer: '' });
    }
    if (answers.length < BATCH_SIZE) continue;
    state = commit({ answers }, state);
    answers = [];
  }
  return commit({ answers }, { ...state, counts: { ...state.counts, wouldWait } });
}
