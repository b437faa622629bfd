import { formatPosition, type SourceEvent } from '@carillon/domain/events';
import {
  NO_READ_COUNTS,
  type CompareRun,
  type Line,
  type ReadCounts,
  type ScratchLookup,
  type SideCounts,
} from '@carillon/domain/runs';
import { runToCompletion, type Instant } from '@carillon/kernel';
import { ERASED, type EventHistory, type HistoryPage } from '@carillon/ports';
import {
  compareEventCoroutine,
  readSourceRecord,
  streamOfRecord,
  type CompareContext,
  type QuietEvents,
} from '@carillon/stages';

/** Lines after which a page is committed in part, because each event of a page may have thousands of recipients. */
const MAX_PART_LINES = 10_000;

/** Lines, lookups and counts of some events. */
type EvaluatedEvents = {
  readonly lines: readonly Line[];
  readonly lookups: readonly ScratchLookup[];
  readonly counts: ReadCounts;
};

export const NOTHING: EvaluatedEvents = { lines: [], lookups: [], counts: NO_READ_COUNTS };

export type PageFacts = {
  readonly context: CompareContext;
  readonly streams: ReadonlySet<string>;
  readonly isQuiet: QuietEvents;
  readonly run: CompareRun;
  readonly logId: EventHistory['logId'];
};

/** A part of a page that is committed at once. `next`: the offset behind it. */
type PagePart = EvaluatedEvents & { readonly next: number };

/**
 * Evaluates the events of a page, and yields it in parts. Events on streams without a rule of the run are skipped by their headers. An
 * event whose headers name no stream counts as unreadable.
 */
export function* evaluatePage(
  { records, next, removed }: HistoryPage,
  { context, streams, isQuiet, run, logId }: PageFacts,
): Generator<PagePart> {
  let lines: Line[] = [];
  let lookups: ScratchLookup[] = [];
  // Retention removes records before the others of a page.
  let counts: ReadCounts = { ...NO_READ_COUNTS, pastRetention: removed };
  // Nobody is notified about most events. Adding up their counts one by one would cost a twentieth of a run.
  let quiet = 0;
  for (const record of records) {
    const kind = record.headers['kind'];
    if ((kind !== 'event' && kind !== ERASED) || !isInRange(record.time, run)) continue;
    const stream = streamOfRecord(record);
    if (stream !== null && !streams.has(stream)) continue;
    if (isQuiet(record)) {
      quiet += 1;
      continue;
    }
    const read = readSourceRecord(record, logId);
    if (!read.ok || read.value.kind === ERASED) {
      counts = { ...counts, unreadable: counts.unreadable + 1 };
    } else if (read.value.kind === 'event') {
      const compared = compare(read.value.event, context);
      if (compared === null) {
        quiet += 1;
        continue;
      }
      for (const line of compared.lines) lines.push(line);
      for (const lookup of compared.lookups) lookups.push(lookup);
      counts = addCounts(counts, compared.counts);
    }
    if (lines.length < MAX_PART_LINES) continue;
    yield { lines, lookups, counts: { ...counts, events: counts.events + quiet }, next: record.offset + 1 };
    [lines, lookups, counts, quiet] = [[], [], NO_READ_COUNTS, 0];
  }
  yield { lines, lookups, counts: { ...counts, events: counts.events + quiet }, next };
}

/** Partitions are cut at offsets, and the time of a record may step back by the clock of its writer. */
const isInRange = (at: Instant, { from, to }: CompareRun): boolean => at >= from && at < to;

const hasAny = ({ before, after }: SideCounts): boolean => before + after > 0;

/** Returns null for an event that neither side notifies anybody about, and that is counted nowhere else. */
function compare(event: SourceEvent, context: CompareContext): EvaluatedEvents | null {
  const { lines, lookups, needsLookup, noAddress, ruleErrors } = runToCompletion(compareEventCoroutine(event, context));
  if (lines.length === 0 && !needsLookup && !hasAny(noAddress) && !hasAny(ruleErrors)) return null;
  return {
    lines,
    lookups: lookups.map((lookup) => ({
      ...lookup,
      eventId: event.id,
      position: formatPosition(event.position),
      at: event.appendedAt,
    })),
    counts: { ...NO_READ_COUNTS, events: 1, needsLookup: needsLookup ? 1 : 0, noAddress, ruleErrors },
  };
}

export const addCounts = (a: ReadCounts, b: ReadCounts): ReadCounts => ({
  events: a.events + b.events,
  needsLookup: a.needsLookup + b.needsLookup,
  noAddress: { before: a.noAddress.before + b.noAddress.before, after: a.noAddress.after + b.noAddress.after },
  ruleErrors: { before: a.ruleErrors.before + b.ruleErrors.before, after: a.ruleErrors.after + b.ruleErrors.after },
  unreadable: a.unreadable + b.unreadable,
  pastRetention: a.pastRetention + b.pastRetention,
});
