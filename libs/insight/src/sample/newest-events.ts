import type { SourceEvent } from '@carillon/domain/events';
import type { EventLog, EventRow, LogRecord, ReadModels } from '@carillon/ports';
import { readSourceRecord } from '@carillon/stages';

export type NewestEventsPorts = {
  readonly log: Pick<EventLog, 'logId' | 'read'>;
  readonly readModels: Pick<ReadModels, 'events'>;
};

/** Events that are read together. */
const BATCH_SIZE = 50;
/** Maximum records between two wanted records that are read as well, so that neighbours need only one read. */
const WIDEST_GAP = 16;

/** A listed event with its content. Null if the event left the log or cannot be read. */
export type FoundEvent = { readonly row: EventRow; readonly event: SourceEvent | null };

/** Yields the newest events of these streams together, newest first. */
export async function* newestEvents(
  streams: readonly string[],
  most: number,
  { log, readModels }: NewestEventsPorts,
): AsyncGenerator<FoundEvent> {
  const pages = await Promise.all(streams.map((stream) => readModels.events({ stream }, most)));
  const rows = pages
    .flatMap(({ items }) => items)
    .toSorted((a, b) => b.at - a.at)
    .slice(0, most);
  for (let from = 0; from < rows.length; from += BATCH_SIZE) {
    const some = rows.slice(from, from + BATCH_SIZE);
    const records = await recordsOf(some, log);
    for (const row of some) {
      const record = records.get(`${row.partition}@${row.offset}`);
      const read = record && readSourceRecord(record, log.logId);
      yield { row, event: read?.ok && read.value.kind === 'event' ? read.value.event : null };
    }
  }
}

/** Records of these rows, by partition and offset. */
export async function recordsOf(
  rows: readonly EventRow[],
  log: Pick<EventLog, 'read'>,
): Promise<ReadonlyMap<string, LogRecord>> {
  const wanted = new Set(rows.map(({ partition, offset }) => `${partition}@${offset}`));
  const records = new Map<string, LogRecord>();
  await Promise.all(
    runsOf(rows).map(async ({ partition, from, to }) => {
      for (let next = from; next <= to;) {
        const read = await log.read('carillon.events', partition, next, to - next + 1);
        for (const record of read) {
          const place = `${partition}@${record.offset}`;
          if (wanted.has(place)) records.set(place, record);
        }
        const last = read.at(-1);
        if (!last) return;
        next = last.offset + 1;
      }
    }),
  );
  return records;
}

type Run = { readonly partition: number; readonly from: number; readonly to: number };

function runsOf(rows: readonly EventRow[]): readonly Run[] {
  const runs: Run[] = [];
  for (const { partition, offset } of rows.toSorted((a, b) => a.partition - b.partition || a.offset - b.offset)) {
    const last = runs.at(-1);
    if (last?.partition === partition && offset - last.to <= WIDEST_GAP) {
      runs[runs.length - 1] = { ...last, to: offset };
    } else runs.push({ partition, from: offset, to: offset });
  }
  return runs;
}
