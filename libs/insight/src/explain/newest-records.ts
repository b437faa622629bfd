import type { Instant } from '@carillon/kernel';
import type { EventLog, RecordCodec, TopicName } from '@carillon/ports';
import { decodeRecords } from '@carillon/stages';

/** Newest records read per partition: evaluation batches and partner answers. */
const MAX_RECORDS = 1000;
const BATCH_SIZE = 250;

/** Reads the records of a topic since a time. Unreadable records are skipped, because they are dead letters. */
export async function newestRecords<T>(
  topic: TopicName,
  codec: RecordCodec<T>,
  since: Instant,
  log: Pick<EventLog, 'partitions' | 'bounds' | 'read'>,
): Promise<{ readonly found: readonly T[]; readonly complete: boolean }> {
  const found: T[] = [];
  let complete = true;
  for (let partition = 0; partition < log.partitions(topic); partition += 1) {
    const { start, end } = await log.bounds(topic, partition);
    const first = Math.max(start, end - MAX_RECORDS);
    let isOlder = first === start;
    for (let to = end; to > first; to -= BATCH_SIZE) {
      const from = Math.max(first, to - BATCH_SIZE);
      const records = (await log.read(topic, partition, from, to - from)).filter(({ offset }) => offset < to);
      const recent = records.filter(({ time }) => time >= since);
      for (const { decoded } of await decodeRecords(codec, recent)) if (decoded.ok) found.push(decoded.value);
      if (recent.length === records.length) continue;
      isOlder = true;
      break;
    }
    if (!isOlder) complete = false;
  }
  return { found, complete };
}
