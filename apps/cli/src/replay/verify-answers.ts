import { formatPosition, readPosition } from '@carillon/domain/events';
import { runToCompletion } from '@carillon/kernel';
import type { LogRecord } from '@carillon/ports';
import {
  decodeRecord,
  factsOf,
  firstDifference,
  REDRIVEN_FROM_HEADER,
  resolveLookupCoroutine,
  type EventOutput,
  type FoundOutput,
} from '@carillon/stages';
import { gapOf } from './gaps.ts';
import {
  addPage,
  compare,
  emptyPage,
  findingOf,
  isLarge,
  leftOutKey,
  normalized,
  readOutput,
  rightKey,
  type VerifiedPage,
  type Work,
} from './verify-compare.ts';
import { parkedKey, rangeCheck, type Commit } from './verify-copy.ts';
import type { VerifyParts, VerifyState } from './verify-parts.ts';
import { isAnswerGone, isEventGone } from './verify-removed.ts';
import { statefulRulesOf, type StatefulRules } from './verify-rules.ts';
import { coldKey, copyWaits, waitKey } from './verify-states.ts';

const LOOKUPS = 'carillon.lookups';
const PAGE_RECORDS = 500;

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
  const rules = await statefulRulesOf(parts);
  let state = rules ? copyWaits(parts, begun, commit) : begun;
  for (;;) {
    const found = parts.scratch.outputs(PAGE_RECORDS);
    if (found.length === 0) return state;
    const verified = emptyPage();
    for (const output of found) await nameOutput(output, { ...parts, state, rules }, verified);
    verified.compared.push(...found.map(({ position }) => position));
    state = commit(verified, { ...state, counts: addPage(state.counts, verified) });
  }
}

type Naming = Work & { readonly rules: StatefulRules | null };

async function nameOutput(found: FoundOutput, work: Naming, page: VerifiedPage): Promise<void> {
  const output = await readOutput(found, work);
  const rightPosition = work.scratch.answer(rightKey(found));
  const right = rightPosition === undefined ? null : await readOutput({ position: rightPosition }, work);
  if (output && right) {
    const field = firstDifference(right, output);
    page.findings.push({ ...findingOf(output, found), problem: 'different', field, position: found.position });
  } else if (!output || (await isEventGone(found, work)) || isAnswerGone(output, work)) page.counted.pastRetention += 1;
  else if (await isCold(output, found, work)) page.counted.cold += 1;
  else if (!isOfOpenWait(output, found, work))
    page.findings.push({ ...findingOf(output, found), problem: 'no_cause', field: null, position: found.position });
}

/** Returns true if a rule with state gave the output, and events that the run has not read may have changed it. */
async function isCold(output: EventOutput, { eventPosition }: FoundOutput, work: Naming): Promise<boolean> {
  const { configNumber, deadline, ruleId } = factsOf(output);
  if (!(await work.rules?.isStateful(configNumber, ruleId))) return false;
  if (work.scratch.answer(coldKey(eventPosition)) !== undefined) return true;
  const position = deadline === undefined ? undefined : readPosition(eventPosition);
  if (!position) return false;
  // The wait may have lasted over a gap.
  const [event] = await work.history.read('carillon.events', position.partition, position.offset, 1);
  const gap = gapOf(work.state.gaps, position.partition, event?.headers['stream'] ?? '');
  return gap !== null && gap.offset > position.offset;
}

const isOfOpenWait = (output: EventOutput, { eventPosition }: FoundOutput, { scratch }: Naming): boolean =>
  scratch.answer(waitKey(factsOf(output).ruleId, eventPosition)) !== undefined;
