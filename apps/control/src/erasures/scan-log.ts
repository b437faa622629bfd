import {
  erasedHeaders,
  type ErasureSteps,
  type ErasureWork,
  type FoundPage,
  type FoundRecord,
  type TopicName,
} from '@carillon/ports';

const PAGE_RECORDS = 500;

/** Reads the log page by page, and yields what of each page is of the person. */
export async function* scanLog(
  { log, topics, pause }: Pick<ErasureSteps, 'log' | 'topics' | 'pause'>,
  judge: ErasureWork['judge'],
  unreadFrom: (topic: TopicName, partition: number) => number = () => Number.POSITIVE_INFINITY,
): AsyncGenerator<FoundPage> {
  for (const topic of topics) {
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
          const verdict = await judge(record);
          if (verdict === null) continue;
          const { offset, headers, value: found } = record;
          if (topic === 'carillon.events' && headers['stream']) streams.add(headers['stream']);
          records.push(
            verdict === 'erased'
              ? { offset, headers: erasedHeaders(record), value: new Uint8Array(), isErased: true, found }
              : { offset, headers, value: verdict.value, isErased: false, found },
          );
        }
        if (records.length > 0) yield { topic, partition, records, streams: [...streams] };
        await pause();
      }
    }
  }
}
