import type { Duration, Instant } from '@carillon/kernel';
import type { NewRecord } from '@carillon/ports';
import type { SourcePorts } from './source-ports.ts';

/** Changes of a batch while nobody else sends events. */
const MOST_ALONE = 300;
/**
 * Changes of a batch while others send events. Their messages wait for one batch at each of about ten steps. Batches of 50 cost the source
 * half of its speed (test/integration/product/large-transaction.proof.test.ts).
 */
const MOST_BESIDE_OTHERS = 50;
/** Others count as sending for this long after an event of theirs. */
const OTHERS_LAST: Duration = 5_000;
/** Events of a batch that are not worth a wait while nobody else sends. */
const UNPACED = 25;
/** A partition that stands still delays the reader by no more than this, per change. */
const TIMEOUT_PER_EVENT: Duration = 7;

/** Keeps a source to the pace of the engine, so that a bulk update does not stand before the events of others. */
export type Pacing = {
  /** Changes that the next batch may hold. */
  readonly mostChanges: () => number;
  /** Resolves once the events among these records are evaluated. They are the last that this source appended. */
  readonly keepTo: (records: readonly NewRecord[]) => Promise<void>;
};

export function createPacing({ log, progress, clock }: Pick<SourcePorts, 'log' | 'progress' | 'clock'>): Pacing {
  /** Ends of partitions after the last batch. What lies beyond and is not of this source, others have sent. */
  const ends = new Map<number, number>();
  let othersSentAt: Instant = -Infinity;
  const isAlone = (): boolean => clock.now() - othersSentAt >= OTHERS_LAST;

  return {
    mostChanges: () => (isAlone() ? MOST_ALONE : MOST_BESIDE_OTHERS),
    async keepTo(records) {
      const events = records.filter(({ topic }) => topic === 'carillon.events');
      if (events.length <= UNPACED && isAlone()) return ends.clear();
      const places = await Promise.all(
        [...Map.groupBy(events, ({ partition }) => partition)].map(async ([partition, own]) => {
          const { end } = await log.bounds('carillon.events', partition);
          if (end - own.length > (ends.get(partition) ?? Infinity)) othersSentAt = clock.now();
          ends.set(partition, end);
          return { partition, offset: end - 1 };
        }),
      );
      await progress.passed(places, events.length * TIMEOUT_PER_EVENT);
    },
  };
}
