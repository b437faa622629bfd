import { TOPICS } from '@carillon/contracts';
import { ERASED, isErased, type LogRecord, type RecordVerdict, type TopicName } from '@carillon/ports';
import type { EmbeddedLog } from '../log/event-log.ts';
import type { OverwrittenRecord } from './erasure-writes.ts';

const PAGE_RECORDS = 500;

/** Topics that hold nothing of the people who are notified. */
const WITHOUT_PEOPLE: ReadonlySet<TopicName> = new Set(['carillon.config', 'carillon.audit']);

/** A record of the person, and what takes its place. */
export type FoundRecord = {
  readonly key: string;
  readonly record: Omit<OverwrittenRecord, 'place'> & { readonly offset: number };
};

/** `streams`: whose events are among the records. */
export type FoundPage = {
  readonly topic: TopicName;
  readonly partition: number;
  readonly records: readonly FoundRecord[];
  readonly streams: readonly string[];
};

/** Returns the headers of an erased record. Those of an event say whose it was, so that runs can count it. */
function erasedHeaders({ topic, headers }: LogRecord): string {
  const { workspace, stream } = topic === 'carillon.events' ? headers : {};
  return JSON.stringify({ kind: ERASED, ...(workspace && { workspace }), ...(stream && { stream }) });
}

/** Reads the log page by page, and yields what of each page is of the person. */
export async function* scanLog(
  log: Pick<EmbeddedLog, 'partitions' | 'bounds' | 'read'>,
  judge: (record: LogRecord) => Promise<RecordVerdict>,
  pause: () => Promise<unknown>,
  unreadFrom: (topic: TopicName, partition: number) => number = () => Number.POSITIVE_INFINITY,
): AsyncGenerator<FoundPage> {
  for (const topic of TOPICS) {
    if (WITHOUT_PEOPLE.has(topic)) continue;
    for (let partition = 0; partition < log.partitions(topic); partition += 1) {
      const bounds = await log.bounds(topic, partition);
      const end = Math.min(bounds.end, unreadFrom(topic, partition));
      for (let next = bounds.start; next < end;) {
        const page = (await log.read(topic, partition, next, PAGE_RECORDS)).filter(({ offset }) => offset < end);
        const last = page.at(-1);
        if (!last) break;
        next = last.offset + 1;
        const records: FoundRecord[] = [];
        const streams = new Set<string>();
        for (const record of page) {
          const verdict = isErased(record) ? null : await judge(record);
          if (verdict === null) continue;
          const { offset } = record;
          if (topic === 'carillon.events' && record.headers['stream']) streams.add(record.headers['stream']);
          const overwritten =
            verdict === 'erased'
              ? { headers: erasedHeaders(record), value: new Uint8Array() }
              : { headers: JSON.stringify(record.headers), value: verdict.value };
          records.push({ key: `${topic}/${partition}@${offset}`, record: { ...overwritten, offset } });
        }
        if (records.length > 0) yield { topic, partition, records, streams: [...streams] };
        await pause();
      }
    }
  }
}
