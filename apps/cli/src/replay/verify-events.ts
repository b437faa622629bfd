import type { Configuration } from '@carillon/domain/configuration';
import { formatPosition } from '@carillon/domain/events';
import { ERASED, type LogRecord } from '@carillon/ports';
import { ENGINE_SEMANTICS, evaluateEvent, readSourceRecord, streamOfRecord } from '@carillon/stages';
import {
  addPage,
  compare,
  emptyPage,
  isLarge,
  leftOutKey,
  normalized,
  outputsOf,
  type VerifiedPage,
  type Work,
} from './verify-compare.ts';
import { parkedKey, type Commit } from './verify-copy.ts';
import { markBefore, newerMark } from './verify-marks.ts';
import type { Mark, VerifyParts, VerifyState } from './verify-parts.ts';
import { statefulRulesOf, type StatefulRules } from './verify-rules.ts';
import { verifyStates } from './verify-states.ts';

const EVENTS = 'carillon.events';
const PAGE_RECORDS = 500;

/** Evaluates the events of the run again and compares the results with the log. */
export async function verifyEvents(parts: VerifyParts, begun: VerifyState, commit: Commit): Promise<VerifyState> {
  const { run, history, pace, pageRecords = PAGE_RECORDS } = parts;
  const rules = await statefulRulesOf(parts);
  let state = begun;
  for (let { index } = begun.at; index < run.offsets.length; index += 1) {
    const range = run.offsets[index];
    if (!range) break;
    const { partition, end, first } = range;
    if (state.at.index !== index || state.at.next === null) {
      state = { ...state, at: { index, next: first }, mark: await markBefore(partition, first, parts), pass: null };
    }
    const states = rules && verifyStates(range, rules, parts);
    if (states) state = await states.warmUp(state, commit);
    const from = state.at.next ?? first;
    let { mark } = state;
    let startedAt = performance.now();
    for await (const page of history.pages({ topic: EVENTS, partition, from, end }, pageRecords)) {
      if (states) state = await states.take(page.records, { ...state, mark }, commit);
      let verified = emptyPage();
      verified.counted.pastRetention += page.removed;
      const commitUntil = (next: number): void => {
        const read = state.read + next - (state.at.next ?? first);
        const counts = addPage(state.counts, verified);
        state = commit(verified, { ...state, at: { index, next }, mark, read, counts });
        verified = emptyPage();
      };
      for (const record of page.records) {
        mark = await verifyRecord(record, mark, { ...parts, state, rules }, verified);
        if (isLarge(verified)) commitUntil(record.offset + 1);
      }
      commitUntil(page.next);
      await pace.afterPage(startedAt);
      startedAt = performance.now();
    }
  }
  return state;
}

/** Verifies the event of a record, and returns the marker that counts for the next one. */
async function verifyRecord(
  record: LogRecord,
  mark: Mark | null,
  work: Work & { readonly rules: StatefulRules | null },
  page: VerifiedPage,
): Promise<Mark | null> {
  const { configuration, history, rules, run, scratch } = work;
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
  const isOrdered = stream !== null && rules?.keepsState(current, stream) === true;
  if (stream !== null && !isOrdered && !hasRules(current, stream, work)) {
    counted.events += 1;
    return mark;
  }
  const source = readSourceRecord(record, history.logId);
  if (!source.ok) return leaveOut('unreadable');
  if (source.value.kind !== 'event') return mark;
  counted.events += 1;
  // Events of streams with state are verified in their order, see `verifyStates`.
  if (isOrdered) return mark;
  // All rules are evaluated, also those of other workspaces, because the rules of an event share its steps.
  const outputs = outputsOf(evaluateEvent(source.value.event, current, work.book, work.ids.derive));
  const expected = await normalized(outputs, work);
  await compare(expected, position, record.time, work, page);
  return mark;
}

/** Returns true if a stream feeds an enabled rule of the workspace. */
const hasRules = (configuration: Configuration, stream: string, { book, run }: VerifyParts): boolean =>
  book.rulesOf(configuration, stream).some(({ placed }) => placed.enabled && placed.workspace === run.workspace);
