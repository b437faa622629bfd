import type { RunBase, RunOffsets } from '@carillon/domain/runs';
import { CarillonError, formatInstant, type Instant } from '@carillon/kernel';
import type { EventLog } from '@carillon/ports';
import { offsetAt } from '@carillon/stages';

const TOPIC = 'carillon.events';

export type Range = {
  readonly offsets: readonly RunOffsets[];
  readonly records: number;
  readonly logStartsAt: Instant | null;
};

/**
 * Returns the offsets of a time range in each partition. Rejects with CarillonError `window_empty` if the log holds nothing of
 * the range.
 */
export async function rangeOf(
  log: Pick<EventLog, 'partitions' | 'read' | 'bounds'>,
  { from, to }: Pick<RunBase, 'from' | 'to'>,
): Promise<Range> {
  const partitions = Array.from({ length: log.partitions(TOPIC) }, (_, partition) => partition);
  // A cluster answers each of about a hundred requests after a round trip.
  const found = await Promise.all(
    partitions.map(async (partition) => {
      const { start } = await log.bounds(TOPIC, partition);
      const [oldest] = await log.read(TOPIC, partition, start, 1);
      const first = await offsetAt(log, TOPIC, partition, from);
      const end = await offsetAt(log, TOPIC, partition, to);
      return { starts: oldest ? [oldest.time] : [], offsets: end > first ? [{ partition, first, end }] : [] };
    }),
  );
  const offsets: readonly RunOffsets[] = found.flatMap((partition) => partition.offsets);
  const starts: readonly Instant[] = found.flatMap((partition) => partition.starts);
  const records = offsets.reduce((sum, { first, end }) => sum + end - first, 0);
  const startsAt = starts.length > 0 ? Math.min(...starts) : null;
  if (records === 0) {
    const since =
      startsAt === null ? 'the log has no events yet' : `the log has events since ${formatInstant(startsAt)}`;
    throw new CarillonError('window_empty', `no events from ${formatInstant(from)} to ${formatInstant(to)}; ${since}`);
  }
  return { offsets, records, logStartsAt: startsAt !== null && startsAt > from ? startsAt : null };
}
