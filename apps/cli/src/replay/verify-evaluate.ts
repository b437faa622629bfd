import { ruleTitle, type Configuration } from '@carillon/domain/configuration';
import { formatPosition, readPosition, type SourceEvent } from '@carillon/domain/events';
import type { Finding, VerifiedTopic, VerifyCounts } from '@carillon/domain/runs';
import { CarillonError, runToCompletion, type Instant } from '@carillon/kernel';
import { ERASED, type LogRecord } from '@carillon/ports';
import {
  decodeRecord,
  ENGINE_SEMANTICS,
  entryOf,
  evaluateEvent,
  eventIdOf,
  firstDifference,
  matchOutputs,
  readSourceRecord,
  REDRIVEN_FROM_HEADER,
  resolveLookupCoroutine,
  ruleOf,
  streamOfRecord,
  workspaceOf,
  type EventOutput,
  type ExpectedOutput,
  type FoundOutput,
} from '@carillon/stages';
import { decodeOutput, parkedKey, rangeCheck, type Commit } from './verify-copy.ts';
import type { Mark, VerifyParts, VerifyState } from './verify-parts.ts';
import { isAnswerGone, isEventGone, removedUntilOf } from './verify-removed.ts';

const EVENTS = 'carillon.events';
const LOOKUPS = 'carillon.lookups';
const PAGE_RECORDS = 500;
/** Outputs after which a page is committed in part, because one event may have 10,000 recipients. */
const MAX_PAGE_OUTPUTS = 10_000;

type Counted = { -readonly [Name in Exclude<keyof VerifyCounts, 'problems'>]: number };

/** The result of evaluating the events of one page. */
type VerifiedPage = {
  readonly findings: Finding[];
  readonly compared: string[];
  readonly answers: { readonly key: string; readonly answer: string }[];
  readonly counted: Pick<
    Counted,
    'events' | 'otherSemantics' | 'pastRetention' | 'same' | 'unknownConfiguration' | 'unreadable'
  >;
};

const emptyPage = (): VerifiedPage => ({
  findings: [],
  compared: [],
  answers: [],
  counted: { events: 0, otherSemantics: 0, pastRetention: 0, same: 0, unknownConfiguration: 0, unreadable: 0 },
});

const isLarge = ({ compared, findings }: VerifiedPage): boolean =>
  compared.length + findings.length >= MAX_PAGE_OUTPUTS;

function addPage(counts: VerifyCounts, { counted, findings }: VerifiedPage): VerifyCounts {
  const problems = { ...counts.problems };
  for (const { problem } of findings) problems[problem] += 1;
  return {
    ...counts,
    events: counts.events + counted.events,
    same: counts.same + counted.same,
    problems,
    unknownConfiguration: counts.unknownConfiguration + counted.unknownConfiguration,
    otherSemantics: counts.otherSemantics + counted.otherSemantics,
    unreadable: counts.unreadable + counted.unreadable,
    pastRetention: counts.pastRetention + counted.pastRetention,
  };
}

/** Evaluates the events of the run again and compares the results with the log. */
export async function verifyEvents(parts: VerifyParts, begun: VerifyState, commit: Commit): Promise<VerifyState> {
  const { run, history, pace, pageRecords = PAGE_RECORDS } = parts;
  let state = begun;
  for (let { index } = begun.at; index < run.offsets.length; index += 1) {
    const range = run.offsets[index];
    if (!range) break;
    const { partition, end, first } = range;
    if (state.at.index !== index || state.at.next === null) {
      state = { ...state, at: { index, next: first }, mark: await markBefore(partition, first, parts) };
    }
    const from = state.at.next ?? first;
    let { mark } = state;
    let startedAt = performance.now();
    for await (const page of history.pages({ topic: EVENTS, partition, from, end }, pageRecords)) {
      let verified = emptyPage();
      verified.counted.pastRetention += page.removed;
      const commitUntil = (next: number): void => {
        const read = state.read + next - (state.at.next ?? first);
        const counts = addPage(state.counts, verified);
        state = commit(verified, { ...state, at: { index, next }, mark, read, counts });
        verified = emptyPage();
      };
      for (const record of page.records) {
        mark = await verifyRecord(record, mark, { ...parts, state }, verified);
        if (isLarge(verified)) commitUntil(record.offset + 1);
      }
      commitUntil(page.next);
      await pace.afterPage(startedAt);
      startedAt = performance.now();
    }
  }
  return state;
}

