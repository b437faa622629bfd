import type { Instant } from '@carillon/kernel';
import type { EventLog, TopicName } from '@carillon/ports';

/**
 * Returns the offset of the first record of a partition that was appended at `time` or later, or the partition's end. It reads about
 * twenty records of a million. If append times step back, because a clock was set back, a record near `time` may be on the other side.
 */
export async function offsetAt(
  log: Pick<EventLog, 'read' | 'bounds'>,
  topic: TopicName,
  partition: number,
  time: Instant,
): Promise<number> {
  const { start, end } = await log.bounds(topic, partition);
  let [low, high] = [start, end];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const [record] = await log.read(topic, partition, middle, 1);
    // Offsets of a compacted or truncated partition have gaps: the record found is the next one behind `middle`.
    if (!record || record.time >= time) high = middle;
    else low = record.offset + 1;
  }
  return Math.min(low, end);
}
