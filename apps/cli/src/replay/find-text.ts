import { createHash } from 'node:crypto';
import type { ScratchFile } from '@carillon/adapter-embedded';
import type { RunResult } from '@carillon/control';
import { formatPosition } from '@carillon/domain/events';
import { MAX_FOUND_EVENTS, type FindCounts, type FindRun, type FoundEvent } from '@carillon/domain/runs';
import type { EventId } from '@carillon/kernel';
import type { EventHistory, LogRecord } from '@carillon/ports';
import { createTextFinder, type TextFinder } from '@carillon/stages';
import type { Pace } from './pace.ts';
import type { ChildReports } from './protocol.ts';

const TOPIC = 'carillon.events';
/** Records of one page. */
const PAGE_RECORDS = 2_000;
const REPORT_EVERY_MS = 1_000;

export type FindParts = {
  readonly run: FindRun;
  readonly texts: readonly string[];
  readonly history: EventHistory;
  readonly scratch: Pick<ScratchFile, 'checkpoint' | 'commit'>;
  readonly pace: Pace;
  /** Records of a page. Defaults to 2,000. */
  readonly pageRecords?: number | undefined;
  /** Time between two checkpoints. Defaults to a second. */
  readonly reportEveryMs?: number;
};

/** State of a run in its scratch file. It holds ids and positions, and no text. */
type Checkpoint = {
  /** The offset to read next in each range of the run. */
  readonly next: readonly number[];
  readonly read: number;
  readonly counts: FindCounts;
  readonly events: readonly FoundEvent[];
};

/**
 * Searches the events of a run for texts and returns the newest events that hold one. The values are searched as they are on the log, unparsed.
 * Continues from the checkpoint of the scratch file, which is written once per second.
 */
export async function findText(parts: FindParts, reports: ChildReports<'find'>): Promise<RunResult<'find'>> {
  const { run, texts, history, scratch, pace, pageRecords = PAGE_RECORDS, reportEveryMs = REPORT_EVERY_MS } = parts;
  const finder = createTextFinder(texts);
  let state = readCheckpoint(parts);
  let reportedAt = performance.now();
  const report = (): void => {
    reportedAt = performance.now();
    scratch.commit({ checkpoint: JSON.stringify(state) });
    reports.progress({ read: state.read, total: run.progress.total }, state.counts, 0);
  };
  report();
  for (const [index, { partition, end }] of run.offsets.entries()) {
    const from = state.next[index] ?? end;
    let startedAt = performance.now();
    for await (const page of history.pages({ topic: TOPIC, partition, from, end }, pageRecords)) {
      state = searchPage(state, page.records, run, finder);
      const read = state.read + page.next - (state.next[index] ?? end);
      state = { ...state, read, next: state.next.with(index, page.next) };
      if (performance.now() - reportedAt >= reportEveryMs) report();
      await pace.afterPage(startedAt);
      startedAt = performance.now();
    }
  }
  report();
  const events = newestOf(state.events);
  const checksum = createHash('sha256');
  for (const { eventId, at } of events) checksum.update(`${eventId} ${at}\n`);
  return { checksum: checksum.digest('hex'), counts: state.counts, events };
}

const readCheckpoint = ({ run, scratch }: FindParts): Checkpoint =>
  scratch.checkpoint === null
    ? { next: run.offsets.map(({ first }) => first), read: 0, counts: { events: 0, found: 0 }, events: [] }
    : (JSON.parse(scratch.checkpoint) as Checkpoint);

function searchPage(
  state: Checkpoint,
  records: readonly LogRecord[],
  { from, logId, to, workspace }: FindRun,
  finder: TextFinder,
): Checkpoint {
  const found: FoundEvent[] = [];
  let events = 0;
  for (const { headers, offset, partition, time, topic, value } of records) {
    if (headers['kind'] !== 'event' || headers['workspace'] !== workspace || time < from || time >= to) continue;
    events += 1;
    // The bytes are searched as a string, because decoding would cost more than the search.
    if (!finder(Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('latin1'))) continue;
    const position = formatPosition({ logId, topic, partition, offset });
    found.push({ eventId: (headers['event_id'] ?? '') as EventId, position, at: time });
  }
  const counts = { events: state.counts.events + events, found: state.counts.found + found.length };
  if (found.length === 0) return { ...state, counts };
  const all = [...state.events, ...found];
  return { ...state, counts, events: all.length > 2 * MAX_FOUND_EVENTS ? newestOf(all) : all };
}

const newestOf = (events: readonly FoundEvent[]): readonly FoundEvent[] =>
  events.toSorted((a, b) => b.at - a.at || (a.position < b.position ? 1 : -1)).slice(0, MAX_FOUND_EVENTS);