/**
 * Returns the newest marker before an offset, or null if the log has none. Two publications may write their markers in
 * reverse order, so the page before the found marker is searched too.
 */
async function markBefore(partition: number, offset: number, { history, pace }: VerifyParts): Promise<Mark | null> {
  const { start } = await history.bounds(EVENTS, partition);
  let mark: Mark | null = null;
  for (let end = offset; end > start; end -= PAGE_RECORDS) {
    const isLast = mark !== null;
    const from = Math.max(start, end - PAGE_RECORDS);
    let inPage: Mark | null = null;
    let startedAt = performance.now();
    // A read stops at a number of bytes, so a window of large events takes several reads.
    for await (const page of history.pages({ topic: EVENTS, partition, from, end }, PAGE_RECORDS)) {
      for (const record of page.records) inPage = newerMark(inPage, record, history.logId);
      await pace.afterPage(startedAt);
      startedAt = performance.now();
    }
    mark = olderMark(mark, inPage);
    if (isLast) break;
  }
  return mark;
}

const olderMark = (mark: Mark | null, older: Mark | null): Mark | null =>
  mark && older ? { ...mark, number: Math.max(mark.number, older.number) } : (mark ?? older);

function newerMark(mark: Mark | null, record: LogRecord, logId: VerifyParts['history']['logId']): Mark | null {
  if (record.headers['kind'] !== 'marker') return mark;
  const source = readSourceRecord(record, logId);
  if (!source.ok || source.value.kind !== 'marker') return mark;
  return { number: Math.max(mark?.number ?? -1, source.value.configNumber), semantics: source.value.semantics };
}

type Work = VerifyParts & { readonly state: VerifyState };

/** Verifies the event of a record, and returns the marker that counts for the next one. */
async function verifyRecord(
  record: LogRecord,
  mark: Mark | null,
  work: Work,
  page: VerifiedPage,
): Promise<Mark | null> {
  const { configuration, history, run, scratch } = work;
  const { counted } = page;
  if (record.headers['kind'] === 'marker') return newerMark(mark, record, history.logId);
  const kind = record.headers['kind'];
  const isOfWorkspace = (record.headers['workspace'] ?? run.workspace) === run.workspace;
  if ((kind !== 'event' && kind !== ERASED) || !isOfWorkspace) return mark;
  const position = formatPosition({ ...record, logId: history.logId });
  const leaveOut = (count: 'otherSemantics' | 'unknownConfiguration' | 'unreadable'): Mark | null => {
    counted[count] += 1;
    page.compared.push(...scratch.outputsOf(position).map((output) => output.position));
    page.answers.push({ key: leftOutKey(position), answer: count });
    return mark;
  };
  if (kind === ERASED) return leaveOut('unreadable');
  if (mark === null) return leaveOut('unknownConfiguration');
  if (mark.semantics !== ENGINE_SEMANTICS) return leaveOut('otherSemantics');
  if (scratch.answer(parkedKey(position)) !== undefined) return leaveOut('unreadable');
  const current = await configuration.at(mark.number);
  const stream = streamOfRecord(record);
  if (stream !== null && !hasRules(current, stream, work)) {
    counted.events += 1;
    return mark;
  }
  const source = readSourceRecord(record, history.logId);
  if (!source.ok) return leaveOut('unreadable');
  if (source.value.kind !== 'event') return mark;
  counted.events += 1;
  const expected = await normalized(outputsOf(source.value.event, current, work), work);
  await compare(expected, position, record.time, work, page);
  return mark;
}

/** Returns true if a stream feeds an enabled rule of the workspace. Throws for a rule that keeps state, because one event does not say what it does. */
function hasRules(configuration: Configuration, stream: string, { book, run }: VerifyParts): boolean {
  const rules = book
    .rulesOf(configuration, stream)
    .filter(({ placed }) => placed.enabled && placed.workspace === run.workspace);
  const keeping = rules.flatMap((entry) => (entry.ok && entry.rule.memory !== null ? [ruleTitle(entry.placed)] : []));
  if (keeping.length === 0) return rules.length > 0;
  const titles = [...new Set(keeping)].toSorted().join(', ');
  throw new CarillonError(
    'wrong_state',
    `rules that keep state cannot be verified: ${titles}. Verify a time before them`,
  );
}

