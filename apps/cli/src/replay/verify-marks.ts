import type { LogRecord } from '@carillon/ports';
import { readSourceRecord } from '@carillon/stages';
import type { Mark, VerifyParts } from './verify-parts.ts';

const EVENTS = 'carillon.events';
const PAGE_RECORDS = 500;

/**
 * Returns the newest marker before an offset, or null if the log has none. Two publications may write their markers in
 * reverse order, so the page before the found marker is searched too.
 */
export async function markBefore(
  partition: number,
  offset: number,
  { history, pace }: VerifyParts,
): Promise<Mark | null> {
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

export function newerMark(mark: Mark | null, record: LogRecord, logId: VerifyParts['history']['logId']): Mark | null {
  if (record.headers['kind'] !== 'marker') return mark;
  const source = readSourceRecord(record, logId);
  if (!source.ok || source.value.kind !== 'marker') return mark;
  return { number: Math.max(mark?.number ?? -1, source.value.configNumber), semantics: source.value.semantics };
}
