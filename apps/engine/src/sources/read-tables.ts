import type { SourcePosition } from '@carillon/domain/changes';
import type { Instant } from '@carillon/kernel';
import type { TableReading } from '@carillon/ports';

/** Tables as stored, the time of their report, and the current time. */
type Known = {
  readonly tables: readonly TableReading[];
  readonly reportedAt: Instant;
  readonly now: Instant;
  /** A topic continues at its own position. The changes of a table that is not published are missing. */
  readonly areTopics: boolean;
};

/**
 * Returns tables as a reader reports them, with what it cannot know: since when a table is read that it did not publish itself,
 * and which changes were not read because the table had left the publication.
 */
export const readTables = (reported: readonly TableReading[], known: Known): readonly TableReading[] =>
  reported.map((reading) => {
    const before = known.tables.find(({ table }) => table === reading.table);
    const dated = withSince(reading, before, known);
    return before === undefined ? dated : continueTable(dated, before, known);
  });

/** A table that a person published is read since it was noticed, at the latest. */
function withSince(reading: TableReading, before: TableReading | undefined, known: Known): TableReading {
  const since = reading.since ?? before?.since ?? null;
  const isNewlyRead = !known.areTopics && reading.problem === null && since === null;
  return isNewlyRead ? { ...reading, since: known.now } : reading;
}

/** A gap begins with the last report that found the table as it was. */
function continueTable(
  reading: TableReading,
  before: TableReading,
  { reportedAt, now, areTopics }: Known,
): TableReading {
  if (areTopics) return { ...reading, since: reading.since ?? before.since };
  const gap = before.gap && { gap: before.gap };
  // An earlier gap that nobody has reset begins the span.
  const from = before.gap?.from ?? reportedAt;
  const begun = { gap: { from, to: null } };
  if (reading.problem !== null) return { ...reading, ...(before.since === null ? gap : begun) };
  const hasReentered =
    before.entry !== undefined &&
    reading.entry !== undefined &&
    reading.entry !== before.entry &&
    before.since !== null;
  const since = Math.max(reading.since ?? 0, before.since ?? 0, hasReentered ? now : 0) || null;
  const isNew = before.since !== null && since !== null && since > before.since;
  if (isNew) return { ...reading, since, gap: { from, to: since } };
  if (before.gap?.to === null && since !== null)
    return { ...reading, since, gap: { from: before.gap.from, to: since } };
  return { ...reading, since, ...gap };
}

/** Returns the tables after a reset. Each is without a gap since the new position at the earliest. */
export const readAfterReset = (
  tables: readonly TableReading[],
  from: SourcePosition,
  to: SourcePosition,
): readonly TableReading[] =>
  tables.map(({ table, since, problem }) => ({
    table,
    since: since === null || to.at === from.at ? since : to.at,
    problem,
  }));