/** All rules are evaluated, also those of other workspaces, because the rules of an event share its steps. */
function outputsOf(
  event: SourceEvent,
  configuration: Configuration,
  { book, ids }: VerifyParts,
): readonly EventOutput[] {
  return evaluateEvent(event, configuration, book, ids.derive).flatMap(({ intents, triggers }): EventOutput[] => [
    ...intents.map((intent) => ({ kind: 'intent', intent }) as const),
    ...triggers.map((trigger) => ({ kind: 'trigger', trigger }) as const),
  ]);
}

/** Returns outputs as they come out of their records. */
async function normalized(
  outputs: readonly EventOutput[],
  { codecs, ids, run }: VerifyParts,
): Promise<readonly ExpectedOutput[]> {
  const expected: ExpectedOutput[] = [];
  for (const output of outputs) {
    if (workspaceOf(output) !== run.workspace) continue;
    const read =
      output.kind === 'intent'
        ? await decodeRecord(codecs.intent, codecs.intent.encode(output.intent))
        : await decodeRecord(codecs.trigger, codecs.trigger.encode(output.trigger));
    if (!read.ok)
      throw new CarillonError('internal', `an output of ${ruleOf(output)} cannot be read as it was written`);
    const again = { kind: output.kind, [output.kind]: read.value } as unknown as EventOutput;
    expected.push({ ...entryOf(again, ids), output: again });
  }
  return expected;
}

/** Compares outputs that an event gives with those on the log. `at` is the append time of the event. */
async function compare(
  expected: readonly ExpectedOutput[],
  eventPosition: string,
  at: Instant,
  work: Work,
  page: VerifiedPage,
): Promise<void> {
  if (expected.length === 0) return;
  const { besideRight, compared, different, missing } = matchOutputs(expected, work.scratch.outputsOf(eventPosition));
  page.counted.same += expected.length - different.length - missing.length;
  page.compared.push(...compared.map(({ position }) => position));
  page.answers.push(...besideRight.map(({ copy, right }) => ({ key: rightKey(copy), answer: right.position })));
  for (const { expected: output, found } of different) page.findings.push(await differenceOf(output, found, work));
  for (const output of missing) {
    if (at <= removedUntilOf(output.output, work)) page.counted.pastRetention += 1;
    else page.findings.push({ ...findingOf(output.output, output), problem: 'missing', field: null, position: null });
  }
}

const findingOf = (
  output: EventOutput,
  { kind, id, eventPosition }: Pick<FoundOutput, 'kind' | 'id' | 'eventPosition'>,
) => ({
  output: kind,
  id,
  rule: ruleOf(output),
  eventId: eventIdOf(output),
  eventPosition,
});

async function differenceOf({ output }: ExpectedOutput, found: FoundOutput, work: Work): Promise<Finding> {
  const onLog = await readOutput(found, work);
  const field = onLog && firstDifference(output, onLog);
  return { ...findingOf(output, found), problem: 'different', field, position: found.position };
}

async function readOutput(
  { position }: Pick<FoundOutput, 'position'>,
  { codecs, history }: VerifyParts,
): Promise<EventOutput | null> {
  const place = readPosition(position);
  if (!place) return null;
  const topic = place.topic as VerifiedTopic;
  const [record] = await history.read(topic, place.partition, place.offset, 1);
  return record?.offset === place.offset ? decodeOutput(record, codecs) : null;
}

