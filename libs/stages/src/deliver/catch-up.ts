import type { CheckpointStore, EventLog, TopicName } from '@carillon/ports';

/**
 * Topics that delivery must read before it sends. After a restore from a backup they hold facts the store lacks:
 * opt-outs, STOP replies, bounces and complaints. Receipts of attempts made after the backup are parked and suppress
 * nothing; `doctor` counts them.
 */
export const READ_BEFORE_SENDING = ['carillon.consents', 'carillon.receipts'] as const;

export type CatchUpPorts = {
  readonly log: Pick<EventLog, 'logId' | 'partitions' | 'bounds'>;
  readonly checkpoints: Pick<CheckpointStore, 'load'>;
};

export type CatchUp = {
  /**
   * Number of records the group still has to read of those present at creation, whichever process reads them. Stays 0
   * once reached. Rejects if log or store is unavailable.
   */
  behind(): Promise<number>;
  /** Partitions with unread records at the last call of `behind`, such as `carillon.receipts/3`. */
  places(): readonly string[];
};

type Span = { readonly topic: TopicName; readonly partition: number; readonly start: number; readonly end: number };

/**
 * Tracks how far a group has read the current records of these topics. Later records do not count, so the wait ends.
 * All processes of the group share the checkpoints, so a restarted process waits only for the remaining records.
 */
export async function createCatchUp(
  group: string,
  topics: readonly TopicName[],
  { log, checkpoints }: CatchUpPorts,
): Promise<CatchUp> {
  const places = topics.flatMap((topic) =>
    Array.from({ length: log.partitions(topic) }, (_, partition) => ({ topic, partition })),
  );
  let open: readonly Span[] = await Promise.all(
    places.map(async ({ topic, partition }) => ({ topic, partition, ...(await log.bounds(topic, partition)) })),
  );

  async function leftIn({ topic, partition, start, end }: Span): Promise<number> {
    const stored = await checkpoints.load(group, topic, partition);
    // A position with another log id cannot be compared. The consumer is stopped there until a person acts.
    const next = stored?.logId === log.logId ? stored.next : 0;
    // Nor can a position beyond the end: the topic was created again or truncated.
    const isBeyond = next > end && next > (await log.bounds(topic, partition)).end;
    if (isBeyond) return Math.max(1, end - start);
    return Math.max(0, end - Math.max(next, start));
  }

  return {
    async behind() {
      const left = await Promise.all(open.map(leftIn));
      open = open.filter((_, at) => (left[at] ?? 0) > 0);
      return left.reduce((sum, one) => sum + one, 0);
    },
    places: () => open.map(({ topic, partition }) => `${topic}/${partition}`),
  };
}
