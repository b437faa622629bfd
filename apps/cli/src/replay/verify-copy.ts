import { formatPosition, readPosition } from '@carillon/domain/events';
import type { RunOffsets } from '@carillon/domain/runs';
import type { LogRecord } from '@carillon/ports';
import {
  decodeRecord,
  entryOf,
  isNotFromEvent,
  workspaceOf,
  type EventOutput,
  type FoundOutput,
} from '@carillon/stages';
import type { VerifyParts, VerifyState } from './verify-parts.ts';
import { withRemoved } from './verify-removed.ts';

const PAGE_RECORDS = 500;

export type Commit = (
  page: Omit<Parameters<VerifyParts['scratch']['commit']>[0], 'checkpoint'>,
  next: VerifyState,
) => VerifyState;

type Copied = {
  readonly outputs: FoundOutput[];
  readonly answers: { readonly key: string; readonly answer: string }[];
  notFromEvents: number;
};

/** Key of a record that the engine parked as a dead letter. It has no outputs. */
export const parkedKey = (position: string): string => `parked ${position}`;

/** Copies the outputs of the range to the scratch file, without their content, and the positions of dead letters. */
export async function copyOutputs(parts: VerifyParts, begun: VerifyState, commit: Commit): Promise<VerifyState> {
  const { run, history, pace, pageRecords = PAGE_RECORDS } = parts;
  const isInRange = rangeCheck(run.offsets);
  let state = begun;
  for (let { index } = begun.at; index < run.others.length; index += 1) {
    const range = run.others[index];
    if (!range) break;
    if (state.at.index !== index) state = { ...state, at: { index, next: null } };
    state = { ...state, removedUntil: await withRemoved(range, state, parts) };
    // Recorded answers are read later, when the outputs of events are compared.
    const isCopied = range.topic !== 'carillon.lookups';
    const { topic, partition, end } = range;
    const from = state.at.next ?? range.first;
    let startedAt = performance.now();
    for await (const page of isCopied ? history.pages({ topic, partition, from, end }, pageRecords) : []) {
      const copied: Copied = { outputs: [], answers: [], notFromEvents: 0 };
      for (const record of page.records) await copy(record, { ...parts, isInRange }, copied);
      const counts = { ...state.counts, notFromEvents: state.counts.notFromEvents + copied.notFromEvents };
      const at = { index, next: page.next };
      state = commit(copied, { ...state, at, copied: state.copied + page.records.length, counts });
      await pace.afterPage(startedAt);
      startedAt = performance.now();
    }
  }
  return state;
}

async function copy(
  record: LogRecord,
  { codecs, history, ids, isInRange, run }: VerifyParts & { readonly isInRange: (position: string) => boolean },
  copied: Copied,
): Promise<void> {
  if (record.topic === 'carillon.dead-letters') {
    const letter = await decodeRecord(codecs.deadLetter, record.value);
    if (!letter.ok || (letter.value.stage !== 'evaluate' && letter.value.stage !== 'resolve')) return;
    const position = formatPosition({ ...letter.value, logId: history.logId });
    copied.answers.push({ key: parkedKey(position), answer: letter.value.stage });
    return;
  }
  const output = await decodeOutput(record, codecs);
  if (!output || workspaceOf(output) !== run.workspace) return;
  if (isNotFromEvent(output)) {
    if (record.time >= run.from && record.time < run.to) copied.notFromEvents += 1;
    return;
  }
  const entry = entryOf(output, ids);
  if (isInRange(entry.eventPosition)) {
    copied.outputs.push({ ...entry, position: formatPosition({ ...record, logId: history.logId }) });
  }
}

/** Returns the output of a record, or null for a record that cannot be read. */
export async function decodeOutput(record: LogRecord, codecs: VerifyParts['codecs']): Promise<EventOutput | null> {
  if (record.topic === 'carillon.intents') {
    const intent = await decodeRecord(codecs.intent, record.value);
    return intent.ok ? { kind: 'intent', intent: intent.value } : null;
  }
  const trigger = await decodeRecord(codecs.trigger, record.value);
  return trigger.ok ? { kind: 'trigger', trigger: trigger.value } : null;
}

/** Returns a function that is true for positions of events that the run evaluates. */
export function rangeCheck(offsets: readonly RunOffsets[]): (position: string) => boolean {
  const ranges = new Map(offsets.map((range) => [range.partition, range]));
  return (text) => {
    const position = readPosition(text);
    const range = position?.topic === 'carillon.events' ? ranges.get(position.partition) : undefined;
    return (
      position !== undefined && range !== undefined && position.offset >= range.first && position.offset < range.end
    );
  };
}