/** Resolves recorded answers of partners again and compares the messages with the log. An answer that the engine had not resolved yet may have messages. */
export async function verifyAnswers(parts: VerifyParts, begun: VerifyState, commit: Commit): Promise<VerifyState> {
  const { run, history, pace, pageRecords = PAGE_RECORDS } = parts;
  const ranges = run.others.filter(({ topic }) => topic === LOOKUPS);
  const isInRange = rangeCheck(run.offsets);
  let state = begun;
  for (let { index } = begun.at; index < ranges.length; index += 1) {
    const range = ranges[index];
    if (!range) break;
    const { partition, end, first } = range;
    const from = state.at.index === index ? (state.at.next ?? first) : first;
    let startedAt = performance.now();
    for await (const page of history.pages({ topic: LOOKUPS, partition, from, end }, pageRecords)) {
      let verified = emptyPage();
      const commitUntil = (next: number): void => {
        const counts = addPage(state.counts, verified);
        state = commit(verified, { ...state, at: { index, next }, counts });
        verified = emptyPage();
      };
      for (const record of page.records) {
        await verifyAnswer(record, isInRange, { ...parts, state }, verified);
        state = { ...state, copied: state.copied + 1 };
        if (isLarge(verified)) commitUntil(record.offset + 1);
      }
      commitUntil(page.next);
      await pace.afterPage(startedAt);
      startedAt = performance.now();
    }
  }
  return state;
}

/** Key of an event that is left out, and with it the messages made of partners' answers about it. */
const leftOutKey = (eventPosition: string): string => `left out ${eventPosition}`;
/** Key of the position of a right copy of an output that also has another copy. */
const rightKey = ({ kind, id, key }: FoundOutput): string => `right ${kind} ${id} ${key}`;
const answeredKey = (triggerId: string): string => `answered ${triggerId}`;

async function verifyAnswer(
  record: LogRecord,
  isInRange: (position: string) => boolean,
  work: Work,
  page: VerifiedPage,
): Promise<void> {
  const { book, codecs, configuration, history, ids, run, scratch } = work;
  const decoded = await decodeRecord(codecs.lookup, record.value);
  if (!decoded.ok) return;
  const { trigger } = decoded.value;
  if (trigger.workspace !== run.workspace || trigger.sentBy || !isInRange(trigger.eventPosition)) return;
  if (scratch.answer(leftOutKey(trigger.eventPosition)) !== undefined) return;
  const own = formatPosition({ ...record, logId: history.logId });
  const redrivenFrom = record.headers[REDRIVEN_FROM_HEADER];
  const position = redrivenFrom ?? own;
  // The first answer of a trigger counts. Others are superseded.
  const key = answeredKey(trigger.id);
  const holder = page.answers.find((answer) => answer.key === key)?.answer ?? scratch.answer(key);
  if (holder !== undefined && holder !== position) return;
  if (holder === undefined) page.answers.push({ key, answer: position });
  if (scratch.answer(parkedKey(own)) !== undefined) return;
  const resolved = runToCompletion(
    resolveLookupCoroutine(
      decoded.value,
      await configuration.at(trigger.configNumber),
      book,
      ids.derive,
      redrivenFrom === undefined ? null : record.time,
    ),
  );
  if (!resolved.ok) return;
  const outputs = resolved.value.intents.map((intent) => ({ kind: 'intent', intent }) as const);
  const found = scratch.outputsOf(trigger.eventPosition);
  const all = await normalized(outputs, work);
  const isResolved = record.offset < (run.resolved[record.partition] ?? 0);
  const expected = isResolved ? all : all.filter(({ id }) => found.some((output) => output.id === id));
  await compare(expected, trigger.eventPosition, trigger.causedAt, work, page);
}

/** Names the outputs that nothing gives. */
export async function nameRest(parts: VerifyParts, begun: VerifyState, commit: Commit): Promise<VerifyState> {
  let state = begun;
  for (;;) {
    const found = parts.scratch.outputs(PAGE_RECORDS);
    if (found.length === 0) return state;
    const verified = emptyPage();
    for (const output of found) await nameOutput(output, { ...parts, state }, verified);
    verified.compared.push(...found.map(({ position }) => position));
    state = commit(verified, { ...state, counts: addPage(state.counts, verified) });
  }
}

async function nameOutput(found: FoundOutput, work: Work, page: VerifiedPage): Promise<void> {
  const output = await readOutput(found, work);
  const rightPosition = work.scratch.answer(rightKey(found));
  const right = rightPosition === undefined ? null : await readOutput({ position: rightPosition }, work);
  if (output && right) {
    const field = firstDifference(right, output);
    page.findings.push({ ...findingOf(output, found), problem: 'different', field, position: found.position });
  } else if (!output || (await isEventGone(found, work)) || isAnswerGone(output, work)) page.counted.pastRetention += 1;
  else page.findings.push({ ...findingOf(output, found), problem: 'no_cause', field: null, position: found.position });
}
